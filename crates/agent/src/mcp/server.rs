//! One server, and how things stand with it.

use std::sync::Arc;
use std::time::Duration;

use pilothouse_mcp::rmcp::model::Tool;
use pilothouse_proto::mcp::{
    McpConnection, McpServerConfig, McpServerInfo, McpServerStatus, McpToolAnnotations, McpToolInfo,
};
use pilothouse_proto::system::McpServerState;
use pilothouse_proto::{Extra, Opt};

use crate::mcp::config::{Configured, Origin};
use crate::mcp::connect::Connection;
use crate::mcp::manifest::Manifest;

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) configured: Configured,
    pub(crate) state: State,
    /// What it offers, as it said last.
    pub(crate) tools: Vec<Tool>,
    /// Counts connections, so that one that comes late does not replace a newer one.
    pub(crate) generation: u64,
    /// Whether the host named it while the session ran, and so may take it away again.
    pub(crate) set_by_host: bool,
    /// What the host has written down of it, until it is connected for the first time.
    pub(crate) manifest: Option<Manifest>,
}

#[derive(Clone, Debug)]
pub(crate) enum State {
    /// Nobody has tried yet.
    Idle,
    Connecting,
    Connected(Arc<Connection>),
    Failed(String),
    Disabled,
}

impl Server {
    pub(crate) fn new(configured: Configured, set_by_host: bool) -> Self {
        let (state, tools, manifest) = (State::Idle, Vec::new(), None);
        Self { configured, state, tools, generation: 0, set_by_host, manifest }
    }

    pub(crate) fn connection(&self) -> Option<&Arc<Connection>> {
        match &self.state {
            State::Connected(connection) => Some(connection),
            _ => None,
        }
    }

    /// How long a call may take; none is as long as it takes.
    pub(crate) fn call_timeout(&self) -> Option<Duration> {
        let timeout = match &self.configured.config {
            McpServerConfig::Stdio(server) | McpServerConfig::Untyped(server) => &server.timeout,
            McpServerConfig::Http(server) => &server.timeout,
            McpServerConfig::Sse(server) => &server.timeout,
            McpServerConfig::Sdk(server) => &server.timeout,
            _ => return None,
        };
        let millis = timeout.as_ref().and_then(|timeout| timeout.as_u64())?;
        Some(Duration::from_millis(millis.max(1_000)))
    }

    /// As `system/init` shows it.
    pub(crate) fn summary(&self) -> McpServerState {
        let status = match &self.state {
            State::Idle | State::Connecting => "pending",
            State::Connected(_) => "connected",
            State::Failed(_) => "failed",
            State::Disabled => "disabled",
        };
        McpServerState {
            name: self.configured.name.clone(),
            status: status.to_owned(),
            source: self.configured.origin.name().to_owned().into(),
            extra: Extra::default(),
        }
    }

    /// As `mcp_status` shows it; none for a server in the host that has not answered yet.
    pub(crate) fn status(&self) -> Option<McpServerStatus> {
        let in_process = self.configured.is_in_process();
        let state = match &self.state {
            State::Idle | State::Connecting if in_process => return None,
            State::Idle | State::Connecting => McpConnection::Pending,
            State::Connected(_) => McpConnection::Connected,
            State::Failed(_) => McpConnection::Failed,
            State::Disabled => McpConnection::Disabled,
        };
        let mut status = McpServerStatus {
            name: self.configured.name.clone(),
            status: state,
            server_info: Opt::Absent,
            error: Opt::Absent,
            config: Opt::Absent,
            scope: Opt::Absent,
            source: Opt::Absent,
            tools: Opt::Absent,
            transport: Opt::Absent,
            extra: Extra::default(),
        };
        if let State::Connected(connection) = &self.state {
            let offer = &connection.offer;
            let (name, version) = (offer.name.clone(), offer.version.clone());
            status.server_info = McpServerInfo { name, version, extra: Extra::default() }.into();
            status.tools = self.tools.iter().map(tool_info).collect::<Vec<_>>().into();
        }
        if let (State::Failed(error), false) = (&self.state, in_process) {
            status.error = error.clone().into();
        }
        if !in_process {
            status.config = typed(&self.configured.config).into();
        }
        status.transport = transport(&self.configured.config).to_owned().into();
        // As observed: a server in the host that failed counts as one of the user's.
        let scope = match (self.configured.origin, &self.state) {
            (Origin::Sdk, State::Connected(_)) => "dynamic",
            (Origin::Sdk, _) => "user",
            (origin, _) => origin.name(),
        };
        status.scope = scope.to_owned().into();
        status.source = self.configured.origin.name().to_owned().into();
        Some(status)
    }
}

fn tool_info(tool: &Tool) -> McpToolInfo {
    let mut annotations = McpToolAnnotations::default();
    if let Some(said) = &tool.annotations {
        annotations.read_only = said.read_only_hint.filter(|hint| *hint).into();
        annotations.destructive = said.destructive_hint.filter(|hint| *hint).into();
        annotations.open_world = said.open_world_hint.filter(|hint| *hint).into();
    }
    let mut info = McpToolInfo { name: tool.name.to_string(), ..McpToolInfo::default() };
    info.annotations = annotations.into();
    info
}

/// A configuration without a type means a program to start, and is shown as that.
fn typed(config: &McpServerConfig) -> McpServerConfig {
    let mut config = match config {
        McpServerConfig::Untyped(server) => McpServerConfig::Stdio(server.clone()),
        other => other.clone(),
    };
    if let McpServerConfig::Stdio(server) = &mut config {
        server.args = server.args.take().unwrap_or_default().into();
    }
    config
}

fn transport(config: &McpServerConfig) -> &'static str {
    match config {
        McpServerConfig::Stdio(_) | McpServerConfig::Untyped(_) => "stdio",
        McpServerConfig::Sse(_) => "sse",
        McpServerConfig::Http(_) => "http",
        McpServerConfig::Sdk(_) => "sdk",
        _ => "unknown",
    }
}
