//! `system` frames: what the CLI tells its host besides the conversation.

mod hook;
mod init;
mod model;
mod notice;
mod session;
mod task;

pub use hook::*;
pub use init::*;
pub use model::*;
pub use notice::*;
pub use session::*;
pub use task::*;

use crate::wire::union;

union! {
    /// A `system` frame, told apart by `subtype`.
    pub enum System by "subtype" {
        /// The session's metadata, at the start of each turn.
        "init" => Init(Box<Init>),
        /// What the CLI is doing.
        "status" => Status(Box<SystemStatus>),
        /// The conversation was compacted.
        "compact_boundary" => CompactBoundary(Box<CompactBoundary>),
        /// Whether the run is going on.
        "session_state_changed" => SessionStateChanged(Box<SessionStateChanged>),
        /// An API call is tried again.
        "api_retry" => ApiRetry(Box<ApiRetry>),
        /// How far a request of the host has come.
        "control_request_progress" => ControlRequestProgress(Box<ControlRequestProgress>),
        /// The model refused; another one took over.
        "model_refusal_fallback" => ModelRefusalFallback(Box<ModelRefusalFallback>),
        /// The model refused; no other one took over.
        "model_refusal_no_fallback" => ModelRefusalNoFallback(Box<ModelRefusalNoFallback>),
        /// The model could not be had; another one took over.
        "model_fallback" => ModelFallback(Box<ModelFallback>),
        /// What a slash command printed.
        "local_command_output" => LocalCommandOutput(Box<LocalCommandOutput>),
        /// A hook began.
        "hook_started" => HookStarted(Box<HookStarted>),
        /// A hook goes on.
        "hook_progress" => HookProgress(Box<HookProgress>),
        /// A hook finished.
        "hook_response" => HookResponse(Box<HookResponse>),
        /// Plugins are being installed.
        "plugin_install" => PluginInstall(Box<PluginInstall>),
        /// A task began.
        "task_started" => TaskStarted(Box<TaskStarted>),
        /// A task goes on.
        "task_progress" => TaskProgress(Box<TaskProgress>),
        /// A task changed.
        "task_updated" => TaskUpdated(Box<TaskUpdated>),
        /// A task ended.
        "task_notification" => TaskNotification(Box<TaskNotification>),
        /// All tasks in the background.
        "background_tasks_changed" => BackgroundTasksChanged(Box<BackgroundTasksChanged>),
        /// How much the model has thought.
        "thinking_tokens" => ThinkingTokens(Box<ThinkingTokens>),
        /// A worker is going away.
        "worker_shutting_down" => WorkerShuttingDown(Box<WorkerShuttingDown>),
        /// The slash commands changed.
        "commands_changed" => CommandsChanged(Box<CommandsChanged>),
        /// A notification to show.
        "notification" => Notification(Box<Notification>),
        /// Files were kept.
        "files_persisted" => FilesPersisted(Box<FilesPersisted>),
        /// Memories were brought up.
        "memory_recall" => MemoryRecall(Box<MemoryRecall>),
        /// An MCP server has what it asked for.
        "elicitation_complete" => ElicitationComplete(Box<ElicitationComplete>),
        /// A tool call was refused without asking.
        "permission_denied" => PermissionDenied(Box<PermissionDenied>),
        /// A session store failed.
        "mirror_error" => MirrorError(Box<MirrorError>),
        /// A line to show.
        "informational" => Informational(Box<Informational>),
        /// The disk was full.
        "session_writes_lost" => SessionWritesLost(Box<SessionWritesLost>),
        /// The session has a new title.
        "session_title_changed" => SessionTitleChanged(Box<SessionTitleChanged>),
        /// Version control changed.
        "vcs_state_changed" => VcsStateChanged(Box<VcsStateChanged>),
    }
}
