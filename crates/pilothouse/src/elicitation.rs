//! A question of an MCP server to the user.

use std::fmt;
use std::future::Future;
use std::ops::Deref;

use pilothouse_link::Token;
use pilothouse_proto::control::{Elicitation, ElicitationResult};
use pilothouse_proto::mcp::ElicitationAction;
use pilothouse_proto::{Extra, Opt};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::desk::{self, Callback, Responder};

/// Answers questions of MCP servers. Any `Fn(ElicitationRequest) -> impl Future<Output = ()>` is one.
pub trait ElicitationHandler: Send + Sync + 'static {
    /// Answers the request, or hands it to whoever will.
    fn answer(&self, request: ElicitationRequest) -> impl Future<Output = ()> + Send;
}

impl<F, Fut> ElicitationHandler for F
where
    F: Fn(ElicitationRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send,
{
    fn answer(&self, request: ElicitationRequest) -> impl Future<Output = ()> + Send {
        self(request)
    }
}

/// An open question. Reads like the [`Elicitation`] it holds; dropping it unanswered declines it.
#[must_use = "dropping a question declines it"]
pub struct ElicitationRequest {
    ask: Box<Elicitation>,
    token: Token,
    responder: Option<Responder>,
}

impl ElicitationRequest {
    /// Cancelled when the CLI withdraws the question.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.token
    }

    /// Gives the server what it asked for.
    pub fn accept(self, content: Map<String, Value>) {
        self.reply(ElicitationAction::Accept, Opt::Some(content));
    }

    /// The user does not want to answer.
    pub fn decline(self) {
        self.reply(ElicitationAction::Decline, Opt::Absent);
    }

    /// The user closed the question without choosing.
    pub fn cancel(self) {
        self.reply(ElicitationAction::Cancel, Opt::Absent);
    }

    fn reply(mut self, action: ElicitationAction, content: Opt<Map<String, Value>>) {
        if let Some(responder) = self.responder.take() {
            responder.success(&ElicitationResult { action, content, extra: Extra::new() });
        }
    }
}

impl Deref for ElicitationRequest {
    type Target = Elicitation;

    fn deref(&self) -> &Elicitation {
        &self.ask
    }
}

impl Drop for ElicitationRequest {
    fn drop(&mut self) {
        if let Some(responder) = self.responder.take() {
            decline(responder);
        }
    }
}

impl fmt::Debug for ElicitationRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElicitationRequest").field("ask", &self.ask).finish_non_exhaustive()
    }
}

pub(crate) fn serve(
    handler: Option<&Callback<ElicitationRequest>>,
    ask: Box<Elicitation>,
    token: Token,
    responder: Responder,
) {
    match handler {
        Some(handler) => {
            desk::run(handler.call(ElicitationRequest { ask, token, responder: Some(responder) }));
        }
        None => decline(responder),
    }
}

fn decline(responder: Responder) {
    responder.success(&ElicitationResult {
        action: ElicitationAction::Decline,
        content: Opt::Absent,
        extra: Extra::new(),
    });
}
