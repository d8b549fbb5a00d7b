//! `reload_plugins`: looks anew at what plugins bring.

use std::path::PathBuf;
use std::sync::Arc;

use pilothouse_link::{Agent, Responder};
use pilothouse_proto::control::ReloadPlugins;
use serde_json::{Value, json};

use crate::offers;
use crate::plugin_errors;
use crate::session::Session;

pub(super) fn reload(session: &Arc<Session>, reload: &ReloadPlugins, responder: Responder<Agent>) {
    let is_set = |wish: &pilothouse_proto::Opt<bool>| wish.as_ref() == Some(&true);
    if is_set(&reload.refuse_if_busy) && session.queue(|queue| queue.is_running()) {
        let error = "reload_plugins: a turn is running; ask again when it is over";
        return responder.error_with_code(error, "reload_plugins_busy");
    }
    let added = reload.add_plugins.as_ref().into_iter().flatten().map(|plugin| NewPlugin {
        folder: session.launch().cwd.join(&plugin.path),
        has_servers: !is_set(&plugin.skip_mcp_discovery),
    });
    let added: Vec<NewPlugin> = added.collect();
    let change = session.change_of_plugins(&added);
    if is_set(&reload.hold_on_cache_impact) && !change.is_nothing() {
        let mut held = answer(session);
        held["held"] = true.into();
        held["cache_impact"] = json!({
            "mcp_servers_added": change.added_names(),
            "mcp_servers_removed": change.gone,
            "lsp_tool_change": false,
        });
        return responder.success(&held);
    }
    session.reload_plugins(added, change);
    offers::tell_changes(session);
    let mut done = answer(session);
    if is_set(&reload.hold_on_cache_impact) {
        done["held"] = false.into();
    }
    responder.success(&done);
}

/// A plugin that the host names while the session runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewPlugin {
    pub(crate) folder: PathBuf,
    /// Whether its MCP servers are wanted, too.
    pub(crate) has_servers: bool,
}

fn answer(session: &Session) -> Value {
    let catalog = session.catalog();
    let plugins: Vec<Value> = catalog
        .plugins
        .iter()
        .map(|plugin| {
            let source = format!("{}@inline", plugin.name);
            json!({"name": plugin.name, "path": plugin.directory, "source": source, "version": plugin.version})
        })
        .collect();
    json!({
        "commands": offers::commands(session),
        "agents": offers::agents(session),
        "plugins": plugins,
        "mcpServers": session.mcp.statuses(),
        "error_count": plugin_errors::of(&session.plugin_dirs()).len(),
    })
}
