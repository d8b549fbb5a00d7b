//! MCP servers: configuration, state, policy.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use crate::wire::{Opt, Reading, open_enum, record, union};

record! {
    /// An MCP server and its state.
    pub struct McpServerStatus {
        /// Its name.
        name: String,
        /// The state.
        status: McpConnection,
        /// How it introduced itself.
        server_info as "serverInfo": Opt<McpServerInfo>,
        /// What went wrong.
        error: Opt<String>,
        /// The configuration.
        config: Opt<McpServerConfig>,
        /// What it belongs to.
        scope: Opt<String>,
        /// Where it comes from.
        source: Opt<String>,
        /// The tools.
        tools: Opt<Vec<McpToolInfo>>,
        /// How the server is reached.
        transport: Opt<String>,
    }

    /// How a server introduced itself.
    #[derive(Default)]
    pub struct McpServerInfo {
        /// Its name.
        name: String,
        /// The version.
        version: String,
    }

    /// What a tool says about itself.
    #[derive(Default)]
    pub struct McpToolAnnotations {
        /// Whether it changes nothing.
        read_only as "readOnly": Opt<bool>,
        /// Whether it may destroy something.
        destructive: Opt<bool>,
        /// Whether it reaches outside.
        open_world as "openWorld": Opt<bool>,
    }

    /// A tool of a server.
    #[derive(Default)]
    pub struct McpToolInfo {
        /// Its name.
        name: String,
        /// What it is about.
        description: Opt<String>,
        /// What it says about itself.
        annotations: Opt<McpToolAnnotations>,
        /// Metadata of the server.
        meta as "_meta": Opt<Map<String, Value>>,
    }

    /// What a tool of a server may do.
    #[derive(Default)]
    pub struct McpServerToolPolicy {
        /// Its name.
        name: String,
        /// What happens when it is called.
        permission_policy: Opt<ToolPolicy>,
        /// The most the organisation permits.
        org_max_permission: Opt<OrgMaxPermission>,
    }

    /// A resource that a server points to.
    #[derive(Default)]
    pub struct McpResourceLink {
        /// The URI.
        uri: String,
        /// Its name.
        name: String,
        /// The title.
        title: Opt<String>,
        /// What it is about.
        description: Opt<String>,
        /// The media type.
        mime_type as "mimeType": Opt<String>,
        /// The size in bytes.
        size: Opt<u64>,
        /// What it says about itself.
        annotations: Opt<Map<String, Value>>,
    }

    /// A server that the CLI starts.
    #[derive(Default)]
    pub struct McpStdioServer {
        /// The program to start.
        command: String,
        /// Its arguments.
        args: Opt<Vec<String>>,
        /// Environment for it.
        env: Opt<BTreeMap<String, String>>,
        /// How long to wait, in milliseconds.
        timeout: Opt<Number>,
        /// Whether its tools are loaded at the start.
        always_load as "alwaysLoad": Opt<bool>,
    }

    /// A server behind a stream of server-sent events.
    #[derive(Default)]
    pub struct McpSseServer {
        /// The URL.
        url: String,
        /// HTTP headers to send.
        headers: Opt<BTreeMap<String, String>>,
        /// The tools.
        tools: Opt<Vec<McpServerToolPolicy>>,
        /// How long to wait, in milliseconds.
        timeout: Opt<Number>,
        /// Whether its tools are loaded at the start.
        always_load as "alwaysLoad": Opt<bool>,
    }

    /// A server behind HTTP.
    #[derive(Default)]
    pub struct McpHttpServer {
        /// The URL.
        url: String,
        /// HTTP headers to send.
        headers: Opt<BTreeMap<String, String>>,
        /// The tools.
        tools: Opt<Vec<McpServerToolPolicy>>,
        /// How long to wait, in milliseconds.
        timeout: Opt<Number>,
        /// Whether its tools are loaded at the start.
        always_load as "alwaysLoad": Opt<bool>,
    }

    /// A server inside the host.
    #[derive(Default)]
    pub struct McpSdkServer {
        /// Its name.
        name: String,
        /// How long to wait, in milliseconds.
        timeout: Opt<Number>,
        /// The tools.
        tools: Opt<Vec<McpServerToolPolicy>>,
    }

    /// A server behind a proxy of the vendor; only in status replies.
    #[derive(Default)]
    pub struct McpClaudeAiProxyServer {
        /// The URL.
        url: String,
        /// Names it.
        id: String,
        /// How long to wait, in milliseconds.
        timeout: Opt<Number>,
    }
}

open_enum! {
    /// The state of an MCP server.
    pub enum McpConnection {
        Connected = "connected",
        Failed = "failed",
        NeedsAuth = "needs-auth",
        Pending = "pending",
        Disabled = "disabled",
    }

    /// What happens when a tool is called.
    pub enum ToolPolicy {
        AlwaysAllow = "always_allow",
        AlwaysAsk = "always_ask",
        AlwaysDeny = "always_deny",
    }

    /// The most an organisation permits.
    pub enum OrgMaxPermission {
        Allow = "allow",
        Ask = "ask",
        Blocked = "blocked",
    }
}

open_enum! {
    /// What a user did with a question of an MCP server.
    pub enum ElicitationAction {
        /// Answered it.
        Accept = "accept",
        /// Refused to answer.
        Decline = "decline",
        /// Closed it.
        Cancel = "cancel",
    }

    /// How an MCP server asks.
    pub enum ElicitationMode {
        /// A form to fill in.
        Form = "form",
        /// A page to visit.
        Url = "url",
    }
}

union! {
    /// How an MCP server is reached. A configuration without a type means a program to start.
    pub enum McpServerConfig by "type" or Untyped(McpStdioServer) {
        /// The CLI starts it.
        "stdio" => Stdio(McpStdioServer),
        /// Server-sent events.
        "sse" => Sse(McpSseServer),
        /// HTTP.
        "http" => Http(McpHttpServer),
        /// It runs inside the host.
        "sdk" => Sdk(McpSdkServer),
        /// Through a proxy of the vendor.
        "claudeai-proxy" => ClaudeAiProxy(McpClaudeAiProxyServer),
    }
}

record! {
    /// An MCP server and where it comes from.
    #[derive(Default)]
    pub struct McpServerProvenance {
        /// Its name.
        name: String,
        /// Where it is configured.
        source: String,
    }
}

/// The MCP servers of an agent: one the session has, by name, or configurations of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentMcpServerSpec {
    /// A server of the session.
    Name(String),
    /// Servers by name.
    Servers(BTreeMap<String, McpServerConfig>),
}

impl serde::Serialize for AgentMcpServerSpec {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Name(name) => name.serialize(serializer),
            Self::Servers(servers) => servers.serialize(serializer),
        }
    }
}

impl<'de> serde::Deserialize<'de> for AgentMcpServerSpec {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(name) => Ok(Self::Name(name)),
            servers => Reading::a_value(|| serde_json::from_value(servers))
                .map(Self::Servers)
                .map_err(serde::de::Error::custom),
        }
    }
}

impl schemars::JsonSchema for AgentMcpServerSpec {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AgentMcpServerSpec".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let servers = generator.subschema_for::<BTreeMap<String, McpServerConfig>>();
        schemars::json_schema!({ "anyOf": [{ "type": "string" }, servers] })
    }
}
