use std::collections::BTreeMap;

use crate::lenient::Texts;
use crate::message::{FastModeDisabledReason, FastModeState};
use crate::permission::PermissionMode;
use crate::wire::{Opt, SessionId, Uuid, open_enum, record};

record! {
    /// The session's metadata. It comes at the start of each turn; the newest counts.
    pub struct Init {
        /// The working directory.
        cwd: String,
        /// Names of the tools the session has.
        tools: Texts,
        /// MCP servers and their state.
        mcp_servers: Opt<Vec<McpServerState>>,
        /// The model.
        model: String,
        /// The permission mode.
        permission_mode as "permissionMode": Opt<PermissionMode>,
        /// Slash commands, without the slash.
        slash_commands: Opt<Texts>,
        /// Of these, the ones that need a terminal.
        terminal_slash_commands: Opt<Texts>,
        /// Where the API key comes from.
        api_key_source as "apiKeySource": Opt<ApiKeySource>,
        /// The CLI's version.
        claude_code_version: Opt<String>,
        /// The output style.
        output_style: Opt<String>,
        /// Names of the agents.
        agents: Opt<Texts>,
        /// Names of the skills.
        skills: Opt<Texts>,
        /// Loaded plugins.
        plugins: Opt<Vec<PluginState>>,
        /// Plugins that failed to load. Absence does not prove that all loaded.
        plugin_errors: Opt<Vec<PluginError>>,
        /// API beta features in use.
        betas: Opt<Vec<String>>,
        /// What this CLI can do, see the protocol's list of capabilities.
        capabilities: Opt<Texts>,
        /// Whether fast mode is on.
        fast_mode_state: Opt<FastModeState>,
        /// Why it is not.
        fast_mode_disabled_reason: Opt<FastModeDisabledReason>,
        /// How much the model thinks; only on remote control.
        effort: Opt<EffortLevel>,
        /// How the terminal shows the session.
        view_mode: Opt<ViewMode>,
        /// Whether telemetry is off.
        analytics_disabled: Opt<bool>,
        /// Whether feedback to the vendor is off.
        product_feedback_disabled: Opt<bool>,
        /// Where memory is kept.
        memory_paths: Opt<BTreeMap<String, String>>,
        /// The directory the session began in.
        original_cwd: Opt<String>,
        /// Further directories the session may use.
        additional_directories: Opt<Vec<String>>,
        /// Where other sessions can reach this one.
        messaging_socket_path: Opt<String>,
        /// Whether effort is chosen per turn.
        per_turn_effort_active: Opt<bool>,
        /// Whether a word in the prompt can raise effort.
        ultrathink_available: Opt<bool>,
        /// Whether it does so when typed.
        ultrathink_typed_raises: Opt<bool>,
        /// MCP servers whose configuration is not valid.
        mcp_server_errors: Opt<Vec<McpServerError>>,
        /// The prompts that this turn consumes.
        user_message_uuids: Opt<Vec<String>>,
        /// Names this frame.
        uuid: Opt<Uuid>,
        /// The session.
        session_id: SessionId,
    }

    /// An MCP server and its state.
    #[derive(Default)]
    pub struct McpServerState {
        /// Its name.
        name: String,
        /// Its state, such as `connected`.
        status: String,
        /// Where it is configured.
        source: Opt<String>,
    }

    /// An MCP server whose configuration is not valid.
    #[derive(Default)]
    pub struct McpServerError {
        /// Its name.
        name: String,
        /// What kind of problem it is.
        kind as "type": String,
        /// What is wrong.
        message: String,
    }

    /// A loaded plugin.
    #[derive(Default)]
    pub struct PluginState {
        /// Its name.
        name: String,
        /// Where it lies.
        path: String,
        /// Where it comes from.
        source: Opt<String>,
        /// Its version.
        version: Opt<String>,
    }

    /// A plugin that failed to load.
    #[derive(Default)]
    pub struct PluginError {
        /// The plugin.
        plugin: String,
        /// What kind of problem it is.
        kind as "type": String,
        /// What is wrong.
        message: String,
        /// The file concerned.
        path: Opt<String>,
        /// Set when managed settings hold the plugin fixed.
        managed_lock: Opt<ManagedLock>,
    }

    /// How managed settings hold a plugin fixed.
    #[derive(Default)]
    pub struct ManagedLock {
        /// Whether they switch it on.
        plugin_enabled: bool,
        /// Its name there.
        name: String,
        /// Its marketplace.
        marketplace: Opt<String>,
    }
}

open_enum! {
    /// Where the API key comes from.
    pub enum ApiKeySource {
        /// The environment.
        Environment = "ANTHROPIC_API_KEY",
        /// A helper program.
        ApiKeyHelper = "apiKeyHelper",
        /// A key that `/login` manages.
        ManagedKey = "/login managed key",
        /// There is none.
        None = "none",
        /// The user's settings.
        User = "user",
        /// The project's settings.
        Project = "project",
        /// The organisation.
        Org = "org",
        /// A temporary key.
        Temporary = "temporary",
        /// A login.
        Oauth = "oauth",
    }

    /// How much the model thinks.
    pub enum EffortLevel {
        /// Little.
        Low = "low",
        /// Some.
        Medium = "medium",
        /// Much.
        High = "high",
        /// Very much.
        XHigh = "xhigh",
        /// As much as it can.
        Max = "max",
    }

    /// How a terminal shows the session.
    pub enum ViewMode {
        /// Only what matters.
        Focus = "focus",
        /// Everything.
        Default = "default",
    }
}
