use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use crate::catalog::{AccountInfo, AgentDefinition, AgentInfo, ModelInfo, SdkPluginConfig, SlashCommand};
use crate::hook::{HookCallbackMatcher, HookEvent};
use crate::lenient::Texts;
use crate::mcp::{McpServerConfig, McpServerToolPolicy};
use crate::message::{FastModeDisabledReason, FastModeState};
use crate::permission::PermissionMode;
use crate::wire::{Opt, open_enum, record};

record! {
    /// The first request of a host: registers hooks, in-process servers, agents and more. It may be repeated.
    #[derive(Default)]
    pub struct Initialize {
        /// Hooks by event.
        hooks: Opt<BTreeMap<HookEvent, Vec<HookCallbackMatcher>>>,
        /// Names of in-process servers.
        sdk_mcp_servers as "sdkMcpServers" or "sdk_mcp_servers": Opt<Vec<String>>,
        /// Settings of those servers.
        sdk_mcp_server_configs as "sdkMcpServerConfigs": Opt<BTreeMap<String, SdkMcpServerSettings>>,
        /// One-shot cache of handshake results so the CLI can skip `initialize`/`tools/list` round trips; host must still answer them.
        sdk_mcp_server_manifests as "sdkMcpServerManifests": Opt<BTreeMap<String, SdkMcpServerManifest>>,
        /// Only for remote transports.
        sdk_mcp_server_manifests_origin as "sdkMcpServerManifestsOrigin": Opt<ManifestsOrigin>,
        /// The schema of structured output.
        json_schema as "jsonSchema": Opt<Map<String, Value>>,
        /// The system prompt in blocks; replaces the default one.
        system_prompt as "systemPrompt": Opt<Texts>,
        /// Text after the default system prompt.
        append_system_prompt as "appendSystemPrompt": Opt<String>,
        /// Default true: record the prompt once.
        system_prompt_snapshot as "systemPromptSnapshot": Opt<bool>,
        /// Instructions for plan mode.
        plan_mode_instructions as "planModeInstructions": Opt<String>,
        /// Single hop tool-name redirects.
        tool_aliases as "toolAliases": Opt<BTreeMap<String, String>>,
        /// Whether to leave out what changes between sessions.
        exclude_dynamic_sections as "excludeDynamicSections": Opt<bool>,
        /// Agents to define, by name.
        agents: Opt<BTreeMap<String, AgentDefinition>>,
        /// A title for the session.
        title: Opt<String>,
        /// Skills to load; absent means all.
        skills: Opt<Vec<String>>,
        /// Whether to suggest what to say next.
        prompt_suggestions as "promptSuggestions": Opt<bool>,
        /// Whether to summarise what subagents do.
        agent_progress_summaries as "agentProgressSummaries": Opt<bool>,
        /// Whether to send what subagents say.
        forward_subagent_text as "forwardSubagentText": Opt<bool>,
        /// Kinds of dialog the host can show; without it none are sent.
        supported_dialog_kinds as "supportedDialogKinds": Opt<Vec<String>>,
        /// Whether an interrupt spares background tasks.
        per_task_stop_affordance as "perTaskStopAffordance": Opt<bool>,
        /// Plugins, only under `--await-initialize`.
        plugins: Opt<Vec<SdkPluginConfig>>,
        /// MCP servers that the CLI starts or connects to, only under `--await-initialize`.
        mcp_servers as "mcpServers": Opt<BTreeMap<String, McpServerConfig>>,
        /// Managed settings, with `--managed-settings-in-initialize`.
        managed_settings as "managedSettings": Opt<Map<String, Value>>,
    }

    /// Settings of an in-process server.
    #[derive(Default)]
    pub struct SdkMcpServerSettings {
        /// How long to wait, in milliseconds.
        timeout: Opt<Number>,
        /// The tools.
        tools: Opt<Vec<McpServerToolPolicy>>,
    }

    /// What an in-process server would answer to its handshake.
    #[derive(Default)]
    pub struct SdkMcpServerManifest {
        /// Its MCP initialize result, as it is.
        initialize_result as "initializeResult": Map<String, Value>,
        /// Its list of tools, unless that is paged.
        tools_list_result as "toolsListResult": Opt<Map<String, Value>>,
    }

    /// What the CLI offers.
    #[derive(Default)]
    pub struct InitializeResponse {
        /// Slash commands.
        commands: Vec<SlashCommand> = default,
        /// The agents.
        agents: Vec<AgentInfo> = default,
        /// The output style.
        output_style: String = default,
        /// Output styles that can be chosen.
        available_output_styles: Vec<String> = default,
        /// Models that can be chosen.
        models: Vec<ModelInfo> = default,
        /// Who is logged in.
        account: AccountInfo = default,
        /// False when the hooks were ignored; absent when there were none.
        hooks_applied: Opt<bool>,
        /// Whether a failing hook can block; check this before relying on it.
        hook_on_failure_supported: Opt<bool>,
        /// Whether every listed plugin is loaded.
        plugins_applied: Opt<bool>,
        /// Whether the CLI took `mcpServers` at launch; absent from a CLI that does not read them.
        mcp_servers_applied: Opt<bool>,
        /// What became of each manifest.
        sdk_mcp_manifests_parked: Opt<BTreeMap<String, ManifestFate>>,
        /// How many hooks of an earlier host still wait for an answer.
        hooks_when_unanswered_kept: Opt<u64>,
        /// The version of the process that runs the turns.
        claude_code_version: Opt<String>,
        /// Whether fast mode is on.
        fast_mode_state: Opt<FastModeState>,
        /// Why fast mode is not on.
        fast_mode_disabled_reason: Opt<FastModeDisabledReason>,
        /// What this CLI can do; the same values as in `system/init`.
        capabilities: Opt<Vec<String>>,
        /// The state of the run; shape undeclared.
        session_state: Opt<Value>,
        /// The CLI's process.
        pid: Opt<u64>,
        /// The permission mode.
        current_permission_mode: Opt<PermissionMode>,
        /// Where the user's output styles lie.
        user_output_styles_dir: Opt<String>,
        /// Whether another hook's ask beats a host's allow.
        other_hook_ask_outranks_host: Opt<bool>,
        /// How feedback is taken; shape undeclared.
        feedback_mode: Opt<Value>,
        /// Whether telemetry is off.
        analytics_disabled: Opt<bool>,
        /// Whether remote control starts by itself.
        remote_control_auto_enable: Opt<bool>,
        /// Whether it then connects by default.
        remote_control_auto_connect_default: Opt<bool>,
        /// Whether remote control can be had.
        remote_control_available: Opt<bool>,
        /// Whether it is on by default.
        remote_control_auto_on_by_default: Opt<bool>,
        /// Whether an editor may start it.
        ide_rc_auto_enable_gate: Opt<bool>,
    }
}

open_enum! {
    /// Who keeps the manifests up to date.
    pub enum ManifestsOrigin {
        /// The host, with every message.
        HostPerSend = "host_per_send",
    }

    /// What became of a manifest.
    pub enum ManifestFate {
        Parked = "parked",
        AlreadyConnected = "already_connected",
        ProtocolVersionMismatch = "protocol_version_mismatch",
        Malformed = "malformed",
        NotHonoured = "not_honoured",
    }
}
