//! Sessions: one task for each that has a CLI, a channel to its clients, and the hub that knows them all.

mod actor;
mod board;
mod calls;
mod channel;
mod command;
mod decide;
mod hub;
mod key;
mod news;
mod outbox;
mod outputs;
mod recent;
mod recorder;
mod recover;
mod refusal;
mod retention;
mod state;
mod translate;
mod viewers;

pub(crate) use channel::Channel;
pub(crate) use command::What;
pub(crate) use decide::Verdict;
pub use hub::{Hub, Started};
pub(crate) use news::News;
pub use outbox::{Outbox, Parcel, Taken};
pub(crate) use outputs::{CONTENT, DETAILS};
pub use refusal::Refusal;
pub use retention::Retention;
pub(crate) use viewers::Viewing;
