//! Where an agent's words come from.
//!
//! A [`Model`] takes a [`Request`] and gives a [`Reply`], a stream of [`Event`]s: pieces of the answer, blocks as they
//! are completed, retries, and at last the whole [`Answer`] or an [`ApiFailure`].

mod event;
mod failure;
mod model;
mod reply;
mod request;

pub use event::{Answer, Event, Retry};
pub use failure::{ApiFailure, FailureKind};
pub use model::{Counting, Model};
pub use reply::{EventSink, Reply};
pub use request::{Purpose, Request, Thinking, ToolOffer};
