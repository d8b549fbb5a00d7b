use serde_json::{Map, Number, Value};

use crate::message::{ContentBlock, Usage};
use crate::permission::PermissionMode;
use crate::system::EffortLevel;
use crate::wire::{AgentId, Opt, TaskId, open_enum, record, union};

record! {
    /// Starts a subagent.
    #[derive(Default)]
    pub struct AgentInput {
        /// What it is about.
        description: String,
        /// The prompt.
        prompt: String,
        /// The type of the subagent.
        subagent_type: Opt<String>,
        /// The model.
        model: Opt<AgentModel>,
        /// How much to think.
        effort: Opt<EffortLevel>,
        /// Whether to run it in the background.
        run_in_background: Opt<bool>,
        /// Its name.
        name: Opt<String>,
        /// The team.
        team_name: Opt<String>,
        /// The mode.
        mode: Opt<PermissionMode>,
        /// Where it works.
        isolation: Opt<Isolation>,
        /// The agent to go on with; only old CLIs.
        resume: Opt<String>,
    }

    /// The agent is done.
    pub struct AgentCompleted {
        /// The subagent.
        agent_id as "agentId": AgentId,
        /// The type of the agent.
        agent_type as "agentType": Opt<String>,
        /// The content.
        content: Vec<ContentBlock>,
        /// The model it stands for.
        resolved_model as "resolvedModel": Opt<String>,
        /// The models it ran on.
        models_used as "modelsUsed": Opt<Vec<String>>,
        /// How many tool calls.
        total_tool_use_count as "totalToolUseCount": u64,
        /// How long it took.
        total_duration_ms as "totalDurationMs": Number,
        /// Tokens in use.
        total_tokens as "totalTokens": u64,
        /// What it used.
        usage: Usage,
        /// The tools it used.
        tools_used as "toolsUsed": Opt<Vec<String>>,
        /// What it did with tools.
        tool_stats as "toolStats": Opt<ToolStats>,
        /// The prompt.
        prompt: String,
        /// The worktree.
        worktree_path as "worktreePath": Opt<String>,
        /// Its branch.
        worktree_branch as "worktreeBranch": Opt<String>,
        /// Whether the agent can be talked to again.
        can_continue_agent as "canContinueAgent": Opt<bool>,
        /// Notes that the CLI added.
        harness_note_count as "harnessNoteCount": Opt<u64>,
        /// Of these, at the end.
        harness_tail_count as "harnessTailCount": Opt<u64>,
        /// A hash of them.
        harness_section_hash as "harnessSectionHash": Opt<String>,
    }

    /// What an agent did with tools.
    #[derive(Default)]
    pub struct ToolStats {
        /// Reads.
        read_count as "readCount": u64,
        /// Searches.
        search_count as "searchCount": u64,
        /// Shell commands.
        bash_count as "bashCount": u64,
        /// Edits.
        edit_file_count as "editFileCount": u64,
        /// Lines added.
        lines_added as "linesAdded": u64,
        /// Lines removed.
        lines_removed as "linesRemoved": u64,
        /// Other tools.
        other_tool_count as "otherToolCount": u64,
        /// Frames.
        frame_count as "frameCount": Opt<u64>,
    }

    /// The agent runs in the background.
    #[derive(Default)]
    pub struct AgentLaunched {
        /// Set when it runs in the background.
        is_async as "isAsync": Opt<bool>,
        /// The subagent.
        agent_id as "agentId": AgentId,
        /// What it is about.
        description: String,
        /// The model it stands for.
        resolved_model as "resolvedModel": Opt<String>,
        /// The models it ran on.
        models_used as "modelsUsed": Opt<Vec<String>>,
        /// The prompt.
        prompt: String,
        /// Where its output goes.
        output_file as "outputFile": String,
        /// Whether the model may read that file.
        can_read_output_file as "canReadOutputFile": Opt<bool>,
        /// Whether the agent can be talked to again.
        can_continue_agent as "canContinueAgent": Opt<bool>,
    }

    /// The agent runs elsewhere.
    #[derive(Default)]
    pub struct AgentRemote {
        /// The task.
        task_id as "taskId": TaskId,
        /// Where to see it.
        session_url as "sessionUrl": String,
        /// What it is about.
        description: String,
        /// The prompt.
        prompt: String,
        /// Where its output goes.
        output_file as "outputFile": String,
    }

    /// Runs a workflow.
    #[derive(Default)]
    pub struct WorkflowInput {
        /// The script.
        script: Opt<String>,
        /// Its name.
        name: Opt<String>,
        /// What it is about.
        description: Opt<String>,
        /// The title.
        title: Opt<String>,
        /// The arguments.
        args: Opt<Map<String, Value>>,
        /// The file of the script.
        script_path as "scriptPath": Opt<String>,
        /// The run to go on with.
        resume_from_run_id as "resumeFromRunId": Opt<String>,
    }

    /// The workflow that was started.
    pub struct WorkflowOutput {
        /// The state.
        status: WorkflowStatus,
        /// The task.
        task_id as "taskId": TaskId,
        /// The kind of task.
        task_type as "taskType": Opt<WorkflowTaskType>,
        /// The workflow.
        workflow_name as "workflowName": Opt<String>,
        /// Names one run of the task; new on resume.
        run_id as "runId": Opt<String>,
        /// A summary.
        summary: Opt<String>,
        /// Where the transcripts are.
        transcript_dir as "transcriptDir": Opt<String>,
        /// The file of the script.
        script_path as "scriptPath": Opt<String>,
        /// Where to see it.
        session_url as "sessionUrl": Opt<String>,
        /// A warning.
        warning: Opt<String>,
        /// What went wrong.
        error: Opt<String>,
    }

    /// Loads a skill.
    #[derive(Default)]
    pub struct SkillInput {
        /// The skill.
        skill: String,
        /// The arguments.
        args: Opt<String>,
    }

    /// The skill that was loaded. Undeclared; these are the members known.
    #[derive(Default)]
    pub struct SkillOutput {
        /// Whether it worked.
        success: Opt<bool>,
        /// The command.
        command_name as "commandName": Opt<String>,
    }

    /// Talks to another agent. Undeclared; these are the members known.
    #[derive(Default)]
    pub struct SendMessageInput {
        /// After.
        to: Opt<String>,
        /// The text.
        message: Opt<Value>,
    }
}

open_enum! {
    /// The model an agent runs on.
    pub enum AgentModel {
        Sonnet = "sonnet",
        Opus = "opus",
        Haiku = "haiku",
        Fable = "fable",
    }

    /// Where an agent works.
    pub enum Isolation {
        Worktree = "worktree",
        Remote = "remote",
    }

    /// Where a workflow was started.
    pub enum WorkflowStatus {
        AsyncLaunched = "async_launched",
        RemoteLaunched = "remote_launched",
    }

    /// What runs a workflow.
    pub enum WorkflowTaskType {
        LocalWorkflow = "local_workflow",
        RemoteAgent = "remote_agent",
    }
}

union! {
    /// What starting an agent gave, told apart by `status`.
    pub enum AgentOutput by "status" {
        /// The agent is done.
        "completed" => Completed(Box<AgentCompleted>),
        /// The agent runs in the background.
        "async_launched" => Launched(Box<AgentLaunched>),
        /// The agent runs elsewhere.
        "remote_launched" => Remote(Box<AgentRemote>),
    }
}
