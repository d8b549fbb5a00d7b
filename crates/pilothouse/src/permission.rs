//! A tool call that waits for a decision: the request builds its own reply.

use std::fmt;
use std::future::Future;
use std::ops::Deref;

use pilothouse_link::Token;
use pilothouse_proto::tool::Question;
use pilothouse_proto::{
    CanUseTool, Lazy, Opt, PermissionAllow, PermissionDecisionClassification, PermissionDeny,
    PermissionResult, PermissionUpdate, PermissionUpdateDestination,
};
use serde::Deserialize as _;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::desk::Responder;
use crate::question::Choice;

/// Decides about tool calls. Any `Fn(PermissionRequest) -> impl Future<Output = ()>` is one.
///
/// The handler may take as long as it likes; it may also move the request elsewhere and return, and the call stays open
/// until somebody answers it. There is no time limit on this side. Up to its first `await` it runs on the task that reads
/// the connection and must not block, no more than any async code; from there on it has a task of its own.
pub trait PermissionHandler: Send + Sync + 'static {
    /// Answers the request, or hands it to whoever will.
    fn decide(&self, request: PermissionRequest) -> impl Future<Output = ()> + Send;
}

impl<F, Fut> PermissionHandler for F
where
    F: Fn(PermissionRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send,
{
    fn decide(&self, request: PermissionRequest) -> impl Future<Output = ()> + Send {
        self(request)
    }
}

/// An open approval. Reads like the [`CanUseTool`] it holds.
///
/// Whoever holds it answers by one of the methods that consume it. Dropping it unanswered denies the call; answering
/// after the CLI has withdrawn it does nothing.
///
/// ```
/// use pilothouse::{Options, PermissionRequest};
///
/// let options = Options::new().on_permission(async |request: PermissionRequest| {
///     match request.tool_name.as_str() {
///         "Read" => request.allow(),
///         tool => { let reason = format!("{tool} is not for today"); request.deny(reason) }
///     }
/// });
/// ```
#[must_use = "dropping an approval denies it"]
pub struct PermissionRequest {
    ask: Box<CanUseTool>,
    token: Token,
    responder: Option<Responder>,
    /// How many events arrived before it.
    pub(crate) after: u64,
}

impl PermissionRequest {
    pub(crate) fn new(ask: Box<CanUseTool>, token: Token, responder: Responder, after: u64) -> Self {
        Self { ask, token, responder: Some(responder), after }
    }

    /// Cancelled when the CLI withdraws the request, for instance on an interrupt.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.token
    }

    /// The updates that the CLI proposes for "always allow"; none if they cannot be read.
    pub fn suggestions(&self) -> &[PermissionUpdate] {
        match self.ask.permission_suggestions.as_ref().map(Lazy::read) {
            Some(Ok(updates)) => updates,
            Some(Err(error)) => {
                tracing::warn!(%error, "the suggestions of an approval cannot be read");
                &[]
            }
            None => &[],
        }
    }

    /// The questions of an `AskUserQuestion` call; none for any other tool.
    pub fn questions(&self) -> Vec<Question> {
        if self.ask.tool_name != "AskUserQuestion" {
            return Vec::new();
        }
        self.ask.input.get("questions").and_then(|list| Vec::deserialize(list).ok()).unwrap_or_default()
    }

    /// Lets the call run as it is.
    pub fn allow(mut self) {
        match (PermissionResult::allow_text(&self.ask.input), self.responder.take()) {
            (Some(text), Some(responder)) => responder.success_text(&text),
            (_, responder) => {
                self.responder = responder;
                let input = std::mem::take(&mut self.ask.input);
                self.reply(PermissionResult::allow(input));
            }
        }
    }

    /// Lets the call run with another input. The model is not told.
    pub fn allow_with(self, input: Map<String, Value>) {
        self.reply(PermissionResult::allow(input));
    }

    /// Lets the call run and stores what the suggestion says, where it says.
    pub fn allow_always(self, suggestion: PermissionUpdate) {
        self.allow_updating([suggestion]);
    }

    /// Lets the call run and what is suggested with it, until the session ends.
    pub fn allow_for_session(self) {
        let updates: Vec<_> = self
            .suggestions()
            .iter()
            .map(|update| with_destination(update, PermissionUpdateDestination::Session))
            .collect();
        self.allow_updating(updates);
    }

    /// Lets the call run and applies these updates to rules, mode or directories.
    pub fn allow_updating(mut self, updates: impl IntoIterator<Item = PermissionUpdate>) {
        let updates: Vec<_> = updates.into_iter().collect();
        let lasting =
            updates.iter().any(|update| destination(update) != Some(&PermissionUpdateDestination::Session));
        let class = if lasting {
            PermissionDecisionClassification::UserPermanent
        } else {
            PermissionDecisionClassification::UserTemporary
        };
        let input = std::mem::take(&mut self.ask.input);
        self.reply(PermissionResult::Allow(PermissionAllow {
            updated_input: Opt::Some(input),
            updated_permissions: updates.into(),
            decision_classification: class.into(),
            ..PermissionAllow::default()
        }));
    }

    /// Refuses the call; the model is told why and goes on.
    pub fn deny(self, reason: impl Into<String>) {
        self.reply(PermissionResult::deny(reason));
    }

    /// Refuses the call and ends the turn.
    pub fn deny_and_stop(self, reason: impl Into<String>) {
        self.reply(PermissionResult::Deny(PermissionDeny {
            message: reason.into().into(),
            interrupt: true.into(),
            ..PermissionDeny::default()
        }));
    }

    /// Answers one question of an `AskUserQuestion` call; follow with [`allow`](Self::allow) when all are answered.
    ///
    /// A choice is the label of an option, several of them, or any other text.
    pub fn answer(mut self, question: &str, choice: impl Into<Choice>) -> Self {
        self.ask.input.change(|input| {
            let answers = input.entry("answers").or_insert_with(|| Value::Object(Map::new()));
            if !answers.is_object() {
                *answers = Value::Object(Map::new());
            }
            if let Value::Object(answers) = answers {
                answers.insert(question.to_owned(), Value::String(choice.into().into_text()));
            }
        });
        self
    }

    /// Answers with exactly this.
    pub fn reply(mut self, result: PermissionResult) {
        if let Some(responder) = self.responder.take() {
            responder.success(&result);
        }
    }
}

