//! One call of a hook, which builds its own answers.

use pilothouse_link::Token;
use pilothouse_proto::control::HookCallback;
use pilothouse_proto::hook::{
    HookDecision, HookPermissionDecision, HookSpecificOutput, NotificationOutput, PostModelSwitchOutput,
    PostToolBatchOutput, PostToolUseFailureOutput, PostToolUseOutput, PreToolUseInput, PreToolUseOutput,
    SessionStartOutput, SetupOutput, StopOutput, SubagentStartOutput, SubagentStopOutput,
    UserPromptExpansionOutput, UserPromptSubmitOutput,
};
use pilothouse_proto::{HookInput, HookOutput, Opt, ToolUseId};
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
    /// What the CLI says happened.
    pub input: HookInput,
    /// The tool call it is about, for tool events.
    pub tool_use_id: Option<ToolUseId>,
    token: Token,
}

impl HookCall {
    pub(super) fn new(callback: HookCallback, token: Token) -> Self {
        Self { input: callback.input, tool_use_id: callback.tool_use_id.into_option(), token }
    }

    /// Cancelled when the CLI no longer waits for the hook, for instance on an interrupt.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.token
    }

    /// The event's name.
    pub fn event(&self) -> &str {
        self.input.tag()
    }

    /// The tool call that is about to run, if this is what happened.
    pub fn pre_tool_use(&self) -> Option<&PreToolUseInput> {
        match &self.input {
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
                match &self.input {
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
