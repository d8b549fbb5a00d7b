//! Starts a child in its own process group, hands over its pipes, ends it by one bounded ladder.
//!
//! Every child of Pilothouse is started here, because four things are easy to get wrong one by one: a child must
//! die with its parent, must not leave grandchildren behind, must not stall because nobody reads its stderr, and must
//! be ended within a known time. [`Spawn`] sets all of that up; [`Child`] keeps it true; [`Child::close`] is the ladder:
//! end of input, then `SIGTERM` to the group, then `SIGKILL` to the group, each step with a limit.
//!
//! ```
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! use pilothouse_proc::{Ladder, Spawn, Step};
//!
//! let mut child = Spawn::new("cat").start().await?;
//! let report = child.close(Ladder::default()).await;
//! assert_eq!(report.step, Step::EndOfInput);
//! # Ok::<(), pilothouse_proc::SpawnError>(()) }).unwrap();
//! ```

mod child;
mod error;
mod exit;
mod group;
mod guard;
mod keeper;
mod ladder;
mod launcher;
mod leader;
mod marked;
mod orphans;
mod other;
mod program;
mod run;
mod spawn;
mod tail;
mod user;
mod write_pipe;

pub use child::Child;
pub use error::SpawnError;
pub use exit::Exit;
pub use guard::{dismiss_guard, guard_children};
pub use ladder::{Ladder, Report, Step};
pub use marked::{kill_marked, marked, until_the_dying_are_gone};
pub use orphans::{adopt_orphans, is_descendant, kill_descendants, reap_orphans};
pub use run::{Finished, Limits, Outcome};
pub use spawn::{Spawn, StderrLines};
pub use tail::StderrTail;
pub use tokio::net::unix::pipe::Receiver as ReadPipe;
pub use write_pipe::WritePipe;
