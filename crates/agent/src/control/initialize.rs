//! The first request of a host.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pilothouse_link::{Agent, Responder};
use pilothouse_proto::control::{Initialize, InitializeResponse, ManifestFate};
use pilothouse_proto::mcp::McpSdkServer;
use pilothouse_proto::message::FastModeState;
use pilothouse_proto::system::ApiKeySource;
use pilothouse_proto::{AccountInfo, ApiProvider, McpServerConfig, PermissionMode};
use serde_json::{Value, json};

use crate::frames::init::{CAPABILITIES, key_source};
use crate::launch::{Launch, PROTOCOL_VERSION};
use crate::mcp::Configured;
use crate::offers;
use crate::session::Session;

/// Less than this many milliseconds is taken for a mistake.
const SHORTEST_TIMEOUT: u64 = 1_000;

/// Takes what the host registers and tells it what there is. A second time replaces the first.
pub(crate) async fn initialize(
    session: &Arc<Session>,
    mut initialize: Initialize,
    raw: &[u8],
    responder: Responder<Agent>,
) {
    let line: Value = serde_json::from_slice(raw).unwrap_or_default();
    let said = |field: &str| line.pointer(&format!("/request/{field}"));
    // Old spellings are not what a current CLI reads, whatever the types here accept.
    if said("sdkMcpServers").is_none() {
        initialize.sdk_mcp_servers.take();
    }
    let hooks = said("hooks").cloned().unwrap_or(Value::Null);
    let had_begun = session.is_initialized() || session.has_answered();
    if let Err(error) = session.hooks().register(&hooks) {
        responder.error(error.to_string());
        return;
    }
    if session.launch().bare {
        // They are taken like others, and never called.
        drop(session.hooks().register(&Value::Null));
    }
    if let Some(title) = initialize.title.as_ref() {
        session.entitle(title);
    }
    let applied = add_external_servers(session, said("mcpServers"));
    let manifests = add_servers(session, &initialize, said("sdkMcpServerManifests"));
    let plugins =
        initialize.plugins.as_ref().is_some().then(|| plugins_are_there(session.launch(), &initialize));
    session.set_initialize(initialize);
    session.add_plugins_of_host();
    session.mcp.start().await;
    let mut response = response(session, !hooks.is_null());
    response.sdk_mcp_manifests_parked = manifests.into();
    response.plugins_applied = plugins.into();
    response.mcp_servers_applied = applied.into();
    session.told_of(&response.commands);
    responder.success(&response);
    if had_begun {
        session.tell_tasks();
    }
}

/// What a host sent that cannot be read as a whole, without the parts that are only there to save time: what is wrong with
/// those is told of each.
pub(crate) fn readable(raw: &[u8]) -> Option<Initialize> {
    let mut line: Value = serde_json::from_slice(raw).ok()?;
    let request = line.get_mut("request")?.as_object_mut()?;
    for part in ["sdkMcpServerManifests", "sdkMcpServerConfigs", "managedSettings", "mcpServers"] {
        request.remove(part);
    }
    if let Some(Value::Object(agents)) = request.get_mut("agents") {
        agents.retain(|_, agent| agent.is_object());
    }
    serde_json::from_value(Value::Object(std::mem::take(request))).ok()
}

/// Takes in servers that the host names, if the command line waits for them, and tells whether these are in use. What cannot be
/// read of them is told in `system/init`.
fn add_external_servers(session: &Session, servers: Option<&Value>) -> Option<bool> {
    let servers = servers.filter(|servers| servers.as_object().is_some_and(|servers| !servers.is_empty()))?;
    let is_first = session.launch().await_initialize && !session.is_initialized();
    Some(session.mcp.add_of_initialize(session.launch(), servers, is_first))
}

/// Takes in the servers inside the host, and gives what became of their manifests.
fn add_servers(
    session: &Session,
    initialize: &Initialize,
    manifests: Option<&Value>,
) -> Option<BTreeMap<String, ManifestFate>> {
    let mut fates = BTreeMap::new();
    for name in initialize.sdk_mcp_servers.as_ref().into_iter().flatten() {
        let settings = initialize.sdk_mcp_server_configs.as_ref().and_then(|all| all.get(name));
        let timeout = settings.and_then(|settings| settings.timeout.as_ref());
        let config = McpSdkServer {
            name: name.clone(),
            timeout: timeout.filter(|millis| millis.as_u64() >= Some(SHORTEST_TIMEOUT)).cloned().into(),
            ..McpSdkServer::default()
        };
        session.mcp.add([Configured::given(name, McpServerConfig::Sdk(config))]);
        if let Some(policies) = settings.and_then(|settings| settings.tools.as_ref()) {
            session.mcp.restrict(name, policies.clone());
        }
        let manifest = manifests.map(|all| all.get(name).unwrap_or(&Value::Null));
        let asked_for = |manifest: &&Value| !manifest.is_null() || !manifests.is_some_and(Value::is_object);
        if let Some(manifest) = manifest.filter(asked_for)
            && let Some(fate) = session.mcp.park(name, manifest)
        {
            fates.insert(name.clone(), fate);
        }
    }
    (!fates.is_empty()).then_some(fates)
}

fn plugins_are_there(launch: &Launch, initialize: &Initialize) -> bool {
    let wanted = initialize.plugins.as_ref().map(Vec::len).unwrap_or_default();
    let there = plugin_dirs(launch, initialize);
    there.len() == wanted && there.iter().all(|folder| folder.is_dir())
}

/// The plugins that the host names, which count only where the command line waits for them.
pub(crate) fn plugin_dirs(launch: &Launch, initialize: &Initialize) -> Vec<PathBuf> {
    let plugins = initialize.plugins.as_ref().filter(|_| launch.await_initialize);
    plugins.into_iter().flatten().map(|plugin| launch.cwd.join(&plugin.path)).collect()
}

fn response(session: &Session, hooks: bool) -> InitializeResponse {
    let state = if session.queue(|queue| queue.is_running()) { "running" } else { "idle" };
    InitializeResponse {
        commands: offers::commands(session),
        agents: offers::agents(session),
        output_style: offers::output_style(session),
        available_output_styles: offers::output_styles(session),
        user_output_styles_dir: crate::prompt::user_folder(session).display().to_string().into(),
        models: offers::models(session),
        account: AccountInfo {
            token_source: "none".into(),
            // Hosts take any text for a key.
            api_key_source: Some(key_source(session))
                .filter(|source| *source != ApiKeySource::None)
                .map(|source| source.as_str().to_owned())
                .into(),
            api_provider: ApiProvider::from("firstParty").into(),
            ..AccountInfo::default()
        },
        hooks_applied: hooks.then_some(true).into(),
        hook_on_failure_supported: true.into(),
        claude_code_version: PROTOCOL_VERSION.into(),
        fast_mode_state: FastModeState::from("off").into(),
        capabilities: CAPABILITIES.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>().into(),
        session_state: json!(state).into(),
        pid: u64::from(session.stamp().process_id()).into(),
        current_permission_mode: PermissionMode::from(session.mode().name()).into(),
        analytics_disabled: true.into(),
        ..InitializeResponse::default()
    }
}
