//! A power cut at any moment: nothing is lost that a client was told to be done.
//!
//! A process that serves clients runs with a library that writes down, in their order, all changes to the state directory
//! and all syncs (`tests/power/record.c`). Then the files are put together as a power cut at some moment would leave them:
//! all that was synced, and any part of the rest. The log must open and have all that was acknowledged until then.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use pilothouse_bridge::api::{Event, Logged, Seq, SessionId};
use pilothouse_bridge::log::{EventStore as _, SqliteStore};
use serde_json::json;

use crate::harness::Place;

/// The directory that the recorded process keeps its log in.
const STATE: &str = "BRIDGE_TEST_POWER_STATE";
/// How many turns it has.
const TURNS: &str = "BRIDGE_TEST_POWER_TURNS";
const CUTS: usize = 1000;
const SECTOR: usize = 512;

/// Not a test of its own: the process that `no_acknowledged_input_or_decision_is_lost_when_the_power_fails` records.
#[tokio::test]
async fn recorded_bridge() {
    let Some(state) = std::env::var_os(STATE).map(PathBuf::from) else { return };
    let turns: usize = std::env::var(TURNS).unwrap().parse().unwrap();
    let place = Place::new("permission");
    let hub = place.hub_on(&state.join("log.db")).await;
    let mut acknowledged =
        std::fs::File::options().create(true).append(true).open(state.join("acknowledged")).unwrap();
    // In one write each, so that the journal has them whole.
    let mut note = |line: String| acknowledged.write_all(line.as_bytes()).unwrap();
    let (mut peer, session) = place.started(&hub).await;
    note(format!("session {session}\n"));
    for turn in 0..turns {
        let name = format!("{session}/{turn}");
        let text = format!("turn {turn} {}", "word ".repeat(turn * 37 % 900));
        peer.say(json!({"type": "input", "text": text, "clientMessageId": name})).await;
        peer.until("ack").await;
        note(format!("input {name}\n"));
        let asked = peer.until("permission_request").await;
        peer.say(json!({"type": "approve", "id": asked["id"]})).await;
        // In whatever order they come; the reply is noted at once.
        for _ in 0..2 {
            let told = peer
                .until_some("the end", |told| told["type"] == "approval_reply" || told["type"] == "result");
            let told = told.await;
            if told["type"] == "approval_reply" {
                assert_eq!(told["status"], "accepted");
                note(format!("decision {session}/{}\n", asked["id"].as_str().unwrap()));
            }
        }
        if turn.is_multiple_of(7) {
            peer.say(json!({"type": "rename_session", "sessionId": session, "title": name})).await;
            peer.until("ack").await;
            note(format!("title {name}\n"));
        }
    }
    hub.shut_down("the test").await;
}

/// One change, in the order in which they were made.
struct Change {
    kind: u8,
    path: String,
    offset: u64,
    data: Vec<u8>,
}

