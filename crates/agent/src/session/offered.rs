//! What comes to a session while it runs: plugins of the host, and commands that the host hears of.

use std::path::PathBuf;

use pilothouse_proto::SlashCommand;

use super::Session;
use super::beginning::load_plugin_hooks;

impl Session {
    /// Where the plugins of the command line and of the host lie.
    pub(crate) fn plugin_dirs(&self) -> Vec<PathBuf> {
        let named = crate::control::plugin_dirs(&self.launch, &self.initialize());
        self.launch.plugin_dirs.iter().chain(&self.launch.plugin_dirs_no_mcp).cloned().chain(named).collect()
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
