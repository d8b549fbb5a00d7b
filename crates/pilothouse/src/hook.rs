//! Hooks: the host takes part in what the CLI does.
//!
//! A CLI takes an error in answer to a hook as "no opinion" and goes on. So a hook here always answers with an output:
//! one that panics, takes too long, or is dropped is answered with its failure output, which blocks what a
//! `PreToolUse` hook guards, before the CLI's own patience ends.

mod call;
mod failure;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use pilothouse_link::Token;
use pilothouse_proto::control::HookCallback;
use pilothouse_proto::hook::HookCallbackMatcher;
use pilothouse_proto::{HookOutput, Opt};
use serde_json::{Map, Number, Value};

use crate::desk::{Callback, Responder};
pub use call::HookCall;
use call::Told;
use failure::failure_output;
pub use pilothouse_proto::HookEvent;
pub use pilothouse_proto::hook::OnFailure;

/// How long a hook may take unless its matcher says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Takes part in an event. Any `Fn(HookCall) -> impl Future<Output = HookOutput>` is one.
pub trait HookHandler: Send + Sync + 'static {
    /// Looks at the event and says what the hook wants; [`HookCall`] builds every kind of answer.
    fn run(&self, call: HookCall) -> impl Future<Output = HookOutput> + Send;
}

impl<F, Fut> HookHandler for F
where
    F: Fn(HookCall) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = HookOutput> + Send,
{
    fn run(&self, call: HookCall) -> impl Future<Output = HookOutput> + Send {
        self(call)
    }
}

/// Which calls of an event a hook is for, how long it may take, and what its failure means.
///
/// ```
/// use pilothouse::{Matcher, OnFailure};
/// use std::time::Duration;
///
/// let edits = Matcher::tool("Write|Edit").timeout(Duration::from_secs(5));
/// let watcher = Matcher::all().on_failure(OnFailure::Continue);
/// # let _ = (edits, watcher);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Matcher {
    pattern: Option<String>,
    timeout: Duration,
    on_failure: Option<OnFailure>,
}

impl Matcher {
    /// Every call of the event.
    pub fn all() -> Self {
        Self { pattern: None, timeout: DEFAULT_TIMEOUT, on_failure: None }
    }

    /// Calls of these tools: a name, several with `|` between them, or a regular expression.
    pub fn tool(pattern: impl Into<String>) -> Self {
        Self { pattern: Some(pattern.into()), ..Self::all() }
    }

    /// How long the hook may take, 60 s by default. The CLI gives up at this time; this side answers a little earlier.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// What it means when the hook panics or takes too long. By default hooks that guard something block it, and this side
    /// answers so even to a CLI that would let it pass. To one that does not say that it blocks too, whoever asks for
    /// [`OnFailure::Block`] here does not get connected.
    pub fn on_failure(mut self, meaning: OnFailure) -> Self {
        self.on_failure = Some(meaning);
        self
    }

    /// The time after which this side answers for the hook: early enough to be heard.
    fn host_limit(&self) -> Duration {
        let margin = (self.timeout / 10).clamp(Duration::from_millis(20), Duration::from_secs(1));
        self.timeout.saturating_sub(margin)
    }
}

/// All hooks of a session, in the order they were added.
#[derive(Clone, Default)]
pub(crate) struct Hooks(Vec<Hook>);

#[derive(Clone)]
struct Hook {
    event: HookEvent,
    matcher: Matcher,
    handler: Callback<HookCall, HookOutput>,
}

