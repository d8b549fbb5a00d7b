//! What a server's configuration says about single tools of it.

use pilothouse_proto::mcp::{McpServerConfig, McpServerToolPolicy, OrgMaxPermission, ToolPolicy};

use crate::mcp::config::Configured;

impl Configured {
    /// Whether a tool is not even offered.
    pub(crate) fn denies(&self, tool: &str) -> bool {
        self.policies(tool).any(|policy| {
            policy.permission_policy.as_ref() == Some(&ToolPolicy::AlwaysDeny)
                || policy.org_max_permission.as_ref() == Some(&OrgMaxPermission::Blocked)
        })
    }

    /// Whether somebody is asked about each call of a tool, whatever else would let it run.
    pub(crate) fn always_asks(&self, tool: &str) -> bool {
        self.policies(tool).any(|policy| {
            policy.permission_policy.as_ref() == Some(&ToolPolicy::AlwaysAsk)
                || policy.org_max_permission.as_ref() == Some(&OrgMaxPermission::Ask)
        })
    }

    fn policies(&self, tool: &str) -> impl Iterator<Item = &McpServerToolPolicy> {
        let all = match &self.config {
            McpServerConfig::Sdk(server) => server.tools.as_ref(),
            McpServerConfig::Http(server) => server.tools.as_ref(),
            _ => None,
        };
        all.into_iter().flatten().filter(move |policy| policy.name == tool)
    }
}
