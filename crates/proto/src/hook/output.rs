use serde_json::{Map, Number, Value};

use crate::mcp::ElicitationAction;
use crate::wire::{Opt, open_enum, record, union};

record! {
    /// What a `PreToolUse` hook may add.
    #[derive(Default)]
    pub struct PreToolUseOutput {
        /// What to do with the call.
        permission_decision as "permissionDecision": Opt<HookPermissionDecision>,
        /// Why.
        permission_decision_reason as "permissionDecisionReason": Opt<String>,
        /// The arguments to use instead.
        updated_input as "updatedInput": Opt<Map<String, Value>>,
        /// Text for the model.
        additional_context as "additionalContext": Opt<String>,
    }

    /// What a `PostToolUse` hook may add.
    #[derive(Default)]
    pub struct PostToolUseOutput {
        /// Text for the model.
        additional_context as "additionalContext": Opt<String>,
        /// Text for the classifier; at most 2000 characters count.
        classifier_context as "classifierContext": Opt<String>,
        /// The output to use instead.
        updated_tool_output as "updatedToolOutput": Opt<Value>,
        /// The output of an MCP tool to use instead; the older form.
        updated_mcp_tool_output as "updatedMCPToolOutput": Opt<Value>,
    }

    /// What a `PostToolUseFailure` hook may add.
    #[derive(Default)]
    pub struct PostToolUseFailureOutput {
        /// Text for the model.
        additional_context as "additionalContext": Opt<String>,
    }

    /// What a `PostToolBatch` hook may add.
    #[derive(Default)]
    pub struct PostToolBatchOutput {
        /// Text for the model.
        additional_context as "additionalContext": Opt<String>,
    }

    /// What a `Notification` hook may add.
    #[derive(Default)]
    pub struct NotificationOutput {
        /// Text for the model.
        additional_context as "additionalContext": Opt<String>,
    }

    /// What a `UserPromptSubmit` hook may add.
    #[derive(Default)]
    pub struct UserPromptSubmitOutput {
        /// Text for the model.
        additional_context as "additionalContext": Opt<String>,
        /// The title of the session.
        session_title as "sessionTitle": Opt<String>,
        /// Whether to drop the prompt itself.
        suppress_original_prompt as "suppressOriginalPrompt": Opt<bool>,
    }

    /// What a `UserPromptExpansion` hook may add.
    #[derive(Default)]
    pub struct UserPromptExpansionOutput {
        /// Text for the model.
        additional_context as "additionalContext": Opt<String>,
        /// Whether to drop the prompt itself.
        suppress_original_prompt as "suppressOriginalPrompt": Opt<bool>,
    }

    /// What a `SessionStart` hook may add.
    #[derive(Default)]
    pub struct SessionStartOutput {
        /// Text for the model.
        additional_context as "additionalContext": Opt<String>,
        /// A message to start with.
        initial_user_message as "initialUserMessage": Opt<String>,
        /// The title of the session.
        session_title as "sessionTitle": Opt<String>,
        /// Paths to watch.
        watch_paths as "watchPaths": Opt<Vec<String>>,
        /// Whether to load skills anew.
        reload_skills as "reloadSkills": Opt<bool>,
    }

    /// What a `Stop` hook may add.
    #[derive(Default)]
    pub struct StopOutput {
        /// Text for the model.
        additional_context as "additionalContext": Opt<String>,
    }

    /// What a `SubagentStart` hook may add.
    #[derive(Default)]
    pub struct SubagentStartOutput {
        /// Text for the model.
        additional_context as "additionalContext": Opt<String>,
    }

    /// What a `SubagentStop` hook may add.
    #[derive(Default)]
    pub struct SubagentStopOutput {
        /// Text for the model.
        additional_context as "additionalContext": Opt<String>,
    }

    /// What a `PreModelSwitch` hook may add.
    #[derive(Default)]
    pub struct PreModelSwitchOutput {
        /// What to do with the call.
        permission_decision as "permissionDecision": Opt<HookPermissionDecision>,
        /// Why.
        permission_decision_reason as "permissionDecisionReason": Opt<String>,
    }

    /// What a `PostModelSwitch` hook may add.
    #[derive(Default)]
    pub struct PostModelSwitchOutput {
        /// Text for the model.
        additional_context as "additionalContext": Opt<String>,
    }

    /// What a `PermissionRequest` hook may add.
    pub struct PermissionRequestOutput {
        /// The decision.
        decision: PermissionRequestDecision,
    }

    /// What a `PermissionDenied` hook may add.
    #[derive(Default)]
    pub struct PermissionDeniedOutput {
        /// Whether the model may try again.
        retry: Opt<bool>,
    }

    /// What a `Setup` hook may add.
    #[derive(Default)]
    pub struct SetupOutput {
        /// Text for the model.
        additional_context as "additionalContext": Opt<String>,
    }

