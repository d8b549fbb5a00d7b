//! Which servers there are, before the host has said anything.

use std::path::{Path, PathBuf};

use pilothouse_catalog::Plugin;
use pilothouse_proto::mcp::McpServerConfig;
use pilothouse_settings::Settings;
use serde_json::{Map, Value};

use crate::launch::Launch;
use crate::plugins::PluginHome;
use crate::{plugins, small_file};

/// A server and where its configuration is from.
#[derive(Clone, Debug, PartialEq)]
pub struct Configured {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub config: McpServerConfig,
    /// Where that is from.
    pub origin: Origin,
}

/// Where the configuration of a server is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The host has it inside.
    Sdk,
    /// The command line or the host, at run time.
    Dynamic,
    /// `.mcp.json` of the project.
    Project,
    /// The user's configuration for this project.
    Local,
    /// The user's configuration.
    User,
    /// A plugin.
    Plugin,
}

impl Origin {
    /// How frames spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sdk => "sdk",
            Self::Dynamic => "dynamic",
            Self::Project => "project",
            Self::Local => "local",
            Self::User => "user",
            Self::Plugin => "plugin",
        }
    }
}

impl Configured {
    /// A server that was named on the command line or by the host.
    pub fn given(name: impl Into<String>, config: McpServerConfig) -> Self {
        let origin = match config {
            McpServerConfig::Sdk(_) => Origin::Sdk,
            _ => Origin::Dynamic,
        };
        Self { name: name.into(), config, origin }
    }

    pub(crate) fn is_in_process(&self) -> bool {
        matches!(self.config, McpServerConfig::Sdk(_))
    }
}

/// Something that is wrong with the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The server that is left out for it; none if it concerns a whole file.
    pub server: Option<String>,
    /// What is wrong.
    pub message: String,
}

/// The servers of files and the command line, and what is wrong with their configuration. Later ones replace earlier
/// ones of the same name.
pub fn configured(launch: &Launch, settings: &Settings) -> (Vec<Configured>, Vec<ConfigProblem>) {
    let mut found = Found {
        env: &|name| launch.env.get(name).map(str::to_owned),
        servers: Vec::new(),
        problems: Vec::new(),
    };
    if !launch.strict_mcp_config && launch.is_customised() {
        let locations = launch.locations();
        found.user_file(&locations.config, &launch.cwd, launch);
        if launch.sources.project {
            found.project_file(&launch.cwd, settings);
        }
        for plugin in plugins::load(&launch.plugin_dirs) {
            found.plugin(&plugin, &locations.config);
        }
    }
    for argument in &launch.mcp_config {
        found.argument(argument, &launch.cwd);
    }
    (found.servers, found.problems)
}

/// The servers of plugins that the host has named, and what is wrong with their configuration.
pub(crate) fn of_plugins(launch: &Launch, directories: &[PathBuf]) -> (Vec<Configured>, Vec<ConfigProblem>) {
    let env = |name: &str| launch.env.get(name).map(str::to_owned);
    let mut found = Found { env: &env, servers: Vec::new(), problems: Vec::new() };
    if !launch.strict_mcp_config && !launch.bare {
        for plugin in plugins::load(directories) {
            found.plugin(&plugin, &launch.locations().config);
        }
    }
    (found.servers, found.problems)
}

/// The servers of one `--mcp-config`, and what is wrong with it.
pub(crate) fn of_argument(launch: &Launch, argument: &str) -> (Vec<Configured>, Vec<ConfigProblem>) {
    let env = |name: &str| launch.env.get(name).map(str::to_owned);
    let mut found = Found { env: &env, servers: Vec::new(), problems: Vec::new() };
    found.argument(argument, &launch.cwd);
    (found.servers, found.problems)
}

/// The most of the user's own file that is read, which also keeps histories; what has more is no JSON then.
const LARGEST: usize = 64 << 20;
/// The most of a file of the project. A value takes dozens of bytes of memory for one or two in the file.
const LARGEST_OF_PROJECT: usize = 4 << 20;

struct Found<'a> {
    env: &'a dyn Fn(&str) -> Option<String>,
    servers: Vec<Configured>,
    problems: Vec<ConfigProblem>,
}

