//! Where an agent's words come from.
//!
//! A [`Model`] takes a [`Request`] and gives a [`Reply`], a stream of [`Event`]s: pieces of the answer, blocks as they
//! are completed, retries, and at last the whole [`Answer`] or an [`ApiFailure`].
//!
//! There are two models: the [`MessagesApi`] over the network, and a [`ScriptModel`] that says what a [`Script`] says. Both
//! retry, stop and fail in the same way, so an agent that was tested with scripts is tested.
//!
//! [`ModelInfo`] knows names, prices and sizes; a [`Ledger`] adds up what a session spends.

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
mod script;

pub use api::{ApiConfig, Credentials, MessagesApi};
pub use event::{Answer, Event, Retry};
pub use failure::{ApiFailure, FailureKind};
pub use known::{ModelInfo, Prices, ThinkingStyle};
pub use ledger::{Ledger, add_usage, full_usage};
pub use model::{Counting, Model};
pub use money::{Cost, Price};
pub use reply::{EventSink, Reply};
pub use request::{Purpose, Request, Thinking, ToolOffer};
pub use script::{
    ApiError, Block, Call, DEMO, Fault, FaultAction, Pace, Place, Script, ScriptError, ScriptModel,
    ScriptSyntax, Times, Turn, TurnUsage, When,
};
