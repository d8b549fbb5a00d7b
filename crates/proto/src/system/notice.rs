use serde_json::Number;

use crate::control::ReplyId;
use crate::message::AssistantError;
use crate::wire::{AgentId, Opt, SessionId, ToolUseId, Uuid, open_enum, record};

record! {
    /// A line to show: hook feedback, status.
    pub struct Informational {
        /// The content.
        content: String,
        /// The level.
        level: InformationalLevel,
        /// The tool call.
        tool_use_id: Opt<ToolUseId>,
        /// Set when the run stops after this.
        prevent_continuation: Opt<bool>,
        /// An opaque mark.
        tag: Opt<String>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
        /// Set when it is no part of the conversation.
        is_meta as "isMeta": Opt<bool>,
        /// When, for display.
        timestamp: Opt<String>,
    }

    /// A notification to show.
    pub struct Notification {
        /// Notifications with the same key replace each other.
        key: String,
        /// The text.
        text: String,
        /// How urgent it is.
        priority: NotificationPriority,
        /// The colour to show it in.
        color: Opt<String>,
        /// How long to show it.
        timeout_ms: Opt<Number>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// What a slash command printed that the CLI handled itself.
    #[derive(Default)]
    pub struct LocalCommandOutput {
        /// The content.
        content: String,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// Memories that were brought into the turn.
    pub struct MemoryRecall {
        /// How the memories were found.
        mode: MemoryRecallMode,
        /// The memories.
        memories: Vec<RecalledMemory>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// A memory that was brought up.
    pub struct RecalledMemory {
        /// A file, a URL, or a mark for synthesised ones.
        path: String,
        /// What it belongs to.
        scope: MemoryScope,
        /// The text, unless it is a file.
        content: Opt<String>,
    }

    /// A tool call was refused without asking. The list on the turn's result is the authoritative one.
    #[derive(Default)]
    pub struct PermissionDenied {
        /// The tool.
        tool_name: String,
        /// The tool call.
        tool_use_id: ToolUseId,
        /// The subagent.
        agent_id: Opt<AgentId>,
        /// What kind of reason it is.
        decision_reason_type: Opt<String>,
        /// Why, for display.
        decision_reason: Opt<String>,
        /// What the model was told.
        message: String,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
        /// A stable code of the reason.
        decision_reason_code: Opt<String>,
    }

    /// An API call failed and will be tried again.
    pub struct ApiRetry {
        /// Which attempt failed.
        attempt: u64,
        /// How often it is tried.
        max_retries: u64,
        /// How long until the next attempt.
        retry_delay_ms: Number,
        /// The HTTP status; null without a response.
        error_status: Option<u64>,
        /// What went wrong.
        error: AssistantError,
        /// Set when the first byte did not come in time.
        no_response: Opt<NoResponse>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// How long the first byte was waited for.
    pub struct NoResponse {
        /// How long was waited.
        waited_ms: Number,
        /// How long the next attempt waits.
        retry_wait_ms: Number,
    }

    /// How far a long request of the host has come.
    pub struct ControlRequestProgress {
        /// The request; absent if that had no id.
        request_id: Opt<ReplyId>,
        /// What happens to it.
        status: RequestProgress,
        /// Which attempt failed.
        attempt: Opt<u64>,
        /// How often it is tried.
        max_retries: Opt<u64>,
        /// How long until the next attempt.
        retry_delay_ms: Opt<Number>,
        /// The HTTP status; null without a response.
        error_status: Opt<u64>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// Plugins are being installed.
    pub struct PluginInstall {
        /// The state.
        status: InstallStatus,
        /// The plugin.
        name: Opt<String>,
        /// What went wrong; not to be trusted.
        error: Opt<String>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// An MCP server has what it asked for at a URL.
    #[derive(Default)]
    pub struct ElicitationComplete {
        /// The server.
        mcp_server_name: String,
        /// Names the elicitation.
        elicitation_id: String,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// How much the model has thought, while its thoughts are withheld.
    #[derive(Default)]
    pub struct ThinkingTokens {
        /// Tokens so far, estimated.
        estimated_tokens: u64,
        /// Tokens since the last frame, estimated.
        estimated_tokens_delta: u64,
        /// The prompt that this turn answers.
        user_message_uuid: Opt<String>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }
}

open_enum! {
    /// How urgent a notification is.
    pub enum NotificationPriority {
        Low = "low",
        Medium = "medium",
        High = "high",
        Immediate = "immediate",
    }

    /// Whose memory it is.
    pub enum MemoryScope {
        Personal = "personal",
        Team = "team",
        Organization = "organization",
    }

    /// What happens to a request.
    pub enum RequestProgress {
        Started = "started",
        ApiRetry = "api_retry",
    }

    /// How an installation is going.
    pub enum InstallStatus {
        Started = "started",
        Installed = "installed",
        Failed = "failed",
        Completed = "completed",
    }
}

open_enum! {
    /// How important a line is.
    pub enum InformationalLevel {
        Info = "info",
        Notice = "notice",
        Suggestion = "suggestion",
        Warning = "warning",
    }

    /// How memories were found.
    pub enum MemoryRecallMode {
        /// Whole memories were chosen.
        Select = "select",
        /// A text was made from several.
        Synthesize = "synthesize",
    }
}
