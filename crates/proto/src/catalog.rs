//! What a CLI offers: commands, agents, models, plugins.

use serde_json::{Number, Value};

use crate::mcp::AgentMcpServerSpec;
use crate::permission::PermissionMode;
use crate::system::EffortLevel;
use crate::wire::{Opt, open_enum, record};

record! {
    /// A slash command.
    #[derive(Default)]
    pub struct SlashCommand {
        /// Its name.
        name: String,
        /// What it is about.
        description: String,
        /// What the arguments look like.
        argument_hint as "argumentHint": String,
        /// Other names.
        aliases: Opt<Vec<String>>,
        /// Whether it comes with the CLI.
        builtin: Opt<bool>,
    }

    /// An agent that can be started.
    #[derive(Default)]
    pub struct AgentInfo {
        /// Its name.
        name: String,
        /// What it is about.
        description: String,
        /// The model.
        model: Opt<String>,
    }

    /// An agent that a host defines.
    #[derive(Default)]
    pub struct AgentDefinition {
        /// What it is about.
        description: String,
        /// The tools.
        tools: Opt<Vec<String>>,
        /// Tools it must not use.
        disallowed_tools as "disallowedTools": Opt<Vec<String>>,
        /// The prompt.
        prompt: String,
        /// The model.
        model: Opt<String>,
        /// MCP servers.
        mcp_servers as "mcpServers": Opt<Vec<AgentMcpServerSpec>>,
        /// A reminder that is repeated to the agent; experimental.
        critical_system_reminder as "criticalSystemReminder_EXPERIMENTAL": Opt<String>,
        /// The skills.
        skills: Opt<Vec<String>>,
        /// The first prompt.
        initial_prompt as "initialPrompt": Opt<String>,
        /// The most turns it may take.
        max_turns as "maxTurns": Opt<u64>,
        /// The window that compaction counts with.
        auto_compact_window as "autoCompactWindow": Opt<u64>,
        /// Whether it runs in the background.
        background: Opt<bool>,
        /// Whether to leave out memory files.
        omit_claude_md as "omitClaudeMd": Opt<bool>,
        /// The kind of memory it keeps.
        memory: Opt<AgentMemory>,
        /// How much to think.
        effort: Opt<Effort>,
        /// The permission mode.
        permission_mode as "permissionMode": Opt<PermissionMode>,
        /// The agent that watches it.
        observer: Opt<String>,
        /// What that agent is told.
        observer_message as "observerMessage": Opt<String>,
    }

    /// A model that can be chosen.
    #[derive(Default)]
    pub struct ModelInfo {
        /// The value.
        value: String,
        /// The model it stands for.
        resolved_model as "resolvedModel": Opt<String>,
        /// A name for people.
        display_name as "displayName": String,
        /// What it is about.
        description: String,
        /// Whether effort can be chosen.
        supports_effort as "supportsEffort": Opt<bool>,
        /// The levels it knows.
        supported_effort_levels as "supportedEffortLevels": Opt<Vec<EffortLevel>>,
        /// Whether it thinks as much as it needs.
        supports_adaptive_thinking as "supportsAdaptiveThinking": Opt<bool>,
        /// Whether fast mode works with it.
        supports_fast_mode as "supportsFastMode": Opt<bool>,
        /// Whether auto mode works with it.
        supports_auto_mode as "supportsAutoMode": Opt<bool>,
        /// Whether thinking can be switched off.
        supports_thinking_off as "supportsThinkingOff": Opt<bool>,
    }

    /// Who is logged in.
    #[derive(Default)]
    pub struct AccountInfo {
        /// The address.
        email: Opt<String>,
        /// The organisation.
        organization: Opt<String>,
        /// The plan.
        subscription_type as "subscriptionType": Opt<String>,
        /// Where the token comes from.
        token_source as "tokenSource": Opt<String>,
        /// Where the API key comes from.
        api_key_source as "apiKeySource": Opt<String>,
        /// Who serves the API.
        api_provider as "apiProvider": Opt<ApiProvider>,
    }

    /// A plugin that a host brings along.
    #[derive(Default)]
    pub struct SdkPluginConfig {
        /// Where the plugin is.
        kind as "type": PluginKind,
        /// The path.
        path: String,
        /// Whether to leave its MCP servers alone.
        skip_mcp_discovery as "skipMcpDiscovery": Opt<bool>,
    }

    /// A settings file that could not be read.
    #[derive(Default)]
    pub struct SettingsParseError {
        /// The file.
        file: Opt<String>,
        /// The path.
        path: String,
        /// The text.
        message: String,
    }
}

open_enum! {
    /// Where a plugin is.
    pub enum PluginKind {
        /// In a directory of this machine.
        Local = "local",
    }

    /// The kind of memory an agent keeps.
    pub enum AgentMemory {
        User = "user",
        Project = "project",
        Local = "local",
    }

    /// Who serves the API.
    pub enum ApiProvider {
        FirstParty = "firstParty",
        Bedrock = "bedrock",
        Vertex = "vertex",
        Foundry = "foundry",
        AnthropicAws = "anthropicAws",
        AnthropicGoogleCloud = "anthropicGoogleCloud",
        Mantle = "mantle",
        Gateway = "gateway",
    }
}

/// There is no other kind yet.
impl Default for PluginKind {
    fn default() -> Self {
        Self::Local
    }
}

/// How much an agent thinks: a level, or a number of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A level.
    Level(EffortLevel),
    /// A number.
    Number(Number),
}

impl serde::Serialize for Effort {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Level(level) => level.serialize(serializer),
            Self::Number(number) => number.serialize(serializer),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Effort {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(level) => Ok(Self::Level(EffortLevel::from(level.as_str()))),
            Value::Number(number) => Ok(Self::Number(number)),
            _ => Err(serde::de::Error::custom("expected a level or a number")),
        }
    }
}

impl schemars::JsonSchema for Effort {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Effort".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let level = generator.subschema_for::<EffortLevel>();
        schemars::json_schema!({ "anyOf": [level, { "type": "number" }] })
    }
}
