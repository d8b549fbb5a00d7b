//! Session transcripts on disk: write them, list them, read them back, fork, rename, tag and delete them.
//!
//! An agent CLI writes each session to `<config home>/projects/<project key>/<session id>.jsonl`, one JSON entry a line,
//! and goes on appending while it runs. This crate reads such files without the CLI, and makes the few edits that are
//! safe beside it: appending an entry, or writing a new file. It also writes them, for an agent of our own:
//! [`Store::begin`] and [`Store::load`] give a [`Transcript`], and [`Checkpoints`] keep files as they were before a tool
//! changed them.
//!
//! Files are taken as they come. A line that cannot be read is reported and skipped, and never hides the others.
//!
//! ```
//! use pilothouse_store::{ListOptions, Store};
//!
//! # let home = tempfile::tempdir()?;
//! # let config_home = home.path();
//! let store = Store::at(config_home);
//! let (sessions, problems) = store.list(&ListOptions::default());
//! for session in &sessions {
//!     println!("{} {}", session.id, session.summary);
//! }
//! assert!(sessions.is_empty() && problems.is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```

mod api_messages;
mod chain;
mod checkpoint;
mod digest;
mod edit;
mod entry;
mod error;
mod fork;
mod id;
mod info;
mod known;
mod lines;
mod list;
mod message;
mod new_entry;
mod no_follow;
mod past;
mod project;
mod store;
mod subagent;
mod transcript;
mod worktree;

pub use checkpoint::{Checkpoints, Rewind, RewindError};
pub use digest::Digest;
pub use entry::{ChainEntry, ChainKind, Entry, ForkedFrom};
pub use error::{Problem, ProblemKind, StoreError};
pub use fork::ForkOptions;
pub use id::{EntryId, SessionId};
pub use info::SessionInfo;
pub use list::ListOptions;
pub use message::{MessageKind, MessageOptions, SessionMessage};
pub use new_entry::NewEntry;
pub use past::{LoadOptions, Past};
pub use project::project_key;
pub use store::Store;
pub use subagent::Subagent;
pub use transcript::{Mirrored, Stamp, Transcript};
