use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use crate::mcp::{McpServerConfig, McpServerStatus};
use crate::wire::{Opt, Raw, open_enum, record};

record! {
    /// Asks for the state of all MCP servers.
    #[derive(Default)]
    pub struct McpStatus {
        /// Whether to ask the servers instead of the cache.
        live_reply as "liveReply": Opt<bool>,
    }

    /// The servers.
    #[derive(Default)]
    pub struct McpStatusResponse {
        /// MCP servers.
        mcp_servers as "mcpServers": Vec<McpServerStatus>,
    }

    /// Calls an MCP tool without the model.
    #[derive(Default)]
    pub struct McpCall {
        /// The tool by its full name.
        tool: String,
        /// The arguments.
        arguments: Opt<Map<String, Value>>,
        /// When the request is void.
        expires_at: Opt<String>,
        /// How long to wait, from 1000 to 600000; default 120000.
        timeout_ms: Opt<Number>,
        /// Whether the result stays out of the conversation.
        result_not_for_model: Opt<bool>,
        /// Whether the rules decide first.
        check_permissions: Opt<bool>,
        /// Files for it.
        input_files: Opt<Vec<McpInputFile>>,
        /// Files it may write.
        output_files: Opt<Vec<McpOutputFile>>,
    }

    /// A file handed to an MCP tool.
    #[derive(Default)]
    pub struct McpInputFile {
        /// Its name.
        name: String,
        /// Where it lies.
        lane_path: String,
    }

    /// A file an MCP tool may write.
    #[derive(Default)]
    pub struct McpOutputFile {
        /// Its name.
        name: String,
        /// Where it lies.
        lane_path: String,
        /// Write only over this version.
        if_match: Opt<String>,
    }

    /// What the tool gave. Undeclared; these are the members known.
    #[derive(Default)]
    pub struct McpCallResponse {
        /// The content.
        content: Opt<Vec<Value>>,
        /// The result as data.
        structured_content as "structuredContent": Opt<Value>,
        /// Whether it failed.
        is_error as "isError": Opt<bool>,
        /// Metadata of the server.
        _meta: Opt<Map<String, Value>>,
        /// What became of the files.
        staging: Opt<McpCallStaging>,
    }

    /// What became of the files of a call.
    #[derive(Default)]
    pub struct McpCallStaging {
        /// What kind of failure it was.
        error_code: Opt<String>,
        /// More about it.
        detail: Opt<String>,
        /// Which inputs were used.
        inputs_used: Opt<Value>,
    }

    /// Replaces the servers that were added at run time, and all in-process ones.
    #[derive(Default)]
    pub struct McpSetServers {
        /// The servers by name.
        servers: BTreeMap<String, McpServerConfig>,
    }

    /// What changed.
    #[derive(Default)]
    pub struct McpSetServersResponse {
        /// What was added.
        added: Vec<String>,
        /// What was removed.
        removed: Vec<String>,
        /// What went wrong.
        errors: BTreeMap<String, String>,
    }

    /// Connects a server anew.
    #[derive(Default)]
    pub struct McpReconnect {
        /// The server.
        server_name as "serverName": String,
    }

    /// Switches a server on or off.
    #[derive(Default)]
    pub struct McpToggle {
        /// The server.
        server_name as "serverName": String,
        /// On or off.
        enabled: bool,
    }

    /// Has calls to one server judged by another mode than the session's, never by a laxer one.
    #[derive(Default)]
    pub struct SetMcpPermissionModeOverride {
        /// The server, by the name it is registered under.
        server_name as "serverName": String,
        /// The mode for its calls; null takes the override back, and absent is refused.
        mode: Opt<McpModeOverride>,
    }

    /// Whether there is such a server.
    #[derive(Default)]
    pub struct SetMcpPermissionModeOverrideResponse {
        /// Set when no server has that name yet: the override waits for it.
        warning: Opt<String>,
    }

    /// Reads a `ui://` resource.
    #[derive(Default)]
    pub struct McpReadResource {
        /// The server.
        server_name as "serverName": String,
        /// The URI.
        uri: String,
    }

    /// Its contents; not to be trusted.
    #[derive(Default)]
    pub struct McpReadResourceResponse {
        /// The contents.
        contents: Vec<McpResourceContents>,
    }

    /// The contents of a resource.
    #[derive(Default)]
    pub struct McpResourceContents {
        /// The URI.
        uri: String,
        /// The media type.
        mime_type as "mimeType": Opt<String>,
        /// The text.
        text: Opt<String>,
        /// Binary contents, base64.
        blob: Opt<String>,
        /// Metadata of the server.
        meta as "_meta": Opt<Map<String, Value>>,
    }
}

open_enum! {
    /// A mode that calls to one server can be held to.
    pub enum McpModeOverride {
        /// Ask about each call that no rule allows.
        Default = "default",
        /// Let the classifier decide.
        Auto = "auto",
    }
}

record! {
    /// Delivers a message of an in-process server: a notification, a request of its own, or a reply.
    pub struct HostMcpMessage {
        /// The name the server is registered by.
        server_name: String,
        /// The JSON-RPC message, kept raw.
        message: Raw,
    }
}
