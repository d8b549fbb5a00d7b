use pilothouse_proto::hook::{HookDecision, HookSpecificOutput};
use pilothouse_proto::{HookEvent, HookOutput};
use pilothouse_rules::{Behavior, HookOpinion};
use serde_json::{Map, Value};

/// What all hooks of one occasion said together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// How many were told.
    pub told: usize,
    /// What they think of a tool call.
    pub opinions: Vec<HookOpinion>,
    /// Whether a hook puts the call off: it is neither run nor refused.
    pub deferred: bool,
    /// The arguments to use instead; the last hook wins.
    pub updated_input: Option<Map<String, Value>>,
    /// Texts for the model.
    pub contexts: Vec<String>,
    /// Why the action is blocked, if it is.
    pub block: Option<String>,
    /// Why everything is to stop after this, if it is; may be empty.
    pub stop: Option<String>,
    /// What else they said for their event.
    pub specific: Vec<HookSpecificOutput>,
    /// Why no answer can be relied on, if that is so.
    pub failure: Option<Failure>,
}

/// Why the hooks of an occasion gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A callback did not answer in time.
    TimedOut,
    /// The host registered its hooks anew while a callback was open.
    Replaced,
    /// A hook failed that must not fail.
    Failed,
    /// The host went away without an answer.
    HostGone,
}

/// What came of one hook.
#[derive(Debug)]
pub(crate) enum Told {
    /// It answered.
    Output(Box<HookOutput>),
    /// It printed text that is no answer.
    Text(String),
    /// It blocked by its exit code, and this is why.
    Blocked(String),
    /// It failed, and nothing comes of it.
    Ignored,
    /// No answer can be relied on.
    Failed(Failure),
}

impl Report {
    pub(crate) fn add(&mut self, event: &HookEvent, told: Told) {
        self.told += 1;
        match told {
            Told::Output(output) => self.add_output(event, *output),
            Told::Text(text) => {
                // Only what starts a conversation takes bare text for the model.
                let takes_text = matches!(event, HookEvent::SessionStart | HookEvent::UserPromptSubmit);
                if takes_text && !text.trim().is_empty() {
                    self.contexts.push(text);
                }
            }
            Told::Blocked(reason) => self.refuse(event, reason),
            Told::Ignored => {}
            Told::Failed(failure) => self.failure = self.failure.or(Some(failure)),
        }
    }

    /// Whether a hook is against a tool call.
    pub(crate) fn denies(&self) -> bool {
        self.opinions.iter().any(|opinion| opinion.behavior == Behavior::Deny)
    }

    fn refuse(&mut self, event: &HookEvent, reason: String) {
        if *event == HookEvent::PreToolUse {
            self.opinions.push(HookOpinion { behavior: Behavior::Deny, reason: Some(reason) });
        } else if self.block.is_none() {
            self.block = Some(reason);
        }
    }

    fn add_output(&mut self, event: &HookEvent, output: HookOutput) {
        if output.is_async.as_ref() == Some(&true) {
            return;
        }
        if output.proceed.as_ref() == Some(&false) && self.stop.is_none() {
            self.stop = Some(output.stop_reason.unwrap_or_default());
        }
        let reason = output.reason.into_option();
        match output.decision.into_option() {
            Some(HookDecision::Block) => {
                self.refuse(event, reason.unwrap_or_else(|| "a hook said no".into()))
            }
            Some(HookDecision::Approve) if *event == HookEvent::PreToolUse => {
                self.opinions.push(HookOpinion { behavior: Behavior::Allow, reason });
            }
            _ => {}
        }
        let Some(specific) = output.hook_specific_output.into_option() else { return };
        if specific.tag() != event.as_str() {
            // An answer to another question is none that a call could be let through by.
            self.failure = self.failure.or(Some(Failure::Failed));
            return;
        }
        if let Some(text) = additional_context(&specific).filter(|text| !text.is_empty()) {
            self.contexts.push(text.to_owned());
        }
        if let HookSpecificOutput::PreToolUse(pre) = &specific {
            let decision = pre.permission_decision.as_ref().map(|decision| decision.as_str().into());
            let reason = pre.permission_decision_reason.as_ref().cloned();
            self.deferred |= pre.permission_decision.as_ref().is_some_and(|said| said.as_str() == "defer");
            self.opinions.extend(decision.and_then(|decision| HookOpinion::new(&decision, reason)));
            if let Some(input) = pre.updated_input.as_ref() {
                self.updated_input = Some(input.clone());
            }
        }
        self.specific.push(specific);
    }
}

fn additional_context(specific: &HookSpecificOutput) -> Option<&str> {
    macro_rules! of {
        ($($Variant:ident),*) => {
            match specific {
                $( HookSpecificOutput::$Variant(output) => output.additional_context.as_deref(), )*
                _ => None,
            }
        };
    }
    of!(
        PreToolUse,
        PostToolUse,
        PostToolUseFailure,
        PostToolBatch,
        Notification,
        UserPromptSubmit,
        UserPromptExpansion,
        SessionStart,
        Stop,
        SubagentStart,
        SubagentStop,
        PostModelSwitch,
        Setup
    )
}
