//! Commands in a sandbox: which ones, and how they are started.

use std::sync::Arc;

use pilothouse_proc::Spawn;
use pilothouse_sandbox::Confinement;

use crate::egress::Egress;

/// Characters that make more of a line than one command with arguments.
const SHELL_SYNTAX: [char; 14] = [';', '|', '&', '<', '>', '$', '`', '(', ')', '{', '}', '\n', '\\', '#'];

/// The sandbox of commands.
#[derive(Clone, Debug)]
pub struct ConfinedCommands {
    /// How they are started.
    pub confinement: Confinement,
    /// Commands that run outside, such as `docker` or `docker compose *`.
    pub excluded: Vec<String>,
    /// The way out for those that have no network.
    pub egress: Option<Arc<Egress>>,
}

impl ConfinedCommands {
    /// Whether a command runs in the sandbox. One that is excluded has to be alone on its line: what else a shell would do
    /// with the line stays inside.
    pub(crate) fn holds(&self, command: &str) -> bool {
        if command.contains(SHELL_SYNTAX) {
            return true;
        }
        let words: Vec<&str> = command.split_whitespace().collect();
        !self.excluded.iter().any(|pattern| {
            let pattern = pattern.trim_end_matches('*').trim_end_matches(':');
            let wanted: Vec<&str> = pattern.split_whitespace().collect();
            !wanted.is_empty() && words.starts_with(&wanted)
        })
    }

    /// A program in the sandbox, with these variables.
    pub(crate) fn spawn(
        &self,
        program: &str,
        clear_env: bool,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Spawn {
        let mut confinement = self.confinement.clone();
        let kept: Vec<(String, String)> = variables
            .filter(|(name, value)| !confinement.takes_variable(name.as_ref(), value.as_ref()))
            .collect();
        let spawn = Spawn::new(&confinement.helper).args(confinement.arguments()).arg(program);
        let spawn = if clear_env { spawn.env_clear() } else { spawn };
        kept.into_iter().fold(spawn, |spawn, (name, value)| spawn.env(name, value))
    }

    /// What the model hears when a command fails in the sandbox, because the command itself cannot know.
    pub(crate) fn note(&self) -> String {
        let policy = &self.confinement.policy;
        let mut parts = Vec::new();
        if let Some(folders) = &policy.writable {
            let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
            parts.push(format!("writes only beneath {}", folders.join(", ")));
        }
        match (policy.no_network, &policy.proxy) {
            (true, None) => parts.push("no network".to_owned()),
            (true, Some(_)) => {
                parts.push("network only to allowed hosts, by the proxy in HTTPS_PROXY".to_owned())
            }
            (false, _) => {}
        }
        format!("[the command ran in a sandbox: {}]", parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pilothouse_sandbox::Policy;

    #[test]
    fn only_a_whole_line_of_one_excluded_command_runs_outside() {
        let confined = ConfinedCommands {
            confinement: Confinement { helper: "/h".into(), policy: Policy::default() },
            excluded: vec!["docker".to_owned(), "npm run *".to_owned(), "make:*".to_owned(), "*".to_owned()],
            egress: None,
        };
        for (command, inside) in [
            ("docker ps", false),
            ("npm run build", false),
            ("make all", false),
            ("npm install", true),
            ("dockerd", true),
            ("docker ps; cat x", true),
            ("docker ps $(cat x)", true),
            ("docker ps\ncat x", true),
            ("docker ps > x", true),
            ("cat docker", true),
            ("", true),
        ] {
            assert_eq!(confined.holds(command), inside, "{command:?}");
        }
    }
}
