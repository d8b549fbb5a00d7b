use super::hook_inputs;
use crate::message::AssistantError;
use crate::wire::{Opt, TaskId, open_enum, record};

hook_inputs! {
    /// The user sent a prompt.
    #[derive(Default)]
    pub struct UserPromptSubmitInput {
        /// The prompt.
        prompt: String,
        /// Where the prompt comes from.
        source: Opt<PromptSource>,
        /// The title of the session.
        session_title: Opt<String>,
    }

    /// A slash command or an MCP prompt was expanded.
    pub struct UserPromptExpansionInput {
        /// What was expanded.
        expansion_type: ExpansionKind,
        /// The command.
        command_name: String,
        /// Its arguments.
        command_args: String,
        /// Where the command is defined.
        command_source: Opt<String>,
        /// The prompt.
        prompt: String,
    }

    /// The model is about to stop.
    #[derive(Default)]
    pub struct StopInput {
        /// Whether a hook has already made the model go on.
        stop_hook_active: bool,
        /// The last thing the model said.
        last_assistant_message: Opt<String>,
        /// Tasks in the background.
        background_tasks: Opt<Vec<BackgroundTaskSummary>>,
        /// Schedules of the session.
        session_crons: Opt<Vec<SessionCronSummary>>,
    }

    /// A turn ended on an API error.
    pub struct StopFailureInput {
        /// What went wrong.
        error: AssistantError,
        /// More about the error.
        error_details: Opt<String>,
        /// The last thing the model said.
        last_assistant_message: Opt<String>,
    }

    /// A subagent begins.
    #[derive(Default)]
    pub struct SubagentStartInput {}

    /// A subagent is about to stop.
    #[derive(Default)]
    pub struct SubagentStopInput {
        /// Whether a hook has already made the model go on.
        stop_hook_active: bool,
        /// The subagent's transcript.
        agent_transcript_path: String,
        /// The last thing the model said.
        last_assistant_message: Opt<String>,
        /// Tasks in the background.
        background_tasks: Opt<Vec<BackgroundTaskSummary>>,
        /// Schedules of the session.
        session_crons: Opt<Vec<SessionCronSummary>>,
    }

    /// The CLI notifies the user.
    #[derive(Default)]
    pub struct NotificationInput {
        /// The text.
        message: String,
        /// The title.
        title: Opt<String>,
        /// The kind of notification.
        notification_type: String,
    }

    /// A piece of an answer is about to be shown.
    #[derive(Default)]
    pub struct MessageDisplayInput {
        /// The turn.
        turn_id: String,
        /// The message.
        message_id: String,
        /// The place of the block in the message.
        index: u64,
        /// Whether it is the last piece.
        is_final as "final": bool,
        /// The new text.
        delta: String,
    }

    /// A teammate has nothing to do.
    #[derive(Default)]
    pub struct TeammateIdleInput {
        /// The teammate.
        teammate_name: String,
        /// The team.
        team_name: String,
    }

    /// A task was put on the list.
    #[derive(Default)]
    pub struct TaskCreatedInput {
        /// The task.
        task_id: TaskId,
        /// The title of the task.
        task_subject: String,
        /// More about the task.
        task_description: Opt<String>,
        /// The teammate.
        teammate_name: Opt<String>,
        /// The team.
        team_name: Opt<String>,
    }

    /// A task of the list is done.
    #[derive(Default)]
    pub struct TaskCompletedInput {
        /// The task.
        task_id: TaskId,
        /// The title of the task.
        task_subject: String,
        /// More about the task.
        task_description: Opt<String>,
        /// The teammate.
        teammate_name: Opt<String>,
        /// The team.
        team_name: Opt<String>,
    }
}

record! {
    /// A task in the background.
    #[derive(Default)]
    pub struct BackgroundTaskSummary {
        /// Names it.
        id: String,
        /// The kind.
        kind as "type": String,
        /// The state.
        status: String,
        /// What it is about.
        description: String,
        /// The command.
        command: Opt<String>,
        /// The type of the agent.
        agent_type: Opt<String>,
        /// The server.
        server: Opt<String>,
        /// The tool.
        tool: Opt<String>,
        /// Its name.
        name: Opt<String>,
    }

    /// A schedule of the session.
    #[derive(Default)]
    pub struct SessionCronSummary {
        /// Names it.
        id: String,
        /// When it fires, as a cron expression.
        schedule: String,
        /// Whether it repeats.
        recurring: bool,
        /// The prompt.
        prompt: String,
    }
}

open_enum! {
    /// Where a prompt comes from.
    pub enum PromptSource {
        User = "user",
        Sdk = "sdk",
        System = "system",
        LoopWakeup = "loop_wakeup",
        ScheduleWakeup = "schedule_wakeup",
        PollEvent = "poll_event",
    }

    /// What was expanded.
    pub enum ExpansionKind {
        SlashCommand = "slash_command",
        McpPrompt = "mcp_prompt",
    }
}