    /// What a `Elicitation` hook may add.
    #[derive(Default)]
    pub struct ElicitationOutput {
        /// What the user did.
        action: Opt<ElicitationAction>,
        /// The content.
        content: Opt<Map<String, Value>>,
    }

    /// What a `ElicitationResult` hook may add.
    #[derive(Default)]
    pub struct ElicitationResultOutput {
        /// What the user did.
        action: Opt<ElicitationAction>,
        /// The content.
        content: Opt<Map<String, Value>>,
    }

    /// What a `WorktreeCreate` hook may add.
    #[derive(Default)]
    pub struct WorktreeCreateOutput {
        /// The worktree.
        worktree_path as "worktreePath": String,
    }

    /// What a `CwdChanged` hook may add.
    #[derive(Default)]
    pub struct CwdChangedOutput {
        /// Paths to watch.
        watch_paths as "watchPaths": Opt<Vec<String>>,
    }

    /// What a `FileChanged` hook may add.
    #[derive(Default)]
    pub struct FileChangedOutput {
        /// Paths to watch.
        watch_paths as "watchPaths": Opt<Vec<String>>,
    }

    /// What a `MessageDisplay` hook may add.
    #[derive(Default)]
    pub struct MessageDisplayOutput {
        /// What to show instead.
        display_content as "displayContent": Opt<String>,
    }
}

open_enum! {
    /// What a hook decides about a tool call.
    pub enum HookPermissionDecision {
        Allow = "allow",
        Deny = "deny",
        Ask = "ask",
        Defer = "defer",
    }
}

union! {
    /// What a hook adds for its own event, told apart by `hookEventName`.
    pub enum HookSpecificOutput by "hookEventName" {
        "PreToolUse" => PreToolUse(PreToolUseOutput),
        "PostToolUse" => PostToolUse(PostToolUseOutput),
        "PostToolUseFailure" => PostToolUseFailure(PostToolUseFailureOutput),
        "PostToolBatch" => PostToolBatch(PostToolBatchOutput),
        "Notification" => Notification(NotificationOutput),
        "UserPromptSubmit" => UserPromptSubmit(UserPromptSubmitOutput),
        "UserPromptExpansion" => UserPromptExpansion(UserPromptExpansionOutput),
        "SessionStart" => SessionStart(SessionStartOutput),
        "Stop" => Stop(StopOutput),
        "SubagentStart" => SubagentStart(SubagentStartOutput),
        "SubagentStop" => SubagentStop(SubagentStopOutput),
        "PreModelSwitch" => PreModelSwitch(PreModelSwitchOutput),
        "PostModelSwitch" => PostModelSwitch(PostModelSwitchOutput),
        "PermissionRequest" => PermissionRequest(PermissionRequestOutput),
        "PermissionDenied" => PermissionDenied(PermissionDeniedOutput),
        "Setup" => Setup(SetupOutput),
        "Elicitation" => Elicitation(ElicitationOutput),
        "ElicitationResult" => ElicitationResult(ElicitationResultOutput),
        "WorktreeCreate" => WorktreeCreate(WorktreeCreateOutput),
        "CwdChanged" => CwdChanged(CwdChangedOutput),
        "FileChanged" => FileChanged(FileChangedOutput),
        "MessageDisplay" => MessageDisplay(MessageDisplayOutput),
    }

    /// What a `PermissionRequest` hook decides.
    pub enum PermissionRequestDecision by "behavior" {
        /// The call may run.
        "allow" => Allow(crate::permission::PermissionAllow),
        /// The call may not run.
        "deny" => Deny(crate::permission::PermissionDeny),
    }
}

record! {
    /// What a hook answers. An empty one has no opinion.
    #[derive(Default)]
    pub struct HookOutput {
        /// True lets the CLI go on without waiting for the hook.
        is_async as "async": Opt<bool>,
        /// How long such a hook may take, in milliseconds.
        async_timeout as "asyncTimeout": Opt<Number>,
        /// False stops the turn.
        proceed as "continue": Opt<bool>,
        /// Whether to keep the output out of the transcript.
        suppress_output as "suppressOutput": Opt<bool>,
        /// What to show when the turn stops.
        stop_reason as "stopReason": Opt<String>,
        /// Whether the action is blocked; the older form.
        decision: Opt<HookDecision>,
        /// A text for the user.
        system_message as "systemMessage": Opt<String>,
        /// Terminal codes; only titles, notifications and the bell pass.
        terminal_sequence as "terminalSequence": Opt<String>,
        /// A text for the model.
        reason: Opt<String>,
        /// What the hook adds for its own event.
        hook_specific_output as "hookSpecificOutput": Opt<HookSpecificOutput>,
    }
}

open_enum! {
    /// Whether an action is blocked.
    pub enum HookDecision {
        /// It is not; the older form.
        Approve = "approve",
        /// It is.
        Block = "block",
    }
}
