//! A log that cannot be written: everybody is told, nothing that was acknowledged is lost, and it goes on afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pilothouse::Options;
use pilothouse::sessions::Store;
use pilothouse_bridge::api::{Lifecycle, ProcessStatus, Seq, SessionId};
use pilothouse_bridge::log::{EventStore, Log, SessionRow, SqliteStore, StorageError, StoredEvent, Write};
use pilothouse_bridge::session::{Hub, Retention};
use pilothouse_testkit::{MARKER_VARIABLE, binary};
use serde_json::json;

use crate::harness::Place;

/// A store whose disk may be full.
struct Disk {
    store: SqliteStore,
    is_full: AtomicBool,
}

impl EventStore for Disk {
    fn append(&self, writes: &[Write]) -> Result<(), StorageError> {
        if self.is_full.load(Ordering::SeqCst) {
            return Err(StorageError::Database("database or disk is full".to_owned()));
        }
        self.store.append(writes)
    }

    fn read_after(
        &self,
        session: &SessionId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StorageError> {
        self.store.read_after(session, after, limit)
    }

    fn read_before(
        &self,
        session: &SessionId,
        before: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StorageError> {
        self.store.read_before(session, before, limit)
    }

    fn find(&self, session: &SessionId, key: &str) -> Result<Option<Seq>, StorageError> {
        self.store.find(session, key)
    }

    fn session_of(&self, key: &str) -> Result<Option<SessionId>, StorageError> {
        self.store.session_of(key)
    }

    fn kept(&self, session: &SessionId, seq: Seq, part: &str) -> Result<Option<String>, StorageError> {
        self.store.kept(session, seq, part)
    }

    fn bytes(&self) -> Result<u64, StorageError> {
        self.store.bytes()
    }

    fn open_block(&self, session: &SessionId) -> Result<Option<String>, StorageError> {
        self.store.open_block(session)
    }

    fn sessions(&self) -> Result<Vec<SessionRow>, StorageError> {
        self.store.sessions()
    }

    fn forget_before(&self, session: &SessionId, before: Seq) -> Result<(), StorageError> {
        self.store.forget_before(session, before)
    }

    fn forget(&self, session: &SessionId) -> Result<(), StorageError> {
        self.store.forget(session)
    }
}

#[tokio::test]
async fn a_session_whose_log_cannot_be_written_ends_aloud_and_is_resumed_later() {
    let place = Place::new("permission");
    let store = SqliteStore::open(&place.database()).unwrap();
    let disk = Arc::new(Disk { store, is_full: AtomicBool::new(false) });
    let (faulty, marker) = (binary("faulty").unwrap(), place.sandbox.marker());
    let options = move || {
        Options::new().executable(&faulty).env("FAULTY", "permission").env(MARKER_VARIABLE, marker.as_str())
    };
    let log = Log::new(Arc::clone(&disk) as Arc<dyn EventStore>).unwrap();
    let transcripts = Store::at(place.sandbox.config());
    let hub = Hub::open(log, transcripts, Retention::default(), options).await.unwrap();
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "go", "sessionId": session, "clientMessageId": "one"})).await;
    peer.until("permission_request").await;

    disk.is_full.store(true, Ordering::SeqCst);
    peer.say(json!({"type": "approve", "id": "toolu_1"})).await;
    let told = peer
        .until_some("why it ends", |message| message["type"] == "error" && message["sessionId"] == *session)
        .await;
    assert_eq!(told["errorCode"], "storage", "{told}");
    assert!(told["message"].as_str().unwrap().contains("disk is full"), "{told}");
    peer.until_some("idle", |message| message["status"] == "idle").await;
    let view = hub.list(true)[0].clone();
    assert_eq!(
        (view.state, view.status, view.approvals.len()),
        (Lifecycle::Interrupted, ProcessStatus::Idle, 0)
    );
    place.no_process_is_left().await;
    let resume = json!({"type": "resume_session", "sessionId": session, "projectPath": place.project()});
    peer.say(resume.clone()).await;
    assert_eq!(peer.until("error").await["errorCode"], "storage", "still no room");

    disk.is_full.store(false, Ordering::SeqCst);
    peer.say(resume).await;
    peer.until_some("it runs", |message| message["subtype"] == "session_created").await;
    let mut late = place.modern(&hub, "late").await;
    late.say(json!({"type": "subscribe", "sessionId": session, "since": 0})).await;
    assert_eq!(late.until("permission_resolved").await["decision"], "withdrawn", "nobody was told otherwise");
    let end = late.until("result").await;
    assert_eq!(
        (&end["subtype"], &end["error"]),
        (&json!("process_ended"), &json!("the log could not be written"))
    );
    late.say(json!({"type": "input", "text": "go", "sessionId": session, "clientMessageId": "one"})).await;
    assert_eq!(late.until("ack").await["duplicate"], true);
    late.say(json!({"type": "input", "text": "on"})).await;
    let asked = late.until("permission_request").await;
    late.say(json!({"type": "approve", "id": asked["id"]})).await;
    late.until_some("the end", |message| message["subtype"] == "success").await;
    let positions: Vec<u64> = late.events(&session).into_iter().map(|(seq, _)| seq).collect();
    assert_eq!(positions, (1..=positions.len() as u64).collect::<Vec<_>>());
    hub.shut_down("the test").await;
    place.no_process_is_left().await;
}
