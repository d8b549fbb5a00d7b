//! What the session may touch: directories, tools, permissions, settings, plugins, external MCP servers.

use std::path::PathBuf;

use pilothouse_proto::PermissionMode;
use serde_json::{Map, Value};

use super::Options;
use super::values::{McpRegistration, PermissionPrompts, Plugin, SettingSource, Settings, Tools};

impl Options {
    /// A directory besides the working one that tools may use (`--add-dir`). May be repeated.
    pub fn add_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.flags.add_dirs.push(directory.into());
        self
    }

    /// Where the project's own configuration is looked for (`--project-config-root`).
    pub fn project_config_root(mut self, directory: impl Into<PathBuf>) -> Self {
        self.flags.project_config_root = Some(directory.into());
        self
    }

    /// Rules for calls that run without being asked about (`--allowedTools`). May be repeated.
    pub fn allow_tools<R: Into<String>>(mut self, rules: impl IntoIterator<Item = R>) -> Self {
        self.flags.allowed_tools.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Rules for calls that are refused (`--disallowedTools`). May be repeated.
    pub fn disallow_tools<R: Into<String>>(mut self, rules: impl IntoIterator<Item = R>) -> Self {
        self.flags.disallowed_tools.extend(rules.into_iter().map(Into::into));
        self
    }

    /// The built-in tools that exist at all (`--tools`).
    pub fn tools(mut self, tools: Tools) -> Self {
        self.flags.tools = Some(tools);
        self
    }

    /// Calls of one tool go to another.
    pub fn tool_alias(mut self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.flags.tool_aliases.insert(from.into(), to.into());
        self
    }

    /// What is allowed without asking (`--permission-mode`).
    pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
        self.flags.permission_mode = Some(mode);
        self
    }

    /// Permits switching to `bypassPermissions` (`--allow-dangerously-skip-permissions`).
    pub fn allow_dangerously_skip_permissions(mut self) -> Self {
        self.flags.allow_dangerously_skip_permissions = true;
        self
    }

    /// The MCP tool that answers permission requests, instead of a handler (`--permission-prompt-tool`).
    pub fn permission_prompt_tool(mut self, tool: impl Into<String>) -> Self {
        self.flags.permission_prompt_tool = Some(tool.into());
        self
    }

    /// Whether anybody answers permission requests (`--permission-prompts`).
    pub fn permission_prompts(mut self, prompts: PermissionPrompts) -> Self {
        self.flags.permission_prompts = Some(prompts);
        self
    }

    /// Settings for this session, above those in files (`--settings`).
    pub fn settings(mut self, settings: Settings) -> Self {
        self.flags.settings = Some(settings);
        self
    }

    /// The `sandbox` block of the settings.
    pub fn sandbox(mut self, sandbox: Map<String, Value>) -> Self {
        self.flags.sandbox = Some(sandbox);
        self
    }

    /// Settings that nothing may override (`--managed-settings`).
    pub fn managed_settings(mut self, settings: Map<String, Value>) -> Self {
        self.flags.managed_settings = Some(settings);
        self
    }

    /// The settings files to load (`--setting-sources`); an empty list loads none. Without it the CLI loads all.
    pub fn setting_sources(mut self, sources: impl IntoIterator<Item = SettingSource>) -> Self {
        self.flags.setting_sources = Some(sources.into_iter().collect());
        self
    }

    /// Loads a plugin (`--plugin-dir`, `--plugin-dir-no-mcp`). May be repeated.
    pub fn plugin(mut self, plugin: Plugin) -> Self {
        self.flags.plugins.push(plugin);
        self
    }

    /// Sends the plugins through `initialize` instead of flags (`--await-initialize`, needs CLI 2.1.261).
    pub fn plugins_in_initialize(mut self) -> Self {
        self.flags.plugins_in_initialize = true;
        self
    }

    /// An MCP server that the CLI starts or dials itself (`--mcp-config`). May be repeated.
    pub fn mcp_server(mut self, name: impl Into<String>, server: pilothouse_proto::McpServerConfig) -> Self {
        self.flags.mcp_servers.insert(name.into(), server);
        self
    }

    /// Sends the servers of [`Options::mcp_server`] through `initialize` instead of a flag (`--await-initialize`, needs CLI
    /// 2.1.326), so that tokens in their variables and headers are not on the command line, which every user of the machine
    /// can read. A CLI that does not take them is refused with [`Error::McpServersIgnored`](crate::Error::McpServersIgnored).
    pub fn mcp_servers_in_initialize(mut self) -> Self {
        self.flags.mcp_servers_in_initialize = true;
        self
    }

    /// A file with MCP servers (`--mcp-config`). May be repeated.
    pub fn mcp_config_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.flags.mcp_config_files.push(path.into());
        self
    }

    /// Uses only the MCP servers given here (`--strict-mcp-config`).
    pub fn strict_mcp_config(mut self) -> Self {
        self.flags.strict_mcp_config = true;
        self
    }

    /// How in-process MCP servers are announced.
    pub fn mcp_registration(mut self, way: McpRegistration) -> Self {
        self.flags.mcp_registration = way;
        self
    }

    /// Keeps copies of files before they change, for [`Session::rewind_files`](crate::Session::rewind_files).
    pub fn file_checkpointing(mut self) -> Self {
        self.flags.file_checkpointing = true;
        self
    }
}
