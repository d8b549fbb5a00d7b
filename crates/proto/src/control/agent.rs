use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::hook::HookInput;
use crate::mcp::{ElicitationAction, ElicitationMode};
use crate::wire::{Lazy, Opt, Raw, ToolUseId, record, union};

record! {
    /// Runs a hook that the host registered.
    pub struct HookCallback {
        /// The hook, by the id the host gave it.
        callback_id: String,
        // Typed when somebody looks, because many a hook decides without.
        /// What happened.
        input: Lazy<HookInput>,
        /// The tool call, for tool events.
        tool_use_id: Opt<ToolUseId>,
    }

    /// An MCP message for an in-process server, or from one.
    pub struct McpMessage {
        /// The name the server is registered by.
        server_name: String,
        /// A JSON-RPC request, notification or response, kept raw.
        message: Raw,
    }

    /// An MCP server asks the user something.
    #[derive(Default)]
    pub struct Elicitation {
        /// The server.
        mcp_server_name: String,
        /// The text.
        message: String,
        /// A form to fill in, or a URL to visit.
        mode: Opt<ElicitationMode>,
        /// The URL.
        url: Opt<String>,
        /// Names it until `system/elicitation_complete`.
        elicitation_id: Opt<String>,
        /// The JSON schema of the answer.
        requested_schema: Opt<Map<String, Value>>,
        /// The order to show the properties in.
        property_order: Opt<Vec<String>>,
        /// The title.
        title: Opt<String>,
        /// A name for people.
        display_name: Opt<String>,
        /// What it is about.
        description: Opt<String>,
    }

    /// What the user answered.
    pub struct ElicitationResult {
        /// What the user did.
        action: ElicitationAction,
        /// The content.
        content: Opt<Map<String, Value>>,
    }

    /// The CLI wants to show a dialog of a kind that the host declared.
    #[derive(Default)]
    pub struct RequestUserDialog {
        /// The kind of dialog.
        dialog_kind: String,
        /// Its content; depends on the kind.
        payload: Map<String, Value>,
        /// The tool call.
        tool_use_id: Opt<ToolUseId>,
    }

    /// The user went through the dialog.
    #[derive(Default)]
    pub struct DialogCompleted {
        /// What the user chose; depends on the kind.
        result: Value,
    }

    /// The user dismissed it.
    #[derive(Default)]
    pub struct DialogCancelled {}
}

union! {
    /// How a dialog ended.
    pub enum UserDialogResult by "behavior" {
        /// The user went through it.
        "completed" => Completed(DialogCompleted),
        /// The user dismissed it.
        "cancelled" => Cancelled(DialogCancelled),
    }
}

record! {
    /// The answer to an MCP message.
    pub struct McpReply {
        /// The JSON-RPC reply. A notification has none, so an empty result stands in its place.
        mcp_response: Raw,
    }
}

impl McpReply {
    /// The answer as JSON text, around a reply that is text already.
    pub fn text(reply: &RawValue) -> [&str; 3] {
        [r#"{"mcp_response":"#, reply.get(), "}"]
    }
}
