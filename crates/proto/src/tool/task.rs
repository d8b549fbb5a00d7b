use serde_json::{Map, Number, Value};

use super::TodoStatus;
use crate::wire::{Opt, TaskId, open_enum, record};

record! {
    /// Puts a task on the list.
    #[derive(Default)]
    pub struct TaskCreateInput {
        /// The title.
        subject: String,
        /// What it is about.
        description: String,
        /// How to say that it is going on.
        active_form as "activeForm": Opt<String>,
        /// Metadata.
        metadata: Opt<Map<String, Value>>,
    }

    /// The task.
    pub struct TaskCreateOutput {
        /// The task.
        task: CreatedTask,
    }

    /// The new task.
    #[derive(Default)]
    pub struct CreatedTask {
        /// Names it.
        id: String,
        /// The title.
        subject: String,
        /// What it is about.
        description: Opt<String>,
    }

    /// Looks at a task.
    #[derive(Default)]
    pub struct TaskGetInput {
        /// The task.
        task_id as "taskId": TaskId,
    }

    /// The task.
    #[derive(Default)]
    pub struct TaskGetOutput {
        /// The task.
        task: Option<TaskDetails>,
    }

    /// A task in full.
    pub struct TaskDetails {
        /// Names it.
        id: String,
        /// The title.
        subject: String,
        /// What it is about.
        description: String,
        /// The state.
        status: TodoStatus,
        /// Tasks that wait for it.
        blocks: Vec<String>,
        /// Tasks it waits for.
        blocked_by as "blockedBy": Vec<String>,
    }

    /// Changes a task.
    #[derive(Default)]
    pub struct TaskUpdateInput {
        /// The task.
        task_id as "taskId": TaskId,
        /// The title.
        subject: Opt<String>,
        /// What it is about.
        description: Opt<String>,
        /// How to say that it is going on.
        active_form as "activeForm": Opt<String>,
        /// The state.
        status: Opt<TaskUpdateStatus>,
        /// Tasks that wait for it.
        add_blocks as "addBlocks": Opt<Vec<String>>,
        /// Tasks it waits for.
        add_blocked_by as "addBlockedBy": Opt<Vec<String>>,
        /// Who does it.
        owner: Opt<String>,
        /// Metadata.
        metadata: Opt<Map<String, Value>>,
    }

    /// What changed.
    #[derive(Default)]
    pub struct TaskUpdateOutput {
        /// Whether it worked.
        success: bool,
        /// The task.
        task_id as "taskId": TaskId,
        /// What changed.
        updated_fields as "updatedFields": Vec<String>,
        /// What went wrong.
        error: Opt<String>,
        /// How the status changed.
        status_change as "statusChange": Opt<StatusChange>,
    }

    /// How the status changed.
    #[derive(Default)]
    pub struct StatusChange {
        /// Before.
        from: String,
        /// After.
        to: String,
    }

    /// Lists the tasks.
    #[derive(Default)]
    pub struct TaskListInput {}

    /// The tasks.
    #[derive(Default)]
    pub struct TaskListOutput {
        /// The tasks.
        tasks: Vec<TaskSummary>,
    }

    /// A task in short.
    pub struct TaskSummary {
        /// Names it.
        id: String,
        /// The title.
        subject: String,
        /// The state.
        status: TodoStatus,
        /// Who does it.
        owner: Opt<String>,
        /// Tasks it waits for.
        blocked_by as "blockedBy": Vec<String>,
    }

    /// Stops a background task.
    #[derive(Default)]
    pub struct TaskStopInput {
        /// The task.
        task_id: Opt<TaskId>,
        /// The shell; the older name.
        shell_id: Opt<String>,
    }

    /// The task.
    #[derive(Default)]
    pub struct TaskStopOutput {
        /// The text.
        message: String,
        /// The task.
        task_id: TaskId,
        /// The kind of task.
        task_type: String,
        /// The command.
        command: Opt<String>,
    }

    /// Waits for a task's output; only old CLIs.
    #[derive(Default)]
    pub struct TaskOutputInput {
        /// The task.
        task_id: TaskId,
        /// Whether to wait.
        block: Opt<bool>,
        /// How long to wait, in milliseconds.
        timeout: Opt<Number>,
    }
}

open_enum! {
    /// The state a task gets.
    pub enum TaskUpdateStatus {
        Pending = "pending",
        InProgress = "in_progress",
        Completed = "completed",
        Deleted = "deleted",
    }
}
