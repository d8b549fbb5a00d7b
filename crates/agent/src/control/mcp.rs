//! Requests about MCP servers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pilothouse_link::{Agent, Responder};
use pilothouse_mcp::rmcp::model::ReadResourceRequestParams;
use pilothouse_proto::Opt;
use pilothouse_proto::control::{
    Ack, HostRequest, McpCall, McpReadResource, SetMcpPermissionModeOverride,
    SetMcpPermissionModeOverrideResponse,
};
use pilothouse_proto::mcp::McpServerConfig;
use pilothouse_rules::Mode;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::MODES;
use crate::mcp::{McpTool, Origin};
use crate::pace::Pace;
use crate::session::Session;
use crate::tool::{ToolCall, Verdict};

/// How long a call without the model may take unless the host says otherwise, and the bounds of what it may say.
const CALL: Duration = Duration::from_secs(120);
const SHORTEST_CALL: u64 = 1_000;
const LONGEST_CALL: u64 = 600_000;

/// Answers one of them; others are not handed here.
pub(super) async fn answer(session: &Arc<Session>, request: HostRequest, responder: Responder<Agent>) {
    let done = match request {
        HostRequest::McpStatus(_) => {
            return responder.success(&json!({"mcpServers": session.mcp.statuses()}));
        }
        HostRequest::McpSetServers(set) => {
            return responder.success(&session.mcp.set(set.servers).await);
        }
        HostRequest::McpCall(call) => return self::call(session, *call, responder).await,
        HostRequest::McpReadResource(read) => return self::read_resource(session, &read, responder).await,
        HostRequest::McpReconnect(reconnect) => session.mcp.reconnect(&reconnect.server_name).await,
        HostRequest::McpToggle(toggle) => session.mcp.toggle(&toggle.server_name, toggle.enabled).await,
        HostRequest::HostMcpMessage(message) => session.mcp.deliver(&message.server_name, &message.message),
        other => Err(format!("Unsupported control request subtype: {}", other.tag())),
    };
    match done {
        Ok(()) => responder.success(&Ack::default()),
        Err(error) => responder.error(error),
    }
}

/// Holds calls to one server to a mode, or no longer.
pub(super) fn hold_to_mode(
    session: &Session,
    set: &SetMcpPermissionModeOverride,
    responder: Responder<Agent>,
) {
    let mode = match &set.mode {
        Opt::Null => None,
        Opt::Some(mode) if mode.as_str() == "default" => Some(Mode::Default),
        Opt::Some(mode) if mode.as_str() == "auto" => Some(Mode::Auto),
        Opt::Some(mode) if MODES.split(", ").any(|known| known == mode.as_str()) => {
            let error = format!(
                "A server cannot be held to '{mode}': only 'default', 'auto' and null make it stricter"
            );
            return responder.error(error);
        }
        Opt::Some(_) | Opt::Absent => {
            return responder.error(format!("Cannot set permission mode: must be one of {MODES}"));
        }
    };
    let name = &set.server_name;
    session.mcp.hold_to(name, mode);
    let is_known = session.mcp.statuses().iter().any(|server| server.name == *name);
    let warning =
        (!is_known).then(|| format!("There is no MCP server '{name}' yet; this counts once there is one."));
    responder
        .success(&SetMcpPermissionModeOverrideResponse { warning: warning.into(), ..Default::default() });
}

/// A page that a server has for people. Other resources are for the model, which asks for them itself.
async fn read_resource(session: &Session, read: &McpReadResource, responder: Responder<Agent>) {
    if !read.uri.starts_with("ui://") {
        return responder.error("mcp_read_resource: uri must use the ui:// scheme");
    }
    let statuses = session.mcp.statuses();
    if !statuses.iter().any(|server| server.name == read.server_name) {
        return responder.error(format!("Server not found: {}", read.server_name));
    }
    let Some((connection, _)) =
        session.mcp.connection(&read.server_name).filter(|(found, _)| found.inbox.is_none())
    else {
        return responder.error(format!("Server not connected: {}", read.server_name));
    };
    let asked = ReadResourceRequestParams::new(read.uri.clone());
    match tokio::time::timeout(CALL, connection.peer.read_resource(asked)).await {
        Ok(Ok(found)) => responder.success(&json!({"contents": found.contents})),
        Ok(Err(error)) => responder.error(format!("mcp_read_resource: {error}")),
        Err(_) => responder.error("mcp_read_resource: the server did not answer in time"),
    }
}

