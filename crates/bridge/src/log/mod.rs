//! The event log: one append-only, totally ordered list of events per session, and the only truth about it.
//!
//! What the CLI writes, what clients ask for and what they decide all become events. History, status, open approvals,
//! cost and queue are folds over them. An event is shown to clients only after it is stored, so that no position is ever
//! seen and lost.

pub mod conformance;
mod sqlite;
mod store;
mod writer;

pub use sqlite::SqliteStore;
pub use store::{EventStore, Kept, NewEvent, SessionRow, StorageError, StoredEvent, Write};
pub use writer::{Item, Log};
