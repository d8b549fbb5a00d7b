//! Options to the handshake: whatever may be large, and whatever only the host can answer.

use std::collections::BTreeMap;

use pilothouse_mcp::ServerSet;
use pilothouse_proto::control::{Initialize, SdkMcpServerManifest, SdkMcpServerSettings};
use pilothouse_proto::{Opt, SdkPluginConfig};
use serde_json::{Map, Value};

use super::environment::is_truthy;
use super::values::{McpRegistration, Plugin, Skills, SystemPrompt};
use super::{Flags, Options, argv};

/// The `initialize` request of a session with these servers.
pub(crate) async fn initialize(options: &Options, servers: &ServerSet) -> Initialize {
    let mut request = from_flags(&options.flags);
    let handlers = &options.handlers;
    if !handlers.hooks.is_empty() {
        request.hooks = Opt::Some(handlers.hooks.registration());
    }
    request.supported_dialog_kinds = unless_empty(handlers.dialogs.keys().cloned().collect());
    if options.flags.mcp_registration == McpRegistration::Initialize {
        request.sdk_mcp_server_configs = configs(&options.handlers.mcp_settings);
        announce(&mut request, servers).await;
    }
    request
}

/// Names the servers that there are now.
pub(crate) async fn announce(request: &mut Initialize, servers: &ServerSet) {
    let names = servers.names();
    let manifests = if manifests_are_off() { BTreeMap::new() } else { manifests(servers, &names).await };
    request.sdk_mcp_server_manifests = if manifests.is_empty() { Opt::Absent } else { Opt::Some(manifests) };
    request.sdk_mcp_servers = unless_empty(names);
}

fn configs(settings: &BTreeMap<String, SdkMcpServerSettings>) -> Opt<BTreeMap<String, SdkMcpServerSettings>> {
    if settings.is_empty() { Opt::Absent } else { Opt::Some(settings.clone()) }
}

/// Whether the user wants every server to be asked by the CLI itself.
fn manifests_are_off() -> bool {
    std::env::var("CLAUDE_AGENT_SDK_DISABLE_MCP_MANIFESTS").is_ok_and(|value| is_truthy(&value))
}

fn from_flags(flags: &Flags) -> Initialize {
    let mut request = Initialize {
        plan_mode_instructions: optional(&flags.plan_mode_instructions),
        title: optional(&flags.title),
        system_prompt_snapshot: optional(&flags.system_prompt_snapshot),
        prompt_suggestions: switch(flags.prompt_suggestions),
        agent_progress_summaries: switch(flags.agent_progress_summaries),
        forward_subagent_text: switch(flags.forward_subagent_text),
        per_task_stop_affordance: switch(flags.per_task_stop_affordance),
        ..Initialize::default()
    };
    match &flags.system_prompt {
        Some(SystemPrompt::Custom(blocks)) => request.system_prompt = Opt::Some(blocks.clone().into()),
        Some(SystemPrompt::ClaudeCode { append, exclude_dynamic_sections }) => {
            request.append_system_prompt = optional(append);
            request.exclude_dynamic_sections = switch(*exclude_dynamic_sections);
        }
        Some(SystemPrompt::File(_)) | None => {}
    }
    if !flags.agents.is_empty() {
        request.agents = Opt::Some(flags.agents.clone());
    }
    if !flags.tool_aliases.is_empty() {
        request.tool_aliases = Opt::Some(flags.tool_aliases.clone());
    }
    if let Some(Skills::Only(names)) = &flags.skills {
        request.skills = Opt::Some(names.clone());
    }
    if flags.plugins_in_initialize {
        request.plugins = Opt::Some(flags.plugins.iter().map(plugin).collect());
    }
    if flags.sends_mcp_servers() {
        request.mcp_servers = Opt::Some(flags.mcp_servers.clone());
    }
    if let (Some(settings), None) = (&flags.managed_settings, argv::short_policy(flags)) {
        request.managed_settings = Opt::Some(settings.clone());
    }
    if let (Some(Value::Object(schema)), None) = (&flags.json_schema, argv::short_schema(flags)) {
        request.json_schema = Opt::Some(schema.clone());
    }
    request
}

/// What the servers would answer to their handshake. One that cannot say is asked by the CLI itself.
async fn manifests(servers: &ServerSet, names: &[String]) -> BTreeMap<String, SdkMcpServerManifest> {
    let mut manifests = BTreeMap::new();
    for name in names {
        let Some(server) = servers.get(name) else { continue };
        match server.manifest().await {
            Ok(manifest) => {
                let Some(initialize_result) = object(manifest.initialize_result.get()) else { continue };
                let tools = manifest.tools_list_result.and_then(|tools| object(tools.get()));
                manifests.insert(
                    name.clone(),
                    SdkMcpServerManifest {
                        initialize_result,
                        tools_list_result: tools.map_or(Opt::Absent, Opt::Some),
                        ..SdkMcpServerManifest::default()
                    },
                );
            }
            Err(error) => tracing::debug!(server = name, %error, "no manifest"),
        }
    }
    manifests
}

fn object(json: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(json).ok()
}

fn plugin(plugin: &Plugin) -> SdkPluginConfig {
    SdkPluginConfig {
        path: plugin.path.to_string_lossy().into_owned(),
        skip_mcp_discovery: switch(plugin.without_mcp),
        ..SdkPluginConfig::default()
    }
}

/// Absent, not `null`: a few fields give `null` a meaning of its own.
fn optional<T: Clone>(value: &Option<T>) -> Opt<T> {
    value.clone().map_or(Opt::Absent, Opt::Some)
}

fn switch(on: bool) -> Opt<bool> {
    if on { Opt::Some(true) } else { Opt::Absent }
}

fn unless_empty(list: Vec<String>) -> Opt<Vec<String>> {
    if list.is_empty() { Opt::Absent } else { Opt::Some(list) }
}

#[cfg(test)]
#[path = "initialize_tests.rs"]
mod tests;
