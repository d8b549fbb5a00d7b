use crate::catalog::{AgentInfo, ModelInfo, SdkPluginConfig, SlashCommand};
use crate::mcp::McpServerStatus;
use crate::wire::{Opt, open_enum, record};

record! {
    /// Loads plugins anew.
    #[derive(Default)]
    pub struct ReloadPlugins {
        /// Whether to put it off if it would harm the prompt cache.
        hold_on_cache_impact: Opt<bool>,
        /// Plugins to add.
        add_plugins: Opt<Vec<SdkPluginConfig>>,
        /// Whether to refuse while a turn runs.
        refuse_if_busy: Opt<bool>,
    }

    /// What there is now.
    #[derive(Default)]
    pub struct ReloadPluginsResponse {
        /// The slash commands.
        commands: Vec<SlashCommand>,
        /// The agents.
        agents: Vec<AgentInfo>,
        /// The plugins.
        plugins: Vec<ReloadedPlugin>,
        /// MCP servers.
        mcp_servers as "mcpServers": Vec<McpServerStatus>,
        /// How many failed.
        error_count: u64,
        /// Whether it was put off because of the prompt cache.
        held: Opt<bool>,
        /// What it would do to the prompt cache.
        cache_impact: Opt<CacheImpact>,
    }

    /// A plugin after reloading.
    #[derive(Default)]
    pub struct ReloadedPlugin {
        /// Its name.
        name: String,
        /// The path.
        path: String,
        /// Where it comes from.
        source: Opt<String>,
        /// The version.
        version: Opt<String>,
    }

    /// What reloading would do to the prompt cache.
    #[derive(Default)]
    pub struct CacheImpact {
        /// MCP servers that would come.
        mcp_servers_added: Vec<String>,
        /// MCP servers that would go.
        mcp_servers_removed: Vec<String>,
        /// Whether a tool for languages comes or goes.
        lsp_tool_change: Option<LspToolChange>,
    }

    /// Loads skills anew.
    #[derive(Default)]
    pub struct ReloadSkills {}

    /// The skills.
    #[derive(Default)]
    pub struct ReloadSkillsResponse {
        /// The skills.
        skills: Vec<SlashCommand>,
    }

    /// Loads output styles anew.
    #[derive(Default)]
    pub struct ReloadOutputStyles {}

    /// The styles.
    #[derive(Default)]
    pub struct ReloadOutputStylesResponse {
        /// Output styles that can be chosen.
        available_output_styles: Vec<String>,
    }

    /// Asks for the models.
    #[derive(Default)]
    pub struct ListModels {}

    /// The models.
    #[derive(Default)]
    pub struct ListModelsResponse {
        /// The models.
        models: Vec<ModelInfo>,
    }
}

open_enum! {
    /// Whether a tool for languages comes or goes.
    pub enum LspToolChange {
        Adds = "adds",
        MayAdd = "may-add",
        Removes = "removes",
        MayRemove = "may-remove",
    }
}
