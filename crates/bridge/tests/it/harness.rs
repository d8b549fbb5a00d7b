//! A bridge without a socket: a hub over a faulty CLI, and clients that talk to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pilothouse::Options;
use pilothouse::sessions::Store;
use pilothouse_bridge::auth::{Devices, Roots, Scopes};
use pilothouse_bridge::client::Client;
use pilothouse_bridge::log::{EventStore, Log, SqliteStore};
use pilothouse_bridge::session::{Hub, Retention};
use pilothouse_testkit::{MARKER_VARIABLE, Sandbox, binary};
use serde_json::json;

pub(crate) use crate::peer::{Peer, within};

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

    pub(crate) fn database(&self) -> PathBuf {
        self.sandbox.home().join("log.db")
    }

    /// The hub on the place's own log.
    pub(crate) async fn hub(&self) -> Hub {
        self.hub_on(&self.database()).await
    }

    /// A copy of the log, as a bridge leaves it that is killed now.
    pub(crate) fn copied_log(&self) -> PathBuf {
        let copy = self.sandbox.home().join("copy.db");
        for end in ["", "-wal"] {
            let from = format!("{}{end}", self.database().display());
            std::fs::copy(from, format!("{}{end}", copy.display())).unwrap();
        }
        copy
    }

    /// A hub on any log.
    pub(crate) async fn hub_on(&self, database: &Path) -> Hub {
        self.hub_keeping(database, Retention::default()).await
    }

    /// A hub on any log, of which it keeps so much.
    pub(crate) async fn hub_keeping(&self, database: &Path, retention: Retention) -> Hub {
        self.hub_over(Arc::new(SqliteStore::open(database).unwrap()), retention).await
    }

    /// A hub on any store.
    pub(crate) async fn hub_over(&self, store: Arc<impl EventStore + 'static>, retention: Retention) -> Hub {
        let log = Log::new(store).unwrap();
        let (fault, marker) = (self.fault, self.sandbox.marker());
        let faulty = binary("faulty").unwrap();
        let options = move || {
            Options::new().executable(&faulty).env("FAULTY", fault).env(MARKER_VARIABLE, marker.as_str())
        };
        let transcripts = Store::at(self.sandbox.config());
        Hub::open(log, transcripts, retention, options).await.unwrap()
    }

    /// A client of the original protocol.
    pub(crate) fn original(&self, hub: &Hub, name: &str) -> Peer {
        self.client(hub, name, Scopes::usual())
    }

    pub(crate) fn client(&self, hub: &Hub, name: &str, scopes: Scopes) -> Peer {
        let devices = Devices::open(self.sandbox.home().join("devices.json")).unwrap();
        let known = devices.list().into_iter().find(|device| device.name == name && device.scopes == scopes);
        let device = known.unwrap_or_else(|| devices.add(name, scopes).unwrap().0);
        let roots = Roots::new([self.sandbox.project()]).unwrap();
        Peer::new(Client::new(hub.clone(), device, roots))
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
