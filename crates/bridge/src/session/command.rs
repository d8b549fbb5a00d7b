//! What a session can be asked to do.

use tokio::sync::oneshot;

use super::decide::Verdict;
use super::refusal::Refusal;
use crate::api::{ApprovalId, InputId, Reply};

/// A request to a session, with the device that makes it.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) what: What,
    pub(crate) by: String,
    pub(crate) answer: oneshot::Sender<Result<Reply, Refusal>>,
}

/// What is asked for.
#[derive(Debug)]
pub(crate) enum What {
    Input(crate::api::Input),
    Decide {
        id: ApprovalId,
        /// The digest of the request that the user was shown, if the client names it.
        digest: Option<String>,
        verdict: Verdict,
    },
    Interrupt,
    SetMode(String),
    SetModel(Option<String>),
    EditInput {
        input_id: InputId,
        text: String,
    },
    CancelInput(InputId),
    Rename(String),
    Archive(bool),
    Stop,
    /// The bridge shuts down: a session that is at rest ends, one that works is left to the next bridge.
    ShutDown,
}
