//! Control requests about MCP servers.

use std::collections::BTreeMap;

use pilothouse_mcp::InProcessServer;
use pilothouse_proto::control::{
    McpCall, McpCallResponse, McpModeOverride, McpReadResource, McpReadResourceResponse, McpReconnect,
    McpSetServers, McpSetServersResponse, McpStatus, McpToggle, SetMcpPermissionModeOverride,
    SetMcpPermissionModeOverrideResponse,
};
use pilothouse_proto::mcp::{McpSdkServer, McpServerStatus};
use pilothouse_proto::{Extra, McpServerConfig, Opt};
use serde_json::{Map, Value};

use super::Session;
use crate::error::Error;
use crate::mcp;

impl Session {
    /// The state of all MCP servers.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn mcp_status(&self) -> Result<Vec<McpServerStatus>, Error> {
        self.request(McpStatus::default()).await.map(|reply| reply.mcp_servers)
    }

    /// Replaces the servers that were added at run time, and all in-process ones. One of these may have settings for the
    /// CLI: an entry of its name and of the type `sdk` among the external ones.
    ///
    /// # Errors
    /// As [`Session::request`]. Servers that fail one by one are named in the answer.
    pub async fn set_mcp_servers(
        &self,
        external: BTreeMap<String, McpServerConfig>,
        in_process: impl IntoIterator<Item = InProcessServer>,
    ) -> Result<McpSetServersResponse, Error> {
        let mut servers = external;
        let set = &self.shared.servers;
        let mut replaced = BTreeMap::new();
        for server in in_process {
            // Known here before the CLI hears of it, because it asks the server at once.
            let server = server.fresh();
            let name = server.name().to_owned();
            mcp::forward(&server, self.shared.handle.downgrade());
            let config = McpSdkServer { name: name.clone(), ..McpSdkServer::default() };
            servers.entry(name.clone()).or_insert(McpServerConfig::Sdk(config));
            replaced.insert(name, set.insert(server));
        }
        let reply = self.request(McpSetServers { servers, ..McpSetServers::default() }).await;
        match &reply {
            Ok(_) => {
                for name in set.names().into_iter().filter(|name| !replaced.contains_key(name)) {
                    set.remove(&name);
                }
            }
            // The CLI goes on with those it knows.
            Err(_) => {
                for (name, before) in replaced {
                    match before {
                        Some(server) => drop(set.insert(server)),
                        None => drop(set.remove(&name)),
                    }
                }
            }
        }
        reply
    }

    /// Connects a server anew.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn reconnect_mcp_server(&self, name: impl Into<String>) -> Result<(), Error> {
        self.request(McpReconnect { server_name: name.into(), ..McpReconnect::default() }).await.map(drop)
    }

    /// Switches a server on.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn enable_mcp_server(&self, name: impl Into<String>) -> Result<(), Error> {
        self.request(McpToggle { server_name: name.into(), enabled: true, extra: Extra::new() })
            .await
            .map(drop)
    }

    /// Switches a server off.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn disable_mcp_server(&self, name: impl Into<String>) -> Result<(), Error> {
        self.request(McpToggle { server_name: name.into(), enabled: false, extra: Extra::new() })
            .await
            .map(drop)
    }

    /// Has calls to one server asked about, or judged by the classifier, in a session whose mode would let them pass; none
    /// takes that back. It never allows more than the session's mode. Needs CLI 2.1.326.
    ///
    /// The answer has a warning when no server has that name yet: the override then waits for one.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn set_mcp_permission_mode_override(
        &self,
        server: impl Into<String>,
        mode: Option<McpModeOverride>,
    ) -> Result<SetMcpPermissionModeOverrideResponse, Error> {
        let mode = mode.map_or(Opt::Null, Opt::Some);
        let request = SetMcpPermissionModeOverride { server_name: server.into(), mode, extra: Extra::new() };
        self.request(request).await
    }

    /// Calls a tool of an external server without the model. Waits as long as the call takes.
    ///
    /// A tool that fails answers too: the answer's `is_error` says so.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn call_mcp_tool(
        &self,
        tool: impl Into<String>,
        arguments: Map<String, Value>,
    ) -> Result<McpCallResponse, Error> {
        let request = McpCall { tool: tool.into(), arguments: Opt::Some(arguments), ..McpCall::default() };
        self.shared.handle.request_within(request, None).await.map_err(Error::from)
    }

    /// Reads a `ui://` resource of an external server. What it holds is not to be trusted.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn read_mcp_resource(
        &self,
        server: impl Into<String>,
        uri: impl Into<String>,
    ) -> Result<McpReadResourceResponse, Error> {
        let request =
            McpReadResource { server_name: server.into(), uri: uri.into(), ..McpReadResource::default() };
        self.request(request).await
    }
}