impl Hooks {
    pub(crate) fn add(&mut self, event: HookEvent, matcher: Matcher, handler: impl HookHandler) {
        let handler = Arc::new(handler);
        let handler = Callback::new(move |call| {
            let handler = Arc::clone(&handler);
            Box::pin(async move { handler.run(call).await })
        });
        self.0.push(Hook { event, matcher, handler });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a matcher demands that failures block. Where none does, this side's own early answer has to do.
    pub(crate) fn must_block(&self) -> bool {
        self.0.iter().any(|hook| hook.matcher.on_failure == Some(OnFailure::Block))
    }

    /// What `initialize` registers.
    pub(crate) fn registration(&self) -> BTreeMap<HookEvent, Vec<HookCallbackMatcher>> {
        let mut events: BTreeMap<HookEvent, Vec<HookCallbackMatcher>> = BTreeMap::new();
        for (index, hook) in self.0.iter().enumerate() {
            let seconds = Number::from_f64(hook.matcher.timeout.as_secs_f64());
            events.entry(hook.event.clone()).or_default().push(HookCallbackMatcher {
                matcher: hook.matcher.pattern.clone().into(),
                hook_callback_ids: vec![id(index)],
                timeout: seconds.into(),
                on_failure: hook.on_failure().map_or(Opt::Absent, Opt::Some),
                ..HookCallbackMatcher::default()
            });
        }
        events
    }

    fn get(&self, callback_id: &str) -> Option<&Hook> {
        let index: usize = callback_id.strip_prefix("hook_")?.parse().ok()?;
        self.0.get(index)
    }
}

impl Hook {
    /// What its failure means to the CLI. Only said where it differs from the CLI's own default.
    fn on_failure(&self) -> Option<OnFailure> {
        match &self.matcher.on_failure {
            Some(OnFailure::Continue) => None,
            Some(meaning) => Some(meaning.clone()),
            None => failure::guards(&self.event).then_some(OnFailure::Block),
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|hook| hook.event.as_str())).finish()
    }
}

fn id(index: usize) -> String {
    format!("hook_{index}")
}

/// Runs the hook: its first step here, the rest in a task of its own, against the clock.
pub(crate) fn serve(hooks: &Hooks, callback: HookCallback, token: Token, responder: Responder) {
    let Some(hook) = hooks.get(&callback.callback_id) else {
        return responder.error(format!("no hook is registered as `{}`", callback.callback_id));
    };
    let call = HookCall::new(callback, hook.event.clone(), token);
    let mut answer = Answer::of(hook, responder);
    answer.told = Some(call.told());
    let limit = hook.matcher.host_limit();
    let mut running = hook.handler.call(call);
    if let Poll::Ready(output) = running.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return answer.give(&output);
    }
    tokio::spawn(async move {
        if let Ok(output) = tokio::time::timeout(limit, running).await {
            answer.give(&output);
        }
    });
}

/// A call whose input cannot be read is one that its hook failed in.
pub(crate) fn fail_unreadable(hooks: &Hooks, call: &Map<String, Value>, responder: Responder) {
    let id = call.get("callback_id").and_then(Value::as_str).unwrap_or_default();
    match hooks.get(id) {
        // Dropped unanswered, it answers for the hook.
        Some(hook) => drop(Answer::of(hook, responder)),
        None => responder.error(format!("no hook is registered as `{id}`")),
    }
}

/// Answers when it is dropped, so that neither a panic nor a runtime that shuts down leaves the CLI with "no opinion".
struct Answer {
    responder: Option<Responder>,
    /// None if it could not be read at all.
    told: Option<Arc<Told>>,
    event: HookEvent,
    blocks: bool,
}

impl Answer {
    fn of(hook: &Hook, responder: Responder) -> Self {
        let blocks = hook.on_failure().is_some();
        Self { responder: Some(responder), told: None, event: hook.event.clone(), blocks }
    }

    /// Gives what the hook decided, unless it could not see what about.
    fn give(&mut self, output: &HookOutput) {
        if self.told.as_ref().is_some_and(|told| told.was_misread()) {
            return;
        }
        if let Some(responder) = self.responder.take() {
            responder.success(output);
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if self.responder.is_some() {
            tracing::warn!(
                event = self.event.as_str(),
                blocks = self.blocks,
                "a hook failed or took too long"
            );
            let output = if self.blocks { failure_output(&self.event) } else { HookOutput::default() };
            if let Some(responder) = self.responder.take() {
                responder.success(&output);
            }
        }
    }
}
