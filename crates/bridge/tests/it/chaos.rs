//! The bridge, its CLI and its sockets are killed at random while clients go on: nothing is lost, nothing runs twice.
//!
//! The CLI writes the name of each prompt to a file of its own before it runs it. That file judges, not the log.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pilothouse::Options;
use pilothouse::sessions::Store;
use pilothouse_bridge::api::{Decision, Event, InputStateChange, Logged, Seq};
use pilothouse_bridge::auth::Secret;
use pilothouse_bridge::log::{EventStore as _, SqliteStore, StoredEvent};
use pilothouse_bridge::server::{Bridge, Setup};
use pilothouse_testkit::{MARKER_VARIABLE, Sandbox, binary, processes_marked};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::harness::within;
use crate::wire::{Got, Socket};

const ROOT: &str = "BRIDGE_TEST_CHAOS_ROOT";
/// How often each part is to be killed.
const KILLS: &str = "BRIDGE_TEST_CHAOS_KILLS";
/// Within how many seconds; as long as it takes if nobody says.
const WITHIN: &str = "BRIDGE_TEST_CHAOS_SECONDS";
/// What the CLI does; a ledger of what it ran, if nobody says.
const FAULT: &str = "BRIDGE_TEST_CHAOS_FAULT";
/// The program to run in place of the CLI itself.
const WRAPPER: &str = "BRIDGE_TEST_CHAOS_WRAPPER";
/// What clients prove who they are with.
pub(crate) const TOKEN: &str = "a-token-that-the-operator-has-passed-in";
const PATIENCE: Duration = Duration::from_secs(1);

/// Not a test of its own: the bridge that `nothing_is_lost_and_nothing_runs_twice` kills.
#[test]
fn bridge_process() {
    let Some(root) = std::env::var_os(ROOT) else { return };
    let root = std::path::PathBuf::from(root);
    let faulty = std::env::var_os(WRAPPER).map_or_else(|| binary("faulty").unwrap(), Into::into);
    let fault = std::env::var(FAULT).unwrap_or_else(|_| "ledger".to_owned());
    let ledger = root.join("ledger");
    let marker = std::env::var(MARKER_VARIABLE).unwrap();
    let options = move || {
        let options = Options::new().executable(&faulty).env("FAULTY", fault.as_str());
        options.env("FAULTY_LEDGER", ledger.to_string_lossy()).env(MARKER_VARIABLE, marker.as_str())
    };
    let mut setup =
        Setup::new(root.join("state"), [root.join("home/project")], Store::at(root.join("none")), options);
    setup.token = Some(Secret::presented(TOKEN));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let bridge = Bridge::open(setup).await.unwrap();
        println!("port {}", bridge.address().port());
        bridge.run(CancellationToken::new()).await;
    });
}

/// What everybody in the test knows.
pub(crate) struct World {
    pub(crate) sandbox: Sandbox,
    pub(crate) port: AtomicU16,
    over: AtomicBool,
    /// Raised to have clients drop their sockets.
    cut: AtomicUsize,
    acknowledged: AtomicUsize,
    session: Mutex<Option<String>>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            sandbox: Sandbox::new().unwrap(),
            port: AtomicU16::new(0),
            over: AtomicBool::new(false),
            cut: AtomicUsize::new(0),
            acknowledged: AtomicUsize::new(0),
            session: Mutex::new(None),
        }
    }

    pub(crate) fn root(&self) -> std::path::PathBuf {
        self.sandbox.marker().into()
    }

    pub(crate) fn start_bridge(&self) -> Child {
        self.start_bridge_with(&[])
    }

    /// A bridge whose CLI is not the usual one.
    pub(crate) fn start_bridge_over(&self, wrapper: &std::path::Path, fault: &str) -> Child {
        self.start_bridge_with(&[(WRAPPER, wrapper.as_os_str()), (FAULT, fault.as_ref())])
    }

    fn start_bridge_with(&self, variables: &[(&str, &std::ffi::OsStr)]) -> Child {
        #[expect(clippy::disallowed_methods, reason = "a process of this test that is killed right here")]
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["chaos::bridge_process", "--exact", "--nocapture", "--test-threads=1"])
            .env(ROOT, self.root())
            .env(MARKER_VARIABLE, self.sandbox.marker())
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let found = lines.map_while(Result::ok).find_map(|line| line.rsplit_once("port ")?.1.parse().ok());
        self.port.store(found.expect("the bridge starts"), Ordering::SeqCst);
        child
    }

    fn session(&self) -> Option<String> {
        self.session.lock().unwrap().clone()
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }
}

