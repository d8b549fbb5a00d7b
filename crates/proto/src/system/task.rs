use serde_json::Number;

use crate::mcp::McpResourceLink;
use crate::wire::{Opt, SessionId, TaskId, ToolUseId, Uuid, open_enum, record};

record! {
    /// A task began: a subagent, a shell, a monitor, a workflow, an MCP task.
    #[derive(Default)]
    pub struct TaskStarted {
        /// The task.
        task_id: TaskId,
        /// Id of one run of the task; new on resume; sorts in run order.
        run_id: Opt<String>,
        /// The tool call.
        tool_use_id: Opt<ToolUseId>,
        /// What it is about.
        description: String,
        /// The type of the subagent.
        subagent_type: Opt<String>,
        /// Whether it runs in the background.
        is_backgrounded: Opt<bool>,
        /// How deep it is nested; 1 is a subagent of the main loop.
        spawn_depth: Opt<u64>,
        /// The subagent task that started this one.
        parent_task_id: Opt<TaskId>,
        /// Such as `local_agent`, `local_bash`, `local_workflow`, `mcp_task`.
        task_type: Opt<String>,
        /// The workflow, for workflow tasks.
        workflow_name: Opt<String>,
        /// The prompt.
        prompt: Opt<String>,
        /// Set for housekeeping that need not be shown.
        skip_transcript: Opt<bool>,
        /// Set when users need not see it as activity.
        ambient: Opt<bool>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// What a task has done so far.
    pub struct TaskProgress {
        /// The task.
        task_id: TaskId,
        /// Id of one run of the task; new on resume; sorts in run order.
        run_id: Opt<String>,
        /// The tool call.
        tool_use_id: Opt<ToolUseId>,
        /// What it is about.
        description: String,
        /// The type of the subagent.
        subagent_type: Opt<String>,
        /// What it used.
        usage: TaskUsage,
        /// The tool it used last.
        last_tool_name: Opt<String>,
        /// One-line status.
        summary: Opt<String>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// What a task has used so far.
    #[derive(Default)]
    pub struct TaskUsage {
        /// Tokens altogether.
        total_tokens: u64,
        /// Tool calls.
        tool_uses: u64,
        /// How long it has been running.
        duration_ms: Opt<Number>,
    }

    /// A task changed. A final status here may be the only sign of its end.
    pub struct TaskUpdated {
        /// The task.
        task_id: TaskId,
        /// Id of one run of the task; new on resume; sorts in run order.
        run_id: Opt<String>,
        /// The changed fields, to be merged into what is known.
        patch: TaskPatch,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// The changed fields of a task.
    #[derive(Default)]
    pub struct TaskPatch {
        /// The state.
        status: Opt<TaskStatus>,
        /// What it is about.
        description: Opt<String>,
        /// When it ended.
        end_time: Opt<Number>,
        /// How long it was paused.
        total_paused_ms: Opt<Number>,
        /// What went wrong.
        error: Opt<String>,
        /// Whether it runs in the background.
        is_backgrounded: Opt<bool>,
    }

    /// A task ended.
    pub struct TaskNotification {
        /// The task.
        task_id: TaskId,
        /// Id of one run of the task; new on resume; sorts in run order.
        run_id: Opt<String>,
        /// The tool call.
        tool_use_id: Opt<ToolUseId>,
        /// The state.
        status: TaskEnd,
        /// Why, for tasks that lost their process.
        reason: Opt<TaskEndReason>,
        /// Where its output is.
        output_file: String,
        /// A summary.
        summary: String,
        /// What it used.
        usage: Opt<TaskUsage>,
        /// Files that an MCP task returned.
        resource_links: Opt<Vec<McpResourceLink>>,
        /// Set for housekeeping that need not be shown.
        skip_transcript: Opt<bool>,
        /// Not user-visible activity; keep out of busy indicators.
        ambient: Opt<bool>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// All tasks in the background, whenever one comes or goes: replace, do not merge.
    #[derive(Default)]
    pub struct BackgroundTasksChanged {
        /// The tasks.
        tasks: Vec<BackgroundTask>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// A task that runs in the background.
    #[derive(Default)]
    pub struct BackgroundTask {
        /// The task.
        task_id: TaskId,
        /// Names one run of the task; new on resume.
        run_id: Opt<String>,
        /// The kind of task.
        task_type: String,
        /// The type of the subagent.
        subagent_type: Opt<String>,
        /// What it is about.
        description: String,
        /// The task that started it.
        parent_task_id: Opt<TaskId>,
        /// Set when users need not see it as activity.
        ambient: Opt<bool>,
    }
}

open_enum! {
    /// The state of a task.
    pub enum TaskStatus {
        Pending = "pending",
        Running = "running",
        Completed = "completed",
        Failed = "failed",
        Killed = "killed",
        Paused = "paused",
    }

    /// How a task ended.
    pub enum TaskEnd {
        Completed = "completed",
        Failed = "failed",
        Stopped = "stopped",
    }

    /// Why a task lost its process.
    pub enum TaskEndReason {
        WorkerRestart = "worker_restart",
    }
}
