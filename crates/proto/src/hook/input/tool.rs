use serde_json::{Map, Number, Value};

use super::hook_inputs;
use crate::mcp::{ElicitationAction, ElicitationMode, McpServerProvenance};
use crate::permission::PermissionUpdate;
use crate::wire::{Lazy, Opt, ToolUseId, record};

hook_inputs! {
    /// A tool is about to run.
    #[derive(Default)]
    pub struct PreToolUseInput {
        /// The tool.
        tool_name: String,
        /// Its arguments.
        tool_input: Lazy<Value>,
        /// The tool call.
        tool_use_id: ToolUseId,
        /// The MCP server behind the tool.
        mcp_server: Opt<McpServerProvenance>,
    }

    /// A tool has run.
    #[derive(Default)]
    pub struct PostToolUseInput {
        /// The tool.
        tool_name: String,
        /// Its arguments.
        tool_input: Lazy<Value>,
        /// What it gave back.
        tool_response: Lazy<Value>,
        /// The tool call.
        tool_use_id: ToolUseId,
        /// How long it took.
        duration_ms: Opt<Number>,
        /// The MCP server behind the tool.
        mcp_server: Opt<McpServerProvenance>,
    }

    /// A tool failed.
    #[derive(Default)]
    pub struct PostToolUseFailureInput {
        /// The tool.
        tool_name: String,
        /// Its arguments.
        tool_input: Lazy<Value>,
        /// The tool call.
        tool_use_id: ToolUseId,
        /// What went wrong.
        error: String,
        /// Whether an interrupt was the cause.
        is_interrupt: Opt<bool>,
        /// How long it took.
        duration_ms: Opt<Number>,
        /// The MCP server behind the tool.
        mcp_server: Opt<McpServerProvenance>,
    }

    /// All tool calls of one answer have run.
    #[derive(Default)]
    pub struct PostToolBatchInput {
        /// The calls.
        tool_calls: Vec<PostToolBatchToolCall>,
    }

    /// The user is about to be asked about a tool call.
    #[derive(Default)]
    pub struct PermissionRequestInput {
        /// The tool.
        tool_name: String,
        /// Its arguments.
        tool_input: Lazy<Value>,
        /// Updates to offer for "always allow".
        permission_suggestions: Opt<Vec<PermissionUpdate>>,
        /// The MCP server behind the tool.
        mcp_server: Opt<McpServerProvenance>,
    }

    /// A tool call was refused.
    #[derive(Default)]
    pub struct PermissionDeniedInput {
        /// The tool.
        tool_name: String,
        /// Its arguments.
        tool_input: Lazy<Value>,
        /// The tool call.
        tool_use_id: ToolUseId,
        /// Why.
        reason: String,
        /// The MCP server behind the tool.
        mcp_server: Opt<McpServerProvenance>,
    }

    /// An MCP server asks the user something.
    #[derive(Default)]
    pub struct ElicitationInput {
        /// The server.
        mcp_server_name: String,
        /// The text.
        message: String,
        /// The mode.
        mode: Opt<ElicitationMode>,
        /// The URL.
        url: Opt<String>,
        /// Names the elicitation.
        elicitation_id: Opt<String>,
        /// The JSON schema of the answer.
        requested_schema: Opt<Map<String, Value>>,
    }

    /// The user answered an MCP server.
    pub struct ElicitationResultInput {
        /// The server.
        mcp_server_name: String,
        /// Names the elicitation.
        elicitation_id: Opt<String>,
        /// The mode.
        mode: Opt<ElicitationMode>,
        /// What the user did.
        action: ElicitationAction,
        /// The content.
        content: Opt<Map<String, Value>>,
    }
}

record! {
    /// One call of the batch.
    #[derive(Default)]
    pub struct PostToolBatchToolCall {
        /// The tool.
        tool_name: String,
        /// Its arguments.
        tool_input: Lazy<Value>,
        /// The tool call.
        tool_use_id: ToolUseId,
        /// What it gave back.
        tool_response: Opt<Value>,
    }
}