/// A client that comes back whenever it is cut off.
struct Follower {
    world: Arc<World>,
    socket: Option<Socket<TcpStream>>,
    cut: usize,
    /// The events that it was sent, by position.
    log: BTreeMap<u64, Value>,
}

impl Follower {
    fn new(world: &Arc<World>) -> Self {
        Self { world: Arc::clone(world), socket: None, cut: 0, log: BTreeMap::new() }
    }

    async fn connect(&mut self) -> Option<()> {
        let port = self.world.port.load(Ordering::SeqCst);
        let stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
        let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
        let request = Socket::<TcpStream>::handshake(&format!("localhost:{port}"), "/ws", &bearer);
        self.socket = Some(Socket::open(stream, &request).await.ok()?);
        self.cut = self.world.cut.load(Ordering::SeqCst);
        self.say(json!({"type": "hello", "protocol": 1})).await?;
        if let Some(session) = self.world.session() {
            let since = self.log.keys().next_back().copied().unwrap_or_default();
            self.say(json!({"type": "subscribe", "sessionId": session, "since": since})).await?;
        }
        Some(())
    }

    async fn say(&mut self, message: Value) -> Option<()> {
        let socket = self.socket.as_mut()?;
        if socket.frame(0x81, message.to_string().as_bytes()).await.is_err() {
            self.socket = None;
        }
        self.socket.as_ref().map(drop)
    }

    /// The next message; none when cut off or when nothing comes for a while.
    async fn next(&mut self) -> Option<Value> {
        if self.socket.is_none() || self.cut != self.world.cut.load(Ordering::SeqCst) {
            self.socket = None;
            tokio::time::sleep(Duration::from_millis(20)).await;
            self.connect().await?;
        }
        let socket = self.socket.as_mut()?;
        let got = tokio::time::timeout(Duration::from_millis(300), socket.next()).await;
        let message = match got {
            Err(_) | Ok(Got::Ping | Got::Pong(_)) => return None,
            Ok(Got::Message(message)) => message,
            Ok(Got::Close(_) | Got::End) => {
                self.socket = None;
                return None;
            }
        };
        if let (Some(seq), Some(_)) = (message["seq"].as_u64(), message["at"].as_i64()) {
            let newest = self.log.keys().next_back().copied().unwrap_or_default();
            assert_eq!(seq, newest + 1, "in order, without a gap, nothing twice: {message}");
            self.log.insert(seq, message.clone());
        }
        assert_ne!(message["continuity"], "gap", "{message}");
        let asked = match message["type"].as_str() {
            Some("permission_request") => vec![message["id"].clone()],
            Some("subscribed") => message["session"]["approvals"]
                .as_array()
                .unwrap()
                .iter()
                .map(|open| open["id"].clone())
                .collect(),
            _ => Vec::new(),
        };
        for id in asked {
            self.say(json!({"type": "approve", "id": id, "sessionId": message["sessionId"]})).await;
        }
        Some(message)
    }
}

