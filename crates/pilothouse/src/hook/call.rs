//! One call of a hook, which builds its own answers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use pilothouse_link::Token;
use pilothouse_proto::control::HookCallback;
use pilothouse_proto::hook::{
    HookDecision, HookPermissionDecision, HookSpecificOutput, NotificationOutput, PostModelSwitchOutput,
    PostToolBatchOutput, PostToolUseFailureOutput, PostToolUseOutput, PreToolUseInput, PreToolUseOutput,
    SessionStartOutput, SetupOutput, StopOutput, SubagentStartOutput, SubagentStopOutput,
    UserPromptExpansionOutput, UserPromptSubmitOutput,
};
use pilothouse_proto::{HookEvent, HookInput, HookOutput, Lazy, Opt, ToolUseId};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// What happened, and the answers that fit it.
///
/// ```
/// use pilothouse::{HookCall, HookEvent, Matcher, Options};
///
/// let options = Options::new().hook(HookEvent::PreToolUse, Matcher::tool("Bash"), async |call: HookCall| {
///     match call.pre_tool_use().map(|tool| tool.tool_input["command"].to_string()) {
///         Some(command) if command.contains("rm ") => call.deny("nothing is deleted here"),
///         _ => call.pass(),
///     }
/// });
/// ```
#[derive(Debug)]
pub struct HookCall {
    /// The tool call it is about, for tool events.
    pub tool_use_id: Option<ToolUseId>,
    event: HookEvent,
    told: Arc<Told>,
    token: Token,
}

/// What the CLI says happened, shared with whoever answers for the hook.
#[derive(Debug)]
pub(super) struct Told {
    input: Lazy<HookInput>,
    /// The hook looked and could not see, so that whatever it decides was decided blindly.
    misread: AtomicBool,
}

impl Told {
    pub(super) fn was_misread(&self) -> bool {
        self.misread.load(Ordering::Acquire)
    }

    fn input(&self) -> &HookInput {
        static NOTHING: LazyLock<HookInput> = LazyLock::new(HookInput::default);
        self.input.read().unwrap_or_else(|error| {
            tracing::warn!(%error, "what a hook is told cannot be read");
            self.misread.store(true, Ordering::Release);
            &NOTHING
        })
    }
}

impl HookCall {
    pub(super) fn new(callback: HookCallback, event: HookEvent, token: Token) -> Self {
        let told = Told { input: callback.input, misread: AtomicBool::new(false) };
        Self { tool_use_id: callback.tool_use_id.into_option(), event, told: Arc::new(told), token }
    }

    pub(super) fn told(&self) -> Arc<Told> {
        Arc::clone(&self.told)
    }

    /// What the CLI says happened. Where that cannot be read this is [`HookInput::Unknown`] and empty, and the hook counts
    /// as failed, whatever it then answers.
    pub fn input(&self) -> &HookInput {
        self.told.input()
    }

    /// Cancelled when the CLI no longer waits for the hook, for instance on an interrupt.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.token
    }

    /// The event's name.
    pub fn event(&self) -> &str {
        self.event.as_str()
    }

    /// The tool call that is about to run, if this is what happened.
    pub fn pre_tool_use(&self) -> Option<&PreToolUseInput> {
        match self.input() {
            HookInput::PreToolUse(input) => Some(input),
            _ => None,
        }
    }

    /// No opinion.
    pub fn pass(&self) -> HookOutput {
        HookOutput::default()
    }

    /// Lets the tool call run without asking. Only for `PreToolUse`; rules that deny still win.
    pub fn allow(&self) -> HookOutput {
        decide(HookPermissionDecision::Allow, None, None)
    }

    /// Lets the tool call run with another input. Only for `PreToolUse`.
    pub fn allow_with(&self, input: Map<String, Value>) -> HookOutput {
        decide(HookPermissionDecision::Allow, None, Some(input))
    }

    /// Has the user asked about the tool call. Only for `PreToolUse`.
    pub fn ask(&self, reason: impl Into<String>) -> HookOutput {
        decide(HookPermissionDecision::Ask, Some(reason.into()), None)
    }

    /// Refuses the tool call and tells the model why. Only for `PreToolUse`.
    pub fn deny(&self, reason: impl Into<String>) -> HookOutput {
        decide(HookPermissionDecision::Deny, Some(reason.into()), None)
    }

    /// Blocks what the event is about, or has the model go on where it would stop; the reason is what it is told.
    pub fn block(&self, reason: impl Into<String>) -> HookOutput {
        HookOutput {
            decision: Opt::Some(HookDecision::Block),
            reason: Opt::Some(reason.into()),
            ..HookOutput::default()
        }
    }

    /// Ends the turn after this; the reason is shown to the user.
    pub fn stop(&self, reason: impl Into<String>) -> HookOutput {
        HookOutput {
            proceed: Opt::Some(false),
            stop_reason: Opt::Some(reason.into()),
            ..HookOutput::default()
        }
    }

    /// Shows a text to the user.
    pub fn tell_user(&self, text: impl Into<String>) -> HookOutput {
        HookOutput { system_message: Opt::Some(text.into()), ..HookOutput::default() }
    }

    /// Gives the model a text to know, for events that take one; for others it is the same as [`pass`](Self::pass).
    pub fn add_context(&self, text: impl Into<String>) -> HookOutput {
        let text = Opt::Some(text.into());
        /// The variants whose output takes additional context.
        macro_rules! specific {
            ($($Variant:ident($Output:ident)),* $(,)?) => {
                match self.input() {
                    $( HookInput::$Variant(_) => {
                        HookSpecificOutput::$Variant($Output { additional_context: text, ..$Output::default() })
                    } )*
                    _ => return HookOutput::default(),
                }
            };
        }
        let specific = specific!(
            PreToolUse(PreToolUseOutput),
            PostToolUse(PostToolUseOutput),
            PostToolUseFailure(PostToolUseFailureOutput),
            PostToolBatch(PostToolBatchOutput),
            Notification(NotificationOutput),
            UserPromptSubmit(UserPromptSubmitOutput),
            UserPromptExpansion(UserPromptExpansionOutput),
            SessionStart(SessionStartOutput),
            Setup(SetupOutput),
            Stop(StopOutput),
            SubagentStart(SubagentStartOutput),
            SubagentStop(SubagentStopOutput),
            PostModelSwitch(PostModelSwitchOutput),
        );
        HookOutput { hook_specific_output: Opt::Some(specific), ..HookOutput::default() }
    }
}

fn decide(
    decision: HookPermissionDecision,
    reason: Option<String>,
    updated_input: Option<Map<String, Value>>,
) -> HookOutput {
    let specific = PreToolUseOutput {
        permission_decision: Opt::Some(decision),
        permission_decision_reason: reason.map_or(Opt::Absent, Opt::Some),
        updated_input: updated_input.map_or(Opt::Absent, Opt::Some),
        ..PreToolUseOutput::default()
    };
    HookOutput {
        hook_specific_output: Opt::Some(HookSpecificOutput::PreToolUse(specific)),
        ..HookOutput::default()
    }
}
