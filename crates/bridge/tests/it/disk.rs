//! A store that a test can fill up or slow down.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pilothouse_bridge::api::{Seq, SessionId};
use pilothouse_bridge::log::{
    EventStore, KnownKey, SessionRow, SqliteStore, StorageError, StoredEvent, Write,
};

/// A store whose disk may be full, or slow.
pub(crate) struct Disk {
    store: SqliteStore,
    pub(crate) is_full: AtomicBool,
    pub(crate) panics: AtomicBool,
    /// What has this in it is not written yet, and nothing after it.
    held: Mutex<Option<&'static str>>,
}

impl Disk {
    pub(crate) fn at(path: &Path) -> Arc<Self> {
        let store = SqliteStore::open(path).unwrap();
        Arc::new(Self {
            store,
            is_full: AtomicBool::new(false),
            panics: AtomicBool::new(false),
            held: Mutex::new(None),
        })
    }

    /// Lets everything wait from the first that has this in it on; with nothing, nothing waits any more.
    pub(crate) fn hold(&self, what: Option<&'static str>) {
        *self.held.lock().unwrap() = what;
    }

    fn holds(&self, writes: &[Write]) -> bool {
        let held = *self.held.lock().unwrap();
        held.is_some_and(|held| format!("{writes:?}").contains(held))
    }
}

impl EventStore for Disk {
    fn append(&self, writes: &[Write]) -> Result<(), StorageError> {
        while self.holds(writes) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(!self.panics.load(Ordering::SeqCst), "on purpose");
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

    fn find(&self, session: &SessionId, key: &str) -> Result<Option<KnownKey>, StorageError> {
        self.store.find(session, key)
    }

    fn session_of(&self, key: &str) -> Result<Option<KnownKey>, StorageError> {
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