impl Found<'_> {
    fn user_file(&mut self, config: &Path, cwd: &Path, launch: &Launch) {
        let Some(file) = self.read(&config.join(".claude.json"), LARGEST) else { return };
        if launch.sources.user {
            self.take(file.get("mcpServers"), Some(Origin::User));
        }
        if launch.sources.local {
            let project =
                file.get("projects").and_then(|projects| projects.get(cwd.to_string_lossy().as_ref()));
            self.take(project.and_then(|project| project.get("mcpServers")), Some(Origin::Local));
        }
    }

    fn project_file(&mut self, cwd: &Path, settings: &Settings) {
        let Some(file) = self.read(&cwd.join(".mcp.json"), LARGEST_OF_PROJECT) else { return };
        let disabled = settings.list(&["disabledMcpjsonServers"]);
        let is_disabled = |name: &str| disabled.iter().any(|entry| entry.value.as_str() == Some(name));
        let servers = file.get("mcpServers").and_then(Value::as_object);
        let kept: Map<String, Value> = servers
            .into_iter()
            .flatten()
            .filter(|(name, _)| !is_disabled(name))
            .map(|(name, config)| (name.clone(), config.clone()))
            .collect();
        self.take(Some(&Value::Object(kept)), Some(Origin::Project));
    }

    /// The servers of a plugin have its name before theirs, and know where it lies.
    fn plugin(&mut self, plugin: &Plugin, config: &Path) {
        let (servers, problems) = plugins::servers(plugin);
        self.problems.extend(problems.into_iter().map(|message| ConfigProblem { server: None, message }));
        if servers.is_empty() {
            return;
        }
        let own = PluginHome::of(plugin, config).variables();
        let outer = self.env;
        let env = |name: &str| {
            let known = own.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone());
            known.or_else(|| outer(name))
        };
        let mut found = Found { env: &env, servers: Vec::new(), problems: Vec::new() };
        let renamed =
            servers.into_iter().map(|(name, config)| (format!("plugin:{}:{name}", plugin.name), config));
        found.take(Some(&Value::Object(renamed.collect())), Some(Origin::Plugin));
        for server in &mut found.servers {
            if let McpServerConfig::Stdio(program) | McpServerConfig::Untyped(program) = &mut server.config {
                let mut variables = program.env.take().unwrap_or_default();
                for (name, value) in &own {
                    variables.entry((*name).to_owned()).or_insert_with(|| value.clone());
                }
                program.env = variables.into();
            }
        }
        let Found { servers, problems, .. } = found;
        self.servers.extend(servers);
        self.problems.extend(problems);
    }

    /// JSON, or the path of a file that has it.
    fn argument(&mut self, argument: &str, cwd: &Path) {
        let parsed = match argument.trim_start().starts_with('{') {
            true => serde_json::from_str(argument).map_err(|error| format!("--mcp-config: {error}")),
            false => {
                let path = cwd.join(argument);
                let text = small_file::read(&path, LARGEST_OF_PROJECT);
                let text = text.map_err(|error| format!("--mcp-config: {error}"));
                text.and_then(|text| {
                    serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))
                })
            }
        };
        match parsed {
            Ok(Value::Object(config)) => self.take(config.get("mcpServers"), None),
            Ok(_) => self.file_problem("--mcp-config: not an object with mcpServers".to_owned()),
            Err(problem) => self.file_problem(problem),
        }
    }

    fn read(&mut self, path: &Path, largest: usize) -> Option<Value> {
        let text = match small_file::read(path, largest) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => {
                self.file_problem(format!("{}: {error}", path.display()));
                return None;
            }
        };
        let parsed = serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()));
        parsed.map_err(|problem| self.file_problem(problem)).ok()
    }

    fn file_problem(&mut self, message: String) {
        self.problems.push(ConfigProblem { server: None, message });
    }

    fn take(&mut self, servers: Option<&Value>, origin: Option<Origin>) {
        for (name, config) in servers.and_then(Value::as_object).into_iter().flatten() {
            let config: McpServerConfig = match serde_json::from_value(self.expanded(config)) {
                Ok(McpServerConfig::Unknown(other)) => {
                    let message =
                        format!("MCP server {name:?} is left out: its type {:?} is not known", other.tag);
                    self.problems.push(ConfigProblem { server: Some(name.clone()), message });
                    continue;
                }
                Ok(config) => config,
                Err(error) => {
                    let message = format!("MCP server {name:?} is left out: {error}");
                    self.problems.push(ConfigProblem { server: Some(name.clone()), message });
                    continue;
                }
            };
            let mut server = Configured::given(name, config);
            server.origin = origin.unwrap_or(server.origin);
            match self.servers.iter_mut().find(|known| known.name == *name) {
                Some(known) => *known = server,
                None => self.servers.push(server),
            }
        }
    }

    /// `${NAME}` and `${NAME:-otherwise}` stand for environment variables, in every text of a configuration.
    fn expanded(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => expand(text, self.env).into(),
            Value::Array(values) => values.iter().map(|value| self.expanded(value)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.expanded(value))).collect()
            }
            other => other.clone(),
        }
    }
}

fn expand(text: &str, env: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, behind)) = after.split_once('}') else { break };
        let (name, otherwise) = match inside.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise.to_owned())),
            None => (inside, None),
        };
        out.push_str(before);
        match env(name).or(otherwise) {
            Some(value) => out.push_str(&value),
            None => out.push_str(&format!("${{{inside}}}")),
        }
        rest = behind;
    }
    out + rest
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
