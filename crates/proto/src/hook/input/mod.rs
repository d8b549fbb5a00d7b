mod lifecycle;
mod tool;
mod turn;
mod workspace;

pub use lifecycle::*;
pub use tool::*;
pub use turn::*;
pub use workspace::*;

use crate::wire::{AgentId, Opt, SessionId, record, union};

/// Declares hook inputs: what every event tells, then what the event itself adds.
macro_rules! hook_inputs {
    ($( $(#[doc = $doc:literal])* $(#[derive($derive:ident)])? pub struct $Name:ident { $($field:tt)* } )+) => {
        $crate::wire::record! {$(
            $(#[doc = $doc])*
            $(#[derive($derive)])?
            pub struct $Name {
                /// The session.
                session_id: $crate::wire::SessionId,
                /// The transcript of the session.
                transcript_path: String,
                /// The working directory.
                cwd: String,
                /// Names the prompt that led here.
                prompt_id: $crate::wire::Opt<String>,
                /// The permission mode.
                permission_mode: $crate::wire::Opt<String>,
                /// The subagent this happens in.
                agent_id: $crate::wire::Opt<$crate::wire::AgentId>,
                /// The type of that subagent, or the main agent's name.
                agent_type: $crate::wire::Opt<String>,
                /// How much the model thinks.
                effort: $crate::wire::Opt<$crate::hook::HookEffort>,
                $($field)*
            }
        )+}
    };
}

pub(crate) use hook_inputs;

/// Declares the union of hook inputs with access to what all of them tell.
macro_rules! hook_events {
    ($( $(#[doc = $doc:literal])* $tag:literal => $Variant:ident($ty:ty), )+) => {
        union! {
            /// What a hook is told, told apart by `hook_event_name`.
            pub enum HookInput by "hook_event_name" {
                $( $(#[doc = $doc])* $tag => $Variant($ty), )+
            }
        }

        /// An event without a name.
        impl Default for HookInput {
            fn default() -> Self {
                Self::Unknown($crate::wire::Unknown::default())
            }
        }

        impl HookInput {
            /// What every event tells; `None` for an event that this version does not know.
            pub fn base(&self) -> Option<HookBase<'_>> {
                Some(match self {
                    $( Self::$Variant(input) => HookBase {
                        session_id: &input.session_id,
                        transcript_path: &input.transcript_path,
                        cwd: &input.cwd,
                        permission_mode: input.permission_mode.as_deref(),
                        agent_id: input.agent_id.as_ref(),
                        agent_type: input.agent_type.as_deref(),
                    }, )+
                    Self::Unknown(_) => return None,
                })
            }
        }
    };
}

/// What every hook event tells.
#[derive(Clone, Copy, Debug)]
pub struct HookBase<'a> {
    /// The session.
    pub session_id: &'a SessionId,
    /// The transcript of the session.
    pub transcript_path: &'a str,
    /// The working directory.
    pub cwd: &'a str,
    /// The permission mode.
    pub permission_mode: Option<&'a str>,
    /// The subagent this happens in.
    pub agent_id: Option<&'a AgentId>,
    /// The type of that subagent, or the main agent's name.
    pub agent_type: Option<&'a str>,
}

record! {
    /// How much the model thinks.
    #[derive(Default)]
    pub struct HookEffort {
        /// The level.
        level: String,
        /// Where it was set.
        source: Opt<String>,
    }
}

hook_events! {
    /// A tool is about to run.
    "PreToolUse" => PreToolUse(Box<PreToolUseInput>),
    /// A tool has run.
    "PostToolUse" => PostToolUse(Box<PostToolUseInput>),
    /// A tool failed.
    "PostToolUseFailure" => PostToolUseFailure(Box<PostToolUseFailureInput>),
    /// All tool calls of one answer have run.
    "PostToolBatch" => PostToolBatch(Box<PostToolBatchInput>),
    /// The CLI notifies the user.
    "Notification" => Notification(Box<NotificationInput>),
    /// The user sent a prompt.
    "UserPromptSubmit" => UserPromptSubmit(Box<UserPromptSubmitInput>),
    /// A slash command or an MCP prompt was expanded.
    "UserPromptExpansion" => UserPromptExpansion(Box<UserPromptExpansionInput>),
    /// A session begins.
    "SessionStart" => SessionStart(Box<SessionStartInput>),
    /// A session ends.
    "SessionEnd" => SessionEnd(Box<SessionEndInput>),
    /// The model is about to stop.
    "Stop" => Stop(Box<StopInput>),
    /// A turn ended on an API error.
    "StopFailure" => StopFailure(Box<StopFailureInput>),
    /// A subagent begins.
    "SubagentStart" => SubagentStart(Box<SubagentStartInput>),
    /// A subagent is about to stop.
    "SubagentStop" => SubagentStop(Box<SubagentStopInput>),
    /// The conversation is about to be compacted.
    "PreCompact" => PreCompact(Box<PreCompactInput>),
    /// The conversation was compacted.
    "PostCompact" => PostCompact(Box<PostCompactInput>),
    /// The model is about to be changed.
    "PreModelSwitch" => PreModelSwitch(Box<PreModelSwitchInput>),
    /// The model was changed.
    "PostModelSwitch" => PostModelSwitch(Box<PostModelSwitchInput>),
    /// The user is about to be asked about a tool call.
    "PermissionRequest" => PermissionRequest(Box<PermissionRequestInput>),
    /// A tool call was refused.
    "PermissionDenied" => PermissionDenied(Box<PermissionDeniedInput>),
    /// The CLI sets itself up.
    "Setup" => Setup(Box<SetupInput>),
    /// A teammate has nothing to do.
    "TeammateIdle" => TeammateIdle(Box<TeammateIdleInput>),
    /// A task was put on the list.
    "TaskCreated" => TaskCreated(Box<TaskCreatedInput>),
    /// A task of the list is done.
    "TaskCompleted" => TaskCompleted(Box<TaskCompletedInput>),
    /// An MCP server asks the user something.
    "Elicitation" => Elicitation(Box<ElicitationInput>),
    /// The user answered an MCP server.
    "ElicitationResult" => ElicitationResult(Box<ElicitationResultInput>),
    /// A settings file changed.
    "ConfigChange" => ConfigChange(Box<ConfigChangeInput>),
    /// A worktree is to be made.
    "WorktreeCreate" => WorktreeCreate(Box<WorktreeCreateInput>),
    /// A worktree is to be removed.
    "WorktreeRemove" => WorktreeRemove(Box<WorktreeRemoveInput>),
    /// A file with instructions was loaded.
    "InstructionsLoaded" => InstructionsLoaded(Box<InstructionsLoadedInput>),
    /// The working directory changed.
    "CwdChanged" => CwdChanged(Box<CwdChangedInput>),
    /// A watched file changed.
    "FileChanged" => FileChanged(Box<FileChangedInput>),
    /// A directory was added to the workspace.
    "DirectoryAdded" => DirectoryAdded(Box<DirectoryAddedInput>),
    /// A piece of an answer is about to be shown.
    "MessageDisplay" => MessageDisplay(Box<MessageDisplayInput>),
}