impl Deref for PermissionRequest {
    type Target = CanUseTool;

    fn deref(&self) -> &CanUseTool {
        &self.ask
    }
}

impl Drop for PermissionRequest {
    fn drop(&mut self) {
        if let Some(responder) = self.responder.take() {
            responder.success(&PermissionResult::deny("The host closed this request without a decision."));
        }
    }
}

impl fmt::Debug for PermissionRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermissionRequest").field("ask", &self.ask).finish_non_exhaustive()
    }
}

fn destination(update: &PermissionUpdate) -> Option<&PermissionUpdateDestination> {
    match update {
        PermissionUpdate::AddRules(update)
        | PermissionUpdate::ReplaceRules(update)
        | PermissionUpdate::RemoveRules(update) => update.destination.as_ref(),
        PermissionUpdate::SetMode(update) => update.destination.as_ref(),
        PermissionUpdate::AddDirectories(update) | PermissionUpdate::RemoveDirectories(update) => {
            update.destination.as_ref()
        }
        _ => None,
    }
}

fn with_destination(update: &PermissionUpdate, to: PermissionUpdateDestination) -> PermissionUpdate {
    let mut update = update.clone();
    match &mut update {
        PermissionUpdate::AddRules(update)
        | PermissionUpdate::ReplaceRules(update)
        | PermissionUpdate::RemoveRules(update) => update.destination = to.into(),
        PermissionUpdate::SetMode(update) => update.destination = to.into(),
        PermissionUpdate::AddDirectories(update) | PermissionUpdate::RemoveDirectories(update) => {
            update.destination = to.into();
        }
        _ => {}
    }
    update
}