/// Sends one message after the other, each again and again until it is acknowledged. Gives the positions.
async fn send(world: Arc<World>, sender: &str) -> (Follower, HashMap<String, u64>) {
    let mut follower = Follower::new(&world);
    let project = world.sandbox.project().canonicalize().unwrap();
    let mut acknowledged = HashMap::new();
    while !world.is_over() {
        if follower.socket.is_none() && follower.connect().await.is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        }
        let Some(session) = world.session() else {
            follower.say(json!({"type": "start", "projectPath": project, "clientMessageId": "start"})).await;
            let deadline = Instant::now() + PATIENCE;
            while Instant::now() < deadline && world.session().is_none() {
                if let Some(message) = follower.next().await
                    && message["subtype"] == "session_created"
                {
                    *world.session.lock().unwrap() = message["sessionId"].as_str().map(str::to_owned);
                }
            }
            // Whoever started it, this one follows it from its beginning, on a connection that has not joined it yet.
            follower.socket = None;
            continue;
        };
        let name = format!("{sender}{}", acknowledged.len());
        let input = json!({"type": "input", "text": name, "sessionId": session, "clientMessageId": name});
        follower.say(input).await;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let Some(message) = follower.next().await else {
                if follower.socket.is_none() {
                    break;
                }
                continue;
            };
            if message["type"] == "ack" && message["clientMessageId"] == name.as_str() {
                acknowledged.insert(name.clone(), message["seq"].as_u64().unwrap());
                world.acknowledged.fetch_add(1, Ordering::SeqCst);
                break;
            }
            if message["errorCode"] == "not_running" {
                let resume = json!({"type": "resume_session", "sessionId": session, "projectPath": project});
                follower.say(resume).await;
                break;
            }
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    (follower, acknowledged)
}