fn recorded(place: &Path, turns: usize, lies: bool) -> Vec<Change> {
    let (library, journal, state) = (place.join("record.so"), place.join("journal"), place.join("state"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/power/record.c");
    std::fs::create_dir(&state).unwrap();
    #[expect(clippy::disallowed_methods, reason = "a compiler that ends by itself")]
    let compiled = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source])
        .args(["-ldl", "-lpthread"])
        .status()
        .unwrap();
    assert!(compiled.success());
    // Twice: the second process finds the log as the first one left it.
    for _ in 0..2 {
        #[expect(clippy::disallowed_methods, reason = "a process of this test that ends by itself")]
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command
            .args(["power::recorded_bridge", "--exact", "--nocapture", "--test-threads=1"])
            .env("LD_PRELOAD", &library)
            .env("RECORD_TO", &journal)
            .env("RECORD_UNDER", &state)
            .env(STATE, &state)
            .env(TURNS, turns.to_string());
        if lies {
            command.env("RECORD_NO_SYNC", "1");
        }
        let done = command.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    changes(&std::fs::read(&journal).unwrap(), &state)
}

fn changes(journal: &[u8], state: &Path) -> Vec<Change> {
    let mut rest = journal;
    let mut take = |length: usize| {
        let (taken, left) = rest.split_at(length);
        rest = left;
        taken
    };
    let mut changes = Vec::new();
    let mut left = journal.len();
    let short =
        |path: &str| path.strip_prefix(state.to_str().unwrap()).unwrap().trim_start_matches('/').to_owned();
    while left > 0 {
        let kind = take(1)[0];
        let path_length = u32::from_le_bytes(take(4).try_into().unwrap()) as usize;
        let path = short(std::str::from_utf8(take(path_length)).unwrap());
        let offset = u64::from_le_bytes(take(8).try_into().unwrap());
        let length = u32::from_le_bytes(take(4).try_into().unwrap()) as usize;
        let data = take(length).to_vec();
        left -= 17 + path_length + length;
        let data = if kind == b'r' { short(std::str::from_utf8(&data).unwrap()).into_bytes() } else { data };
        changes.push(Change { kind, path, offset, data });
    }
    changes
}

/// A disk with a cache that a power cut empties.
#[derive(Default)]
struct Disk {
    /// What each file has for sure.
    synced: Vec<Vec<u8>>,
    /// What it has besides, as long as there is power.
    unsynced: Vec<Vec<(u64, Option<Vec<u8>>)>>,
    /// The names that are there for sure.
    synced_names: BTreeMap<String, usize>,
    /// How they changed since.
    unsynced_names: Vec<(String, Option<usize>)>,
    /// The names as the process sees them.
    names: BTreeMap<String, usize>,
    acknowledged: String,
}

impl Disk {
    fn apply(&mut self, change: &Change) {
        let Change { kind, path, offset, data } = change;
        match kind {
            b'c' => {
                self.synced.push(Vec::new());
                self.unsynced.push(Vec::new());
                self.rename(path, Some(self.synced.len() - 1));
            }
            b'u' => self.rename(path, None),
            b'r' => {
                let file = self.names.get(path).copied();
                self.rename(path, None);
                self.rename(std::str::from_utf8(data).unwrap(), file);
            }
            b'w' if path == "acknowledged" => self.acknowledged.push_str(std::str::from_utf8(data).unwrap()),
            b'w' => self.unsynced[self.names[path]].push((*offset, Some(data.clone()))),
            b't' => self.unsynced[self.names[path]].push((*offset, None)),
            // The directory itself.
            b's' if path.is_empty() => {
                for (name, file) in self.unsynced_names.drain(..) {
                    set(&mut self.synced_names, name, file);
                }
            }
            b's' => {
                let file = self.names[path];
                for (offset, data) in std::mem::take(&mut self.unsynced[file]) {
                    write(&mut self.synced[file], offset, data.as_deref());
                }
            }
            other => panic!("an unknown change {other}"),
        }
    }

    fn rename(&mut self, name: &str, file: Option<usize>) {
        set(&mut self.names, name.to_owned(), file);
        self.unsynced_names.push((name.to_owned(), file));
    }

    /// The files that a power cut leaves now. `chance` says which of the writes that were not synced are on the disk; of a
    /// name's changes the first few are.
    fn cut(&self, to: &Path, chance: &mut Chance) {
        let mut names = self.synced_names.clone();
        let few = chance.below(self.unsynced_names.len() + 1);
        for (name, file) in self.unsynced_names.iter().take(few) {
            set(&mut names, name.clone(), *file);
        }
        for (name, file) in names.into_iter().filter(|(name, _)| name != "acknowledged") {
            let mut content = self.synced[file].clone();
            for (offset, data) in &self.unsynced[file] {
                match (chance.below(3), data) {
                    (0, _) => {}
                    // Sectors are written whole, or not at all.
                    (1, Some(data)) => {
                        let sectors = chance.below(data.len() / SECTOR + 1);
                        write(&mut content, *offset, Some(&data[..sectors * SECTOR]));
                    }
                    (_, data) => write(&mut content, *offset, data.as_deref()),
                }
            }
            std::fs::write(to.join(name), content).unwrap();
        }
    }
}

fn set(names: &mut BTreeMap<String, usize>, name: String, file: Option<usize>) {
    match file {
        Some(file) => {
            names.insert(name, file);
        }
        None => {
            names.remove(&name);
        }
    }
}

/// Writes into a file, or cuts it off.
fn write(content: &mut Vec<u8>, offset: u64, data: Option<&[u8]>) {
    let offset = offset as usize;
    match data {
        Some(data) if !data.is_empty() => {
            content.resize(content.len().max(offset + data.len()), 0);
            content[offset..offset + data.len()].copy_from_slice(data);
        }
        Some(_) => {}
        None => content.resize(offset, 0),
    }
}

/// Numbers that are the same in each run.
struct Chance {
    state: u64,
    /// Whether everything that may be lost is.
    worst: bool,
}

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        if self.worst { 0 } else { (self.state % end as u64) as usize }
    }
}

