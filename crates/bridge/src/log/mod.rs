//! The event log: one append-only, totally ordered list of events per session, and the only truth about it.
//!
//! What the CLI writes, what clients ask for and what they decide all become events. History, status, open approvals,
//! cost and queue are folds over them. An event is shown to clients only after it is stored, so that no position is ever
//! seen and lost.

mod chain;
mod check;
pub mod conformance;
mod mark;
mod pages;
mod sqlite;
mod store;
mod writer;

pub use check::{Checked, CheckedSession, Repaired, repair, verify};
pub use pages::Damage;
pub use sqlite::{Loss, SqliteStore};
pub use store::{EventStore, Kept, Key, KnownKey, NewEvent, SessionRow, StorageError, StoredEvent, Write};
pub use writer::{Item, Log};
