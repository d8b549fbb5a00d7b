//! Whether a tool call may run.
//!
//! [`Gate::check`] asks in this order: hooks, which may refuse, allow, or change the arguments; rules and the mode; the
//! host, together with hooks that answer in its stead. What the host sends along (rules, directories, another mode) is
//! applied to the session and written to the settings files it names.

mod answer;
mod ask;
mod check;
mod confined;
mod disk;
mod links;
mod refuse;
mod secrets;
mod unjudged;
mod words;

pub use check::Gate;
pub(crate) use disk::HeldDisk;
pub(crate) use secrets::DeniedFiles;
