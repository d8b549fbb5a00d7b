use crate::wire::{Opt, TaskId, ToolUseId, record};

record! {
    /// Stops a task.
    #[derive(Default)]
    pub struct StopTask {
        /// The task.
        task_id: TaskId,
    }

    /// Moves running tools to the background.
    #[derive(Default)]
    pub struct BackgroundTasks {
        /// The tool call.
        tool_use_id: Opt<ToolUseId>,
    }

    /// Done; shape undeclared.
    #[derive(Default)]
    pub struct BackgroundTasksResponse {}

    /// Asks for the end of a task's output.
    #[derive(Default)]
    pub struct GetTaskOutput {
        /// The task.
        task_id: TaskId,
    }

    /// The last 8 KiB of it.
    #[derive(Default)]
    pub struct GetTaskOutputResponse {
        /// What it printed.
        output: String,
        /// How long all of it is.
        total_bytes: u64,
        /// Whether there is more.
        truncated: bool,
    }
}
