//! Transcripts kept somewhere else: in a database, an object store, another machine's disk.
//!
//! The CLI goes on writing its own files. With [`Options::session_store`](crate::Options::session_store) it also says
//! what it wrote, and this SDK passes that on to a [`SessionStore`]. A session that is resumed is first written out from
//! the store into a configuration directory of its own, which is gone again when the session has ended.

pub mod conformance;
mod import;
pub(crate) mod materialize;
mod memory;
pub(crate) mod mirror;
mod stored;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

pub use import::import_session;
pub use memory::InMemoryStore;
pub use pilothouse_store::Digest;
pub use stored::StoredSessions;

use crate::panics::contain_future;

/// One line of a transcript. The store need not understand it, only give it back.
pub type Entry = Map<String, Value>;

/// What a store's methods return.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, SessionStoreError>> + Send + 'a>>;

/// Which transcript: that of a session, or of one of its subagents.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey {
    /// The project, see [`project_key`](crate::sessions::project_key).
    pub project_key: String,
    /// The session.
    pub session_id: String,
    /// The part of the session, such as `subagents/agent-1`; none for its main transcript.
    pub subpath: Option<String>,
}

impl SessionKey {
    /// The main transcript of a session.
    pub fn main(project_key: impl Into<String>, session_id: impl Into<String>) -> Self {
        Self { project_key: project_key.into(), session_id: session_id.into(), subpath: None }
    }

    /// A part of the same session.
    #[must_use]
    pub fn part(&self, subpath: impl Into<String>) -> Self {
        Self { subpath: Some(subpath.into()), ..self.clone() }
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.project_key, self.session_id)?;
        self.subpath.iter().try_for_each(|subpath| write!(f, "/{subpath}"))
    }
}

/// A session that a store holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// The session.
    pub session_id: String,
    /// When it was last appended to, in milliseconds since 1970.
    pub modified: u64,
}

/// What a store keeps beside a session so that a list need not read it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionSummary {
    /// The session.
    pub session_id: String,
    /// When the session was last appended to, in milliseconds since 1970, as far as the digest knows of it.
    pub modified: u64,
    /// What a list shows; the store [adds](Digest::add) to it what is appended to the main transcript.
    pub digest: Digest,
}

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionStoreError {
    /// The store has no such method.
    #[error("this session store cannot {0}")]
    Unsupported(&'static str),
    /// It took too long.
    #[error("the session store did not answer within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// Anything else.
    #[error(transparent)]
    Failed(#[from] Box<dyn std::error::Error + Send + Sync>),
}

/// A place for transcripts. [`conformance::check`] tells whether one does all that is expected.
///
/// Appending must be safe to repeat: after a failure the same entries come again. An entry's `uuid`, where it has one,
/// tells whether it is already there.
///
/// ```
/// use std::sync::Arc;
/// use pilothouse::{Options, session_store::InMemoryStore};
///
/// let store = Arc::new(InMemoryStore::default());
/// let options = Options::new().session_store(store.clone());
/// assert!(options.to_argv()?.iter().any(|argument| argument == "--session-mirror"));
/// # Ok::<(), pilothouse::OptionsError>(())
/// ```
pub trait SessionStore: Send + Sync + 'static {
    /// Adds entries to the end of a transcript, which begins with the first of them. No entries change nothing.
    fn append<'a>(&'a self, key: &'a SessionKey, entries: &'a [Entry]) -> StoreFuture<'a, ()>;

    /// All entries of a transcript in the order they were appended; none if there is no such transcript.
    fn load<'a>(&'a self, key: &'a SessionKey) -> StoreFuture<'a, Option<Vec<Entry>>>;

    /// The sessions of a project, in any order; parts of sessions do not count. Needed to continue the newest one.
    fn list_sessions<'a>(&'a self, _project_key: &'a str) -> StoreFuture<'a, Vec<StoredSession>> {
        unsupported("list sessions")
    }

    /// The summaries of the sessions of a project, in any order. Without it a list reads every session.
    fn list_summaries<'a>(&'a self, _project_key: &'a str) -> StoreFuture<'a, Vec<SessionSummary>> {
        unsupported("list summaries")
    }

    /// The parts of a session. Without it subagents are not there when a session is resumed.
    fn list_parts<'a>(&'a self, _key: &'a SessionKey) -> StoreFuture<'a, Vec<String>> {
        unsupported("list the parts of a session")
    }

    /// Removes a transcript; a main one with all its parts. What is not there is removed already.
    fn delete<'a>(&'a self, _key: &'a SessionKey) -> StoreFuture<'a, ()> {
        unsupported("delete sessions")
    }
}

fn unsupported<T: Send + 'static>(what: &'static str) -> StoreFuture<'static, T> {
    Box::pin(std::future::ready(Err(SessionStoreError::Unsupported(what))))
}

/// When entries are passed on to the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StoreFlush {
    /// Together: before a turn gives its result, when there are many, and at the end.
    #[default]
    Batched,
    /// As soon as the CLI has written them.
    Eager,
}

/// The store of a session, and how it is used.
#[derive(Clone)]
pub(crate) struct StoreOptions {
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) flush: StoreFlush,
    pub(crate) load_timeout: Duration,
    /// Whether what the CLI says that it has written is told as events, too.
    pub(crate) events: bool,
}

impl StoreOptions {
    pub(crate) fn new(store: Arc<dyn SessionStore>) -> Self {
        let store = Arc::new(Contained(store));
        Self { store, flush: StoreFlush::default(), load_timeout: Duration::from_secs(60), events: false }
    }

    /// Waits for the store, but not for ever.
    pub(crate) async fn in_time<T>(&self, answer: StoreFuture<'_, T>) -> Result<T, SessionStoreError> {
        let limit = self.load_timeout;
        tokio::time::timeout(limit, answer).await.unwrap_or(Err(SessionStoreError::TimedOut(limit)))
    }
}

/// A store whose panics are errors: they must end neither the task that fills it nor a session.
struct Contained(Arc<dyn SessionStore>);

impl SessionStore for Contained {
    fn append<'a>(&'a self, key: &'a SessionKey, entries: &'a [Entry]) -> StoreFuture<'a, ()> {
        contained(move || self.0.append(key, entries))
    }

    fn load<'a>(&'a self, key: &'a SessionKey) -> StoreFuture<'a, Option<Vec<Entry>>> {
        contained(move || self.0.load(key))
    }

    fn list_sessions<'a>(&'a self, project_key: &'a str) -> StoreFuture<'a, Vec<StoredSession>> {
        contained(move || self.0.list_sessions(project_key))
    }

    fn list_summaries<'a>(&'a self, project_key: &'a str) -> StoreFuture<'a, Vec<SessionSummary>> {
        contained(move || self.0.list_summaries(project_key))
    }

    fn list_parts<'a>(&'a self, key: &'a SessionKey) -> StoreFuture<'a, Vec<String>> {
        contained(move || self.0.list_parts(key))
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> StoreFuture<'a, ()> {
        contained(move || self.0.delete(key))
    }
}

fn contained<'a, T: 'a>(call: impl FnOnce() -> StoreFuture<'a, T> + Send + 'a) -> StoreFuture<'a, T> {
    Box::pin(async move {
        contain_future(call).await.unwrap_or_else(|text| {
            tracing::error!("the session store panicked: {text}");
            Err(SessionStoreError::Failed(format!("it panicked: {text}").into()))
        })
    })
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreOptions").field("flush", &self.flush).finish_non_exhaustive()
    }
}
