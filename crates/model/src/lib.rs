//! Where an agent's words come from.
//!
//! A [`Model`] takes a [`Request`] and gives a [`Reply`], a stream of [`Event`]s: pieces of the answer, blocks as they
//! are completed, retries, and at last the whole [`Answer`] or an [`ApiFailure`].

mod answering;
mod api;
mod assemble;
mod event;
mod failure;
mod known;
mod ledger;
mod model;
mod money;
mod reply;
mod request;
mod retry;

pub use api::{ApiConfig, Credentials, MessagesApi};
pub use event::{Answer, Event, Retry};
pub use failure::{ApiFailure, FailureKind};
pub use known::{ModelInfo, Prices, ThinkingStyle};
pub use ledger::{Ledger, add_usage, full_usage};
pub use model::{Counting, Model};
pub use money::{Cost, Price};
pub use reply::{EventSink, Reply};
pub use request::{Purpose, Request, Thinking, ToolOffer};