/// One server that cannot be read does not keep out the others.
pub(super) async fn set_readable(
    session: &Session,
    servers: &Map<String, Value>,
    responder: Responder<Agent>,
) {
    let mut readable = BTreeMap::new();
    let mut errors = BTreeMap::new();
    for (name, config) in servers {
        match serde_json::from_value::<McpServerConfig>(config.clone()) {
            Ok(config) => drop(readable.insert(name.clone(), config)),
            Err(error) => drop(errors.insert(name.clone(), error.to_string())),
        }
    }
    let mut response = session.mcp.set(readable).await;
    response.errors.extend(errors);
    responder.success(&response);
}

/// Why there is nothing to do about the credentials of a server: none are kept here.
pub(super) fn no_credentials(session: &Session, asked: &str, name: &str) -> String {
    let statuses = session.mcp.statuses();
    let Some(server) = statuses.iter().find(|server| server.name == name) else {
        return format!("Server not found: {name}");
    };
    let transport = server.transport.as_ref().map_or("unknown", String::as_str);
    match asked {
        "mcp_clear_auth" => {
            format!("Cannot clear auth for server type \"{transport}\": no credentials are kept")
        }
        _ => format!("Server type \"{transport}\" does not support OAuth authentication here"),
    }
}

/// A call that the host makes itself, past the model.
async fn call(session: &Arc<Session>, call: McpCall, responder: Responder<Agent>) {
    if let Some(detail) = call.expires_at.as_ref().and_then(|at| expired(session, at)) {
        let staging = json!({"ok": false, "error_code": "expired", "detail": detail});
        return responder.success(&json!({"staging": staging}));
    }
    if !call.tool.starts_with("mcp__") {
        return responder.error(format!("Not a fully-qualified MCP tool name: {}", call.tool));
    }
    let found = session.mcp.tools().into_iter().find(|tool| tool.full_name() == call.tool);
    let Some(tool) = found else {
        return responder.error(format!("MCP tool not found: {}", call.tool));
    };
    let meta = tool.meta();
    if meta.source == Origin::Sdk.name() {
        return responder.error(format!(
            "mcp_call does not support SDK MCP servers: {} is the host's own, call it there",
            meta.server
        ));
    }
    let millis = call.timeout_ms.as_ref().and_then(|millis| millis.as_u64());
    let limit =
        millis.map_or(CALL, |millis| Duration::from_millis(millis.clamp(SHORTEST_CALL, LONGEST_CALL)));
    let mut arguments = call.arguments.into_option().unwrap_or_default();
    if call.check_permissions.as_ref() == Some(&true) {
        match allowed(session, &tool, arguments).await {
            Ok(input) => arguments = input,
            Err(reason) => return responder.error(format!("The tool did not run: {reason}")),
        }
    }
    match tool.call(arguments, None, Some(limit), &CancellationToken::new()).await {
        Ok(result) => responder.success(&result),
        Err(pilothouse_tools::Outcome::Failed { message, .. }) => responder.error(message),
        Err(_) => responder.error("the call was stopped"),
    }
}

/// Why a request is void, if it is. A time that cannot be read may well have passed.
fn expired(session: &Session, at: &str) -> Option<String> {
    match at.parse::<jiff::Timestamp>() {
        Ok(time) if time.as_millisecond() > session.stamp().millis() => None,
        Ok(_) => Some(format!("request expired at {at}")),
        Err(_) => Some(format!("expires_at is not an RFC3339 timestamp with a zone: {at}")),
    }
}

/// The arguments of a call that may run, as whoever allowed it wants them; else why it may not.
async fn allowed(
    session: &Arc<Session>,
    tool: &McpTool,
    input: Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let id = format!("toolu_mcp_call_{}", session.stamp().uuid().into_string().replace('-', ""));
    let call = ToolCall {
        id: id.into(),
        name: tool.full_name().to_owned(),
        input,
        caller: None,
        stop: CancellationToken::new(),
        pace: Pace::default(),
    };
    match session.gate().check(session, &call, tool).await {
        Verdict::Run { input, .. } => Ok(input),
        Verdict::Refuse { message, .. } => Err(message),
        Verdict::Defer => Err("a hook puts it off".to_owned()),
        Verdict::Interrupt => Err("it was stopped".to_owned()),
    }
}
