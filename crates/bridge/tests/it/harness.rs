//! A bridge without a socket: a hub over a faulty CLI, and clients that talk to it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pilothouse::Options;
use pilothouse::sessions::Store;
use pilothouse_bridge::auth::{Devices, Roots, Scopes};
use pilothouse_bridge::client::{Client, Gone, Sink};
use pilothouse_bridge::log::{Log, SqliteStore};
use pilothouse_bridge::session::{Hub, Retention};
use pilothouse_testkit::{MARKER_VARIABLE, Sandbox, binary};
use serde_json::{Value, json};

/// How long anything in a test may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A place for a bridge and its sessions.
pub(crate) struct Place {
    pub(crate) sandbox: Sandbox,
    fault: &'static str,
}

impl Place {
    pub(crate) fn new(fault: &'static str) -> Self {
        Self { sandbox: Sandbox::new().unwrap(), fault }
    }

    pub(crate) fn project(&self) -> String {
        self.sandbox.project().canonicalize().unwrap().to_string_lossy().into_owned()
    }

    pub(crate) fn database(&self) -> std::path::PathBuf {
        self.sandbox.home().join("log.db")
    }

    /// The hub on the place's own log.
    pub(crate) async fn hub(&self) -> Hub {
        self.hub_on(&self.database()).await
    }

    /// A hub on any log.
    pub(crate) async fn hub_on(&self, database: &Path) -> Hub {
        let log = Log::new(Arc::new(SqliteStore::open(database).unwrap())).unwrap();
        let (fault, marker) = (self.fault, self.sandbox.marker());
        let faulty = binary("faulty").unwrap();
        let options = move || {
            Options::new().executable(&faulty).env("FAULTY", fault).env(MARKER_VARIABLE, marker.as_str())
        };
        let transcripts = Store::at(self.sandbox.config());
        Hub::open(log, transcripts, Retention::default(), options).await.unwrap()
    }

    /// A client of the original protocol.
    pub(crate) fn original(&self, hub: &Hub, name: &str) -> Peer {
        self.client(hub, name, Scopes::usual())
    }

    pub(crate) fn client(&self, hub: &Hub, name: &str, scopes: Scopes) -> Peer {
        let devices = Devices::open(self.sandbox.home().join("devices.json")).unwrap();
        let (device, _) = devices.add(name, scopes).unwrap();
        let roots = Roots::new([self.sandbox.project()]).unwrap();
        Peer { client: Client::new(hub.clone(), device, roots), got: Vec::new(), read: 0 }
    }

    /// A client that knows all messages.
    pub(crate) async fn modern(&self, hub: &Hub, name: &str) -> Peer {
        let mut peer = self.original(hub, name);
        peer.say(json!({"type": "hello", "protocol": 1})).await;
        peer.until("welcome").await;
        peer
    }

    /// A modern client that has started a session.
    pub(crate) async fn started(&self, hub: &Hub) -> (Peer, String) {
        let mut peer = self.modern(hub, "laptop").await;
        peer.say(json!({"type": "start", "projectPath": self.project()})).await;
        let created = peer.until("system").await;
        assert_eq!(created["subtype"], "session_created");
        let session = created["sessionId"].as_str().unwrap().to_owned();
        (peer, session)
    }

    /// Fails unless every process of the test is gone.
    pub(crate) async fn no_process_is_left(&self) {
        let left = self.sandbox.leftovers(Duration::from_secs(10)).await;
        assert!(left.is_empty(), "still running: {left:?}");
    }
}

/// A client, and all it was sent.
pub(crate) struct Peer {
    client: Client,
    pub(crate) got: Vec<Value>,
    /// How much of it `until` has passed.
    read: usize,
}

impl Peer {
    pub(crate) async fn say(&mut self, message: Value) {
        self.say_text(&message.to_string()).await;
    }

    pub(crate) async fn say_text(&mut self, text: &str) {
        let mut frames = Frames::default();
        within(self.client.handle(text, &mut frames)).await.unwrap();
        self.got.extend(frames.0);
    }

    /// Reads on until a message of this type.
    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        self.until_some(kind, |message| message["type"] == kind).await
    }

    /// Reads on until there was one of each type, in whatever order they come.
    pub(crate) async fn until_all<const N: usize>(&mut self, kinds: [&str; N]) -> [Value; N] {
        let mut found = [const { Value::Null }; N];
        while found.contains(&Value::Null) {
            let open: Vec<&str> = kinds
                .iter()
                .zip(&found)
                .filter(|(_, found)| found.is_null())
                .map(|(kind, _)| *kind)
                .collect();
            let what = open.join(" and ");
            let message =
                self.until_some(&what, |message| open.iter().any(|kind| message["type"] == *kind)).await;
            let at = kinds.iter().position(|kind| message["type"] == *kind).unwrap();
            found[at] = message;
        }
        found
    }

    pub(crate) async fn until_some(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            while let Some(message) = self.got.get(self.read) {
                self.read += 1;
                if wanted(message) {
                    return message.clone();
                }
            }
            let outbox = self.client.outbox();
            let taken = tokio::time::timeout(PATIENCE, outbox.take());
            let taken = taken.await.unwrap_or_else(|_| panic!("waiting for {what}, got {:#?}", self.got));
            let mut frames = Frames::default();
            within(self.client.deliver(taken, &mut frames)).await.unwrap();
            self.got.extend(frames.0);
        }
    }

    /// The events of a session that were sent, by position.
    pub(crate) fn events(&self, session: &str) -> Vec<(u64, String)> {
        let of = |message: &&Value| {
            message["sessionId"] == session && message["seq"].is_u64() && message["at"].is_i64()
        };
        let events = self.got.iter().filter(of);
        events
            .map(|event| (event["seq"].as_u64().unwrap(), event["type"].as_str().unwrap().to_owned()))
            .collect()
    }

    pub(crate) fn count(&self, kind: &str) -> usize {
        self.got.iter().filter(|message| message["type"] == kind).count()
    }
}

/// What was sent, read back.
#[derive(Default)]
struct Frames(Vec<Value>);

impl Sink for Frames {
    async fn send(&mut self, frame: Bytes) -> Result<(), Gone> {
        let header = match frame[1] {
            126 => 4,
            127 => 10,
            _ => 2,
        };
        self.0.push(serde_json::from_slice(&frame[header..]).unwrap());
        Ok(())
    }
}

/// Waits for something that must not hang.
pub(crate) async fn within<T>(future: impl IntoFuture<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("this hangs")
}
