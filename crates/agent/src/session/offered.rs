//! What comes to a session while it runs: plugins of the host, and commands that the host hears of.

use std::path::PathBuf;
use std::sync::Arc;

use pilothouse_proto::SlashCommand;

use super::beginning::load_plugin_hooks;
use super::{Root, Session};
use crate::control::NewPlugin;
use crate::mcp::PluginChange;

impl Session {
    /// Where the plugins of the command line and of the host lie.
    pub(crate) fn plugin_dirs(&self) -> Vec<PathBuf> {
        let named = crate::control::plugin_dirs(&self.launch, &self.initialize());
        let of_launch = self.launch.plugin_dirs.iter().chain(&self.launch.plugin_dirs_no_mcp).cloned();
        let added = self.added_plugins().into_iter().map(|plugin| plugin.folder);
        of_launch.chain(named).chain(added).collect()
    }

    /// The plugins that the host has named by `reload_plugins`.
    fn added_plugins(&self) -> Vec<NewPlugin> {
        let state = self.state();
        let plugins = state.added_by_host.iter().filter_map(|root| match root {
            Root::Plugin(plugin) => Some(plugin.clone()),
            Root::Repository(_) => None,
        });
        plugins.collect()
    }

    /// What looking at the plugins anew, and at these for the first time, would do to the MCP servers.
    pub(crate) fn change_of_plugins(&self, new: &[NewPlugin]) -> PluginChange {
        let named = crate::control::plugin_dirs(&self.launch, &self.initialize());
        let added = self.added_plugins();
        let added = added.iter().chain(new).filter(|plugin| plugin.has_servers);
        let folders = self.launch.plugin_dirs.iter().cloned().chain(named);
        let folders: Vec<PathBuf> = folders.chain(added.map(|plugin| plugin.folder.clone())).collect();
        let (servers, problems) = crate::mcp::of_plugins(&self.launch, &folders);
        for problem in problems {
            tracing::warn!("{}", problem.message);
        }
        self.mcp.change_of_plugins(servers)
    }

    /// Looks at all plugins anew, and takes in these.
    pub(crate) fn reload_plugins(self: &Arc<Self>, new: Vec<NewPlugin>, change: PluginChange) {
        let known = self.plugin_dirs();
        let new = new.into_iter().filter(|plugin| !known.contains(&plugin.folder)).map(Root::Plugin);
        self.state().added_by_host.extend(new);
        self.rediscover();
        load_plugin_hooks(self.gate.hooks(), &self.launch, &self.settings(), &self.plugin_dirs());
        self.mcp.make_change(change);
    }

    /// Whether a host that knows of commands does not know of these; from now on it does.
    pub(crate) fn is_news(&self, commands: &[SlashCommand]) -> bool {
        let names: Vec<String> = commands.iter().map(|command| command.name.clone()).collect();
        let mut state = self.state();
        match &mut state.told_commands {
            Some(told) if *told != names => {
                *told = names;
                true
            }
            _ => false,
        }
    }

    /// The host has just been told of these commands.
    pub(crate) fn told_of(&self, commands: &[SlashCommand]) {
        let names = commands.iter().map(|command| command.name.clone()).collect();
        self.state().told_commands = Some(names);
    }

    /// Takes in what the plugins bring that the host has just named.
    pub(crate) fn add_plugins_of_host(&self) {
        let named = crate::control::plugin_dirs(&self.launch, &self.initialize());
        if named.is_empty() {
            return;
        }
        self.rediscover();
        load_plugin_hooks(self.gate.hooks(), &self.launch, &self.settings(), &self.plugin_dirs());
        let (servers, problems) = crate::mcp::of_plugins(&self.launch, &named);
        for problem in problems {
            tracing::warn!("{}", problem.message);
        }
        self.mcp.add(servers);
    }
}
