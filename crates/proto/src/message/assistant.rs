use serde_json::{Number, Value};

use super::{ContentBlock, Role, Usage};
use crate::context::{ContextUsage, UsageReport};
use crate::wire::{AgentId, Opt, SessionId, ToolUseId, Uuid, open_enum, record};

record! {
    /// A finished piece of the model's answer.
    ///
    /// There is one frame per content block, so consecutive frames can share `message.id`, with a null stop reason and
    /// usage that is not final. Totals are on the turn's result.
    pub struct Assistant {
        /// The API message.
        message: Message,
        /// The tool call whose subagent said this; none for the main loop.
        parent_tool_use_id: Opt<ToolUseId>,
        /// What failed, when this message stands for an API error.
        error: Opt<AssistantError>,
        /// The API's id of the request.
        request_id: Opt<String>,
        /// The prompt that this turn answers, by the id its sender chose.
        user_message_uuid: Opt<String>,
        /// All prompts that the turn has consumed so far.
        user_message_uuids: Opt<Vec<String>>,
        /// Why the turn continues an earlier one.
        resume_reason: Opt<String>,
        /// Set when that one was cut off in its thinking.
        resumed_from_incomplete_thinking: Opt<bool>,
        /// Earlier frames to delete.
        supersedes: Opt<Vec<Uuid>>,
        /// Set when an interrupt cut this message off.
        aborted: Opt<bool>,
        /// The subagent that said this.
        agent_id: Opt<AgentId>,
        /// Its type.
        subagent_type: Opt<String>,
        /// What it was asked to do.
        task_description: Opt<String>,
        /// When, for display.
        timestamp: Opt<String>,
        /// What `/context` shows, as data.
        context_usage: Opt<Box<ContextUsage>>,
        /// What `/usage` shows, as data.
        usage_report: Opt<Box<UsageReport>>,
        /// Names to show for the tool calls in this message.
        tool_use_meta: Opt<Vec<ToolUseMeta>>,
        /// Whether this stands for an API error.
        is_api_error_message: Opt<bool>,
        /// The text of that error.
        api_error: Opt<String>,
        /// Its HTTP status.
        api_error_status: Opt<Number>,
        /// Its type as the API names it.
        api_error_type: Opt<String>,
        /// Which slash command made this message.
        local_command_source: Opt<String>,
        /// The slash command that ran.
        local_command_run: Opt<LocalCommandRun>,
        /// How it ended.
        local_command_outcome: Opt<LocalCommandOutcome>,
        /// How long the model thought.
        thinking_duration_ms: Opt<Number>,
        /// How thinking is to be shown.
        thinking_display: Opt<String>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// A message as the Messages API gives it.
    pub struct Message {
        /// The API's id of the message; shared by the frames of one response.
        id: String,
        /// Always `message`.
        object as "type": Opt<String>,
        /// Always the assistant.
        role: Role,
        /// The model that answered.
        model: String,
        /// The blocks; one per frame while an answer streams.
        content: Vec<ContentBlock>,
        /// Why the model stopped; null until it has.
        stop_reason: Opt<StopReason>,
        /// The sequence that stopped it.
        stop_sequence: Opt<String>,
        /// Tokens so far.
        usage: Opt<Box<Usage>>,
        /// The API's container; shape undeclared.
        container: Opt<Box<Value>>,
        /// What the API dropped from the context; shape undeclared.
        context_management: Opt<Box<Value>>,
        /// Notes on the request; shape undeclared.
        diagnostics: Opt<Box<Value>>,
        /// More about the stop reason; shape undeclared.
        stop_details: Opt<Box<Value>>,
        /// How the input was changed; shape undeclared.
        input_transformations: Opt<Box<Value>>,
    }

    /// Names to show for a tool call.
    #[derive(Default)]
    pub struct ToolUseMeta {
        /// The call.
        id: ToolUseId,
        /// The tool's name for people.
        display_name: Opt<String>,
        /// The server's name for people.
        server_display_name: Opt<String>,
        /// The tool's own name on that server.
        tool_name: Opt<String>,
    }

    /// A slash command that the CLI ran itself.
    #[derive(Default)]
    pub struct LocalCommandRun {
        /// The command, without its slash.
        command: String,
        /// What stood after it.
        args: String,
    }

    /// How a slash command ended.
    #[derive(Default)]
    pub struct LocalCommandOutcome {
        /// The kind of end, such as `text`.
        kind: String,
    }
}

open_enum! {
    /// Why the model stopped.
    pub enum StopReason {
        /// It was done.
        EndTurn = "end_turn",
        /// It reached the output limit.
        MaxTokens = "max_tokens",
        /// It wrote a stop sequence.
        StopSequence = "stop_sequence",
        /// It calls a tool.
        ToolUse = "tool_use",
        /// The API paused a long turn.
        PauseTurn = "pause_turn",
        /// The API compacted the conversation.
        Compaction = "compaction",
        /// It refused.
        Refusal = "refusal",
        /// The context window is full.
        ModelContextWindowExceeded = "model_context_window_exceeded",
    }

    /// What kind of API failure a message or retry stands for.
    pub enum AssistantError {
        /// The credentials were not accepted.
        AuthenticationFailed = "authentication_failed",
        /// The login's organisation is not allowed.
        OauthOrgNotAllowed = "oauth_org_not_allowed",
        /// The account is on hold.
        AccountOnHold = "account_on_hold",
        /// The account must be verified first.
        VerificationRequired = "verification_required",
        /// Payment failed or is missing.
        BillingError = "billing_error",
        /// Too many requests.
        RateLimit = "rate_limit",
        /// The API is overloaded.
        Overloaded = "overloaded",
        /// The request was not acceptable.
        InvalidRequest = "invalid_request",
        /// There is no such model.
        ModelNotFound = "model_not_found",
        /// The API failed.
        ServerError = "server_error",
        /// Something else.
        Unknown = "unknown",
        /// The answer hit the output limit.
        MaxOutputTokens = "max_output_tokens",
        /// Credentials for a cloud provider failed.
        CloudCredentialError = "cloud_credential_error",
    }
}

impl Message {
    /// All text of the message, joined.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(ContentBlock::as_text).collect()
    }
}
