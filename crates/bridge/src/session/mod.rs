//! Sessions: one task for each that has a CLI, a channel to its clients, and the hub that knows them all.

mod actor;
mod calls;
mod channel;
mod command;
mod decide;
mod hub;
mod outbox;
mod recent;
mod recorder;
mod recover;
mod refusal;
mod state;
mod translate;
mod viewers;

pub(crate) use command::What;
pub(crate) use decide::Verdict;
pub use hub::{Hub, Retention, Started};
pub use outbox::{Outbox, Parcel, Taken};
pub use refusal::Refusal;
pub(crate) use viewers::Viewing;