async fn watch(world: Arc<World>) -> Follower {
    let mut follower = Follower::new(&world);
    while !world.is_over() {
        if world.session().is_some() {
            follower.next().await;
        } else {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    follower
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    // It may have died by itself in the meantime.
    let (Ok(()) | Err(_)) = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}

/// How often each part is killed: a few times where all tests run, and as often as asked where only this one does.
fn asked(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|number| number.parse().ok())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_and_nothing_runs_twice() {
    let world = Arc::new(World::new());
    let mut bridge = world.start_bridge();
    let senders = ["a", "b"].map(|name| tokio::spawn(send(Arc::clone(&world), name)));
    let watcher = tokio::spawn(watch(Arc::clone(&world)));
    let start = Instant::now();
    let mut random = 42_u64;
    let mut kills = [0; 3];
    let wanted = asked(KILLS).map_or(5, |wanted| usize::try_from(wanted).unwrap());
    while kills.iter().any(|kills| *kills < wanted) || world.acknowledged.load(Ordering::SeqCst) < wanted {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        tokio::time::sleep(Duration::from_millis(50 + (random >> 33) % 250)).await;
        match (random >> 50) % 4 {
            0 => {
                bridge = restarted(&world, bridge).await;
                kills[0] += 1;
            }
            // More often than the others, as there is not always one to kill.
            1 | 2 => {
                let clis = processes_marked(&world.sandbox.marker());
                for cli in clis.iter().filter(|process| process.command.contains("faulty")) {
                    kill(cli.pid);
                    kills[1] += 1;
                }
            }
            _ => {
                world.cut.fetch_add(1, Ordering::SeqCst);
                kills[2] += 1;
            }
        }
    }
    let lasted = start.elapsed();
    world.over.store(true, Ordering::SeqCst);
    let mut acknowledged = HashMap::new();
    let mut followers = vec![watcher.await.unwrap()];
    for sender in senders {
        let (follower, positions) = sender.await.unwrap();
        followers.push(follower);
        acknowledged.extend(positions);
    }
    // A bridge that starts ends what the last one left open, so that from now on the log stays as it is.
    bridge = restarted(&world, bridge).await;
    let newest = stored(&world).len();
    for follower in &mut followers {
        within(async {
            while follower.log.len() < newest {
                follower.next().await;
            }
        })
        .await;
    }
    bridge.kill().unwrap();
    bridge.wait().unwrap();
    println!(
        "killed {} bridges, {} CLIs and {} sockets in {} s; {} messages were acknowledged",
        kills[0],
        kills[1],
        kills[2],
        lasted.as_secs(),
        acknowledged.len()
    );
    let unknown = judge(&world, &acknowledged, &followers);
    println!("of {unknown} nobody knows whether they ran, and that is what the log says");
    if let Some(seconds) = asked(WITHIN) {
        assert!(lasted.as_secs() <= seconds, "it took {} s", lasted.as_secs());
    }
}

async fn restarted(world: &Arc<World>, mut bridge: Child) -> Child {
    bridge.kill().unwrap();
    bridge.wait().unwrap();
    let world = Arc::clone(world);
    tokio::task::spawn_blocking(move || world.start_bridge()).await.unwrap()
}

/// What is in the log of the one session that there is.
fn stored(world: &World) -> Vec<StoredEvent> {
    let store = SqliteStore::open(&world.root().join("state/log.db")).unwrap();
    let rows = store.sessions().unwrap();
    assert_eq!(rows.len(), 1, "the start, sent again and again, made one session");
    store.read_after(&rows[0].session, Seq(0), usize::MAX).unwrap()
}

/// Gives how many messages are indeterminate.
fn judge(world: &World, acknowledged: &HashMap<String, u64>, followers: &[Follower]) -> usize {
    let stored = stored(world);
    let log: Vec<Logged> = stored.iter().map(|event| Logged::decode(&event.text).unwrap()).collect();

    let ledger = std::fs::read_to_string(world.root().join("ledger")).unwrap_or_default();
    let ran: Vec<&str> = ledger.lines().collect();
    let ran_once: BTreeSet<&str> = ran.iter().copied().collect();
    assert_eq!(ran.len(), ran_once.len(), "no prompt ran twice");

    assert!(!ran_once.contains("two at once"), "a session never has two CLIs");

    let mut inputs = HashMap::new();
    let mut fates = HashMap::new();
    let mut open = BTreeSet::new();
    let mut turn_open = false;
    let mut given = Vec::new();
    for Logged { seq, event, .. } in &log {
        match event {
            Event::UserInput(input) => {
                let name = input.client_message_id.clone().unwrap().0;
                assert!(inputs.insert(name, seq.0).is_none(), "in the log once");
                fates.insert(input.input_id.0.clone(), input.state);
                turn_open |= input.state == InputStateChange::Sending;
            }
            Event::InputState(change) => {
                fates.insert(change.input_id.0.clone(), change.state);
                turn_open |= change.state == InputStateChange::Sending;
            }
            Event::PermissionRequest(request) => assert!(open.insert(request.id.clone())),
            Event::PermissionResolved(resolved) => {
                assert!(open.remove(&resolved.id), "one end for each approval");
                given.extend((resolved.decision == Decision::Allowed).then(|| resolved.id.clone()));
            }
            Event::Result(end) => {
                // A CLI that was killed before it could start has had no turn, and whoever started it is told.
                let was_open = std::mem::take(&mut turn_open);
                assert!(was_open || end.subtype == "start_failed", "one end for each turn: {seq} {end:?}");
                let given = std::mem::take(&mut given);
                let unknown = if end.subtype == "process_ended" { given } else { Vec::new() };
                assert_eq!(
                    end.indeterminate, unknown,
                    "what was allowed and cut off is shown as such: {seq}"
                );
            }
            _ => {}
        }
    }
    assert!(!turn_open, "every turn has come to its end");
    for (name, seq) in acknowledged {
        assert_eq!(inputs.get(name), Some(seq), "{name} was acknowledged");
    }
    for uuid in &ran_once {
        assert!(fates.contains_key(*uuid), "{uuid} ran, so it is in the log");
    }
    let mut unknown = 0;
    for (uuid, fate) in &fates {
        match fate {
            InputStateChange::Delivered => assert!(ran_once.contains(uuid.as_str()), "{uuid} was delivered"),
            InputStateChange::Queued => assert!(!ran_once.contains(uuid.as_str()), "{uuid} was never sent"),
            // Nobody knows whether it ran, and that is what it says.
            InputStateChange::Indeterminate => unknown += 1,
            InputStateChange::Sending | InputStateChange::Edited | InputStateChange::Cancelled => {
                panic!("{uuid} was left {fate:?}")
            }
        }
    }
    assert!(open.is_empty(), "every approval has come to its end: {open:?}");
    for follower in followers {
        assert_eq!(follower.log.len(), stored.len(), "every client has the whole log");
        for (event, stored) in follower.log.values().zip(&stored) {
            let stored: Value = serde_json::from_str(&stored.text).unwrap();
            assert_eq!(*event, stored, "every client has the log's own events");
        }
    }
    unknown
}