/// What was acknowledged and is not in the log.
fn lost(files: &Path, acknowledged: &str) -> Result<Vec<String>, String> {
    let store = SqliteStore::open(&files.join("log.db")).map_err(|error| error.to_string())?;
    let mut found = BTreeSet::new();
    for row in store.sessions().map_err(|error| error.to_string())? {
        let session: SessionId = row.session;
        let events = store.read_after(&session, Seq(0), usize::MAX).map_err(|error| error.to_string())?;
        if events.len() as u64 != row.last.0 {
            return Err(format!("{} of {} events of {session} can be read", events.len(), row.last));
        }
        for event in events {
            match Logged::decode(&event.text).map_err(|error| error.to_string())?.event {
                Event::System(system) if system.subtype == "session_created" => {
                    found.insert(format!("session {session}"));
                }
                Event::UserInput(input) => {
                    found.insert(format!("input {}", input.client_message_id.unwrap()));
                }
                Event::PermissionResolved(resolved) => {
                    found.insert(format!("decision {session}/{}", resolved.id));
                }
                Event::SessionRenamed(renamed) => {
                    found.insert(format!("title {}", renamed.title));
                }
                _ => {}
            }
        }
    }
    Ok(acknowledged.lines().filter(|line| !found.contains(*line)).map(str::to_owned).collect())
}

/// Cuts the power at so many moments; tells what was lost.
fn cut(changes: &[Change], cuts: usize) -> Vec<String> {
    let memory = Path::new("/dev/shm");
    let files = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let mut chance = Chance { state: 0x9E37_79B9_7F4A_7C15, worst: false };
    // After each acknowledgement, when the most is promised and the least is synced, and at moments all over.
    let mut moments: Vec<(usize, bool)> = (0..changes.len())
        .filter(|at| changes[*at].path == "acknowledged" && changes[*at].kind == b'w')
        .map(|at| (at, true))
        .take(cuts / 2)
        .collect();
    while moments.len() < cuts {
        moments.push((chance.below(changes.len()), false));
    }
    moments.sort_unstable();
    let mut losses = Vec::new();
    let mut disk = Disk::default();
    let mut moments = moments.into_iter().peekable();
    for (at, change) in changes.iter().enumerate() {
        disk.apply(change);
        while let Some((_, worst)) = moments.next_if(|(moment, _)| *moment == at) {
            chance.worst = worst;
            let place = files.path().join("cut");
            std::fs::create_dir(&place).unwrap();
            disk.cut(&place, &mut chance);
            match lost(&place, &disk.acknowledged) {
                Ok(lost) if lost.is_empty() => {}
                Ok(lost) => losses.push(format!("after change {at}: {lost:?}")),
                Err(error) => losses.push(format!("after change {at}: {error}")),
            }
            std::fs::remove_dir_all(&place).unwrap();
        }
    }
    losses
}

#[test]
fn no_acknowledged_input_or_decision_is_lost_when_the_power_fails() {
    let place = tempfile::tempdir().unwrap();
    let changes = recorded(place.path(), 60, false);
    let syncs = changes.iter().filter(|change| change.kind == b's').count();
    let to_database = changes.iter().filter(|change| change.kind == b'w' && change.path == "log.db").count();
    assert!(to_database > 20, "no checkpoint was recorded");
    let losses = cut(&changes, CUTS);
    println!("{} changes, {syncs} syncs, {CUTS} cuts, {} losses", changes.len(), losses.len());
    assert!(losses.is_empty(), "{} of {CUTS}: {:#?}", losses.len(), &losses[..losses.len().min(5)]);
}

/// The test sees losses: a disk that only pretends to sync has some.
#[test]
fn a_disk_that_does_not_sync_is_found_out() {
    let place = tempfile::tempdir().unwrap();
    let changes = recorded(place.path(), 5, true);
    assert!(cut(&changes, 50).len() > 10);
}

/// What would have been recorded with `synchronous=NORMAL`: the WAL is synced when it begins and for checkpoints only.
fn without_syncs_of_commits(changes: Vec<Change>) -> Vec<Change> {
    let mut kept: Vec<Change> = Vec::new();
    let mut changes = changes.into_iter().peekable();
    while let Some(change) = changes.next() {
        let of_wal = change.kind == b's' && change.path == "log.db-wal";
        let begins = kept.last().is_some_and(|before| before.path == "log.db-wal" && before.offset == 0);
        let checkpoint = changes.peek().is_some_and(|next| next.path == "log.db");
        if !of_wal || begins || checkpoint {
            kept.push(change);
        }
    }
    kept
}

/// Commits that are not synced lose what was acknowledged.
#[test]
fn commits_without_a_sync_are_found_out() {
    let place = tempfile::tempdir().unwrap();
    let changes = recorded(place.path(), 5, false);
    assert!(cut(&changes, 50).is_empty());
    let losses = cut(&without_syncs_of_commits(changes), 50);
    assert!(losses.len() > 10, "{losses:?}");
}
