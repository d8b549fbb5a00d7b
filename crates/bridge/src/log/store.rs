//! What a place to keep logs has to do.

use thiserror::Error;

use crate::api::{Seq, SessionId};

/// A place to keep logs. All methods block; [`Log`](super::Log) calls them where that does no harm.
///
/// Another place than the embedded one is put in by implementing this; [`conformance::check`](super::conformance::check)
/// says whether it does what the bridge relies on.
pub trait EventStore: Send + Sync + 'static {
    /// Writes all of it, or nothing. What is written when this returns survives the death of the process; if an event of it
    /// is [synced](NewEvent::synced), it survives that of the machine, with all that was written before.
    ///
    /// # Errors
    /// When an event is not at the next position of its session, when its key is taken, or when storage fails.
    fn append(&self, writes: &[Write]) -> Result<(), StorageError>;

    /// Events after a position, oldest first, at most so many.
    ///
    /// # Errors
    /// When storage fails.
    fn read_after(
        &self,
        session: &SessionId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StorageError>;

    /// The newest events before a position, oldest first, at most so many.
    ///
    /// # Errors
    /// When storage fails.
    fn read_before(
        &self,
        session: &SessionId,
        before: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StorageError>;

    /// The event that was stored with this key. It is known as long as the session, also when the event
    /// is forgotten: what was done once must not be done again because nobody remembers the words.
    ///
    /// # Errors
    /// When storage fails.
    fn find(&self, session: &SessionId, key: &str) -> Result<Option<KnownKey>, StorageError>;

    /// A session that has, or had, an event with this key.
    ///
    /// # Errors
    /// When storage fails.
    fn session_of(&self, key: &str) -> Result<Option<KnownKey>, StorageError>;

    /// What was too long for an event and kept beside it.
    ///
    /// # Errors
    /// When storage fails.
    fn kept(&self, session: &SessionId, seq: Seq, part: &str) -> Result<Option<String>, StorageError>;

    /// How many bytes all of it takes.
    ///
    /// # Errors
    /// When storage fails.
    fn bytes(&self) -> Result<u64, StorageError>;

    /// What was last stored as the open block of the session, if one is open.
    ///
    /// # Errors
    /// When storage fails.
    fn open_block(&self, session: &SessionId) -> Result<Option<String>, StorageError>;

    /// Every session that has events.
    ///
    /// # Errors
    /// When storage fails.
    fn sessions(&self) -> Result<Vec<SessionRow>, StorageError>;

    /// Forgets events before a position, but never the newest one, so that positions go on from it, and no keys.
    ///
    /// # Errors
    /// When storage fails.
    fn forget_before(&self, session: &SessionId, before: Seq) -> Result<(), StorageError>;

    /// Forgets a session.
    ///
    /// # Errors
    /// When storage fails.
    fn forget(&self, session: &SessionId) -> Result<(), StorageError>;
}

/// One thing to write.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// An event.
    Event(NewEvent),
    /// What has been streamed of a message that is not complete; nothing when it is.
    OpenBlock {
        /// The session.
        session: SessionId,
        /// The block, in a form that the bridge reads back.
        text: Option<String>,
    },
}

impl Write {
    /// How many bytes it has to store, about.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Event(event) => {
                let kept: usize = event.kept.iter().map(|kept| kept.text.len()).sum();
                event.text.len() + event.summary.as_ref().map_or(0, String::len) + kept
            }
            Self::OpenBlock { text, .. } => text.as_ref().map_or(0, String::len),
        }
    }
}

/// An event to store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    /// The session.
    pub session: SessionId,
    /// Its position: one more than that of the session's newest event, or 1.
    pub seq: Seq,
    /// The event as clients get it.
    pub text: String,
    /// A name that no other event of the session may have.
    pub key: Option<Key>,
    /// The state of the session after it, in a form that the bridge reads back; without it the last one holds.
    pub summary: Option<String>,
    /// What is too long for it. Stays as long as the event.
    pub kept: Vec<Kept>,
    /// Whether it must survive a power cut once it is written. What a client is told to be done must.
    pub synced: bool,
}

/// What an event is remembered by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The name.
    pub name: String,
    /// The SHA-256 of what was asked for under this name.
    pub digest: [u8; 32],
}

/// A key that was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownKey {
    /// The session of its event.
    pub session: SessionId,
    /// The position of its event.
    pub seq: Seq,
    /// The SHA-256 of what was asked for under it; none if that was not noted yet.
    pub digest: Option<[u8; 32]>,
}

/// A part of an event that is too long for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Which part.
    pub part: &'static str,
    /// All of it.
    pub text: String,
}

/// An event as it was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its position.
    pub seq: Seq,
    /// The event as clients get it.
    pub text: String,
}

/// A session as it was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// The session.
    pub session: SessionId,
    /// The position of its oldest event that is still there.
    pub first: Seq,
    /// The position of its newest event.
    pub last: Seq,
    /// Its state, as last stored.
    pub summary: Option<String>,
    /// What is wrong with this row, if it cannot be used.
    pub damage: Option<String>,
}

/// Why something could not be stored or read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The event is not at the next position.
    #[error("event {seq} of session {session} is not the next one")]
    OutOfOrder {
        /// The session.
        session: SessionId,
        /// The position that was asked for.
        seq: Seq,
    },
    /// There is an event with this key already.
    #[error("session {session} has an event `{key}` already")]
    KeyTaken {
        /// The session.
        session: SessionId,
        /// The key.
        key: String,
    },
    /// The log was made by a newer bridge.
    #[error(
        "the log has format {found}, this bridge knows {known}: use a newer bridge or another state directory"
    )]
    Newer {
        /// The format of the file.
        found: i64,
        /// The newest format known here.
        known: i64,
    },
    /// The file is no log any more, or never was one.
    #[error(
        "the log is damaged ({0}): `pilothouse log repair` saves what can be read, or put a backup of log.db in its place"
    )]
    Damaged(String),
    /// There was more in the log than there is now.
    #[error(
        "the log is not all there: {0}; put log.db and its -wal back where they were, or go on with what is left by \
         starting once with --accept-log-loss"
    )]
    Lost(String),
    /// Events of one session are not as they were stored. Other sessions are not concerned.
    #[error(
        "session {session} is damaged: event {seq} {reason}; stop the bridge and run `pilothouse log repair`, which keeps \
         the other events"
    )]
    Session {
        /// The session.
        session: SessionId,
        /// The first event that is damaged; 0 for the session itself.
        seq: Seq,
        /// What is wrong with it.
        reason: String,
    },
    /// The database failed.
    #[error("the log cannot be used: {0}")]
    Database(String),
    /// The log was closed.
    #[error("the log is closed")]
    Closed,
}
