//! A tool of a server, as the session calls it.

use std::sync::{Arc, Weak};
use std::time::Duration;

use pilothouse_mcp::rmcp::RoleClient;
use pilothouse_mcp::rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, RequestMetaObject, ServerResult,
    Tool,
};
use pilothouse_mcp::rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use pilothouse_proto::McpServerProvenance;
use pilothouse_tools::{Input, Outcome};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::mcp::bounded::LONGEST;
use crate::mcp::config::Configured;
use crate::mcp::connect::Offer;
use crate::mcp::content::{Keeper, most_characters};
use crate::mcp::names::{display_name, full_name};
use crate::mcp::servers::Servers;
use crate::session::Session;
use crate::tool::{AgentTool, ToolCall, Working};

/// Where the model's call is named, for servers that want to know.
const TOOL_USE_ID: &str = "claudecode/toolUseId";

/// One tool of one server.
#[derive(Clone, Debug)]
pub struct McpTool {
    full_name: String,
    server: String,
    source: &'static str,
    server_display_name: String,
    tool: Tool,
    always_asked: bool,
    servers: Weak<Servers>,
}

/// How a tool is shown to people (`tool_use_meta`, approvals).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolMeta {
    /// The tool.
    pub display_name: String,
    /// The server, as it calls itself.
    pub server_display_name: String,
    /// The tool, as the server calls it.
    pub tool_name: String,
    /// The server, as it is configured.
    pub server: String,
    /// Where that configuration is from.
    pub source: &'static str,
}

impl McpTool {
    pub(crate) fn new(configured: &Configured, offer: &Offer, tool: &Tool, servers: &Arc<Servers>) -> Self {
        Self {
            full_name: full_name(&configured.name, &tool.name),
            server: configured.name.clone(),
            source: configured.origin.name(),
            server_display_name: match offer.name.as_str() {
                "" => configured.name.clone(),
                name => name.to_owned(),
            },
            tool: tool.clone(),
            always_asked: configured.always_asks(&tool.name),
            servers: Arc::downgrade(servers),
        }
    }

    /// The name that the model calls.
    pub fn full_name(&self) -> &str {
        &self.full_name
    }

    /// How it is shown to people.
    pub fn meta(&self) -> ToolMeta {
        let title = self.tool.annotations.as_ref().and_then(|annotations| annotations.title.clone());
        ToolMeta {
            display_name: title
                .or_else(|| self.tool.title.clone())
                .unwrap_or_else(|| display_name(&self.tool.name)),
            server_display_name: self.server_display_name.clone(),
            tool_name: self.tool.name.to_string(),
            server: self.server.clone(),
            source: self.source,
        }
    }

    /// Whether the server says that it changes nothing.
    pub fn is_read_only(&self) -> bool {
        self.tool.annotations.as_ref().and_then(|annotations| annotations.read_only_hint).unwrap_or(false)
    }

    /// Calls the tool and gives the server's answer as it is.
    ///
    /// # Errors
    /// The outcome of a call without an answer: the server refused it, it took too long, or `stop` fired.
    pub async fn call(
        &self,
        arguments: Input,
        tool_use_id: Option<&str>,
        limit: Option<Duration>,
        stop: &CancellationToken,
    ) -> Result<CallToolResult, Outcome> {
        let gone = || failed(format!("MCP server not connected: {}", self.server));
        let servers = self.servers.upgrade().ok_or_else(gone)?;
        let (mut connection, timeout) = servers.connection(&self.server).ok_or_else(gone)?;
        if connection.peer.is_transport_closed() {
            // A program that has ended may well start again. What the host runs itself it starts itself.
            servers.reconnect(&self.server).await.map_err(failed)?;
            (connection, _) = servers.connection(&self.server).ok_or_else(gone)?;
        }
        let params = CallToolRequestParams::new(self.tool.name.clone()).with_arguments(arguments);
        let mut options = PeerRequestOptions::no_options();
        options.timeout = limit.or(timeout);
        options.meta = tool_use_id.map(|id| {
            let mut meta = RequestMetaObject::new();
            meta.insert(TOOL_USE_ID.to_owned(), id.into());
            meta
        });
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sent = connection.peer.send_cancellable_request(request, options).await;
        let answered = answer(sent.map_err(|error| failed(words(error)))?, stop).await;
        match answered {
            Err(Outcome::Failed { .. }) if connection.cut_off.happened() => Err(failed(format!(
                "the MCP server {} sent a message of more than {} MiB and was ended; the next call starts it again. Ask it for \
                 less at a time.",
                self.server,
                LONGEST >> 20
            ))),
            answered => answered,
        }
    }
}

/// Waits for an answer; an interrupt is passed on to the server, which may or may not stop.
async fn answer(
    request: RequestHandle<RoleClient>,
    stop: &CancellationToken,
) -> Result<CallToolResult, Outcome> {
    let (peer, id) = (request.peer.clone(), request.id.clone());
    let result = tokio::select! {
        result = request.await_response() => result.map_err(|error| failed(words(error)))?,
        () = stop.cancelled() => {
            let reason = Some("interrupted by the user".to_owned());
            let withdrawn = pilothouse_mcp::rmcp::model::CancelledNotificationParam::new(Some(id), reason);
            // A server that is gone has nothing to stop.
            peer.notify_cancelled(withdrawn).await.ok();
            return Err(Outcome::Stopped { partial: String::new() });
        }
    };
    match result {
        ServerResult::CallToolResult(result) => Ok(result),
        other => match serde_json::to_value(&other).and_then(serde_json::from_value) {
            Ok(result) => Ok(result),
            Err(_) => {
                Err(failed("the server answered with something that is no result of a tool".to_owned()))
            }
        },
    }
}

impl AgentTool for McpTool {
    fn name(&self) -> &str {
        &self.full_name
    }

    fn description(&self) -> String {
        self.tool.description.as_deref().unwrap_or_default().to_owned()
    }

    fn input_schema(&self) -> Value {
        let mut schema: Map<String, Value> = (*self.tool.input_schema).clone();
        // The API wants an object; some servers leave that out.
        schema.entry("type").or_insert_with(|| "object".into());
        Value::Object(schema)
    }

    fn runs_in_parallel(&self, _: &Input) -> bool {
        self.is_read_only()
    }

    fn mcp_server(&self) -> Option<McpServerProvenance> {
        let (name, source) = (self.server.clone(), self.source.to_owned());
        Some(McpServerProvenance { name, source, ..McpServerProvenance::default() })
    }

    fn title(&self) -> Option<String> {
        Some(self.meta().display_name)
    }

    fn is_always_asked(&self) -> bool {
        self.always_asked
    }

    fn run<'a>(&'a self, call: &'a ToolCall, session: &'a Arc<Session>) -> Working<'a> {
        Box::pin(async move {
            let id = call.id.as_str();
            let answered = self.call(call.input.clone(), Some(id), None, &call.stop).await;
            let outcome = match answered {
                Ok(result) => {
                    let folder = session.tool_results_dir();
                    let most = most_characters(&session.launch().env);
                    let keeper = Keeper { folder, server: &self.server, tool: &call.name, call: id, most };
                    keeper.outcome(result)
                }
                Err(outcome) => outcome,
            };
            outcome.into()
        })
    }
}

fn failed(message: String) -> Outcome {
    Outcome::Failed { message, misuse: false }
}

fn words(error: ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => error.message.into_owned(),
        ServiceError::TransportClosed => "the MCP server has gone away".to_owned(),
        ServiceError::Timeout { timeout } => {
            format!("the MCP server did not answer within {} s", timeout.as_secs())
        }
        other => other.to_string(),
    }
}
