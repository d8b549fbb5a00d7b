//! Where the files are.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Layer;

/// Where an organisation's policy lies on Linux.
const MANAGED: &str = "/etc/claude-code";

/// The places that settings are read from and written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locations {
    /// The person's home directory, for `~/` in directory lists.
    pub home: PathBuf,
    /// The configuration home, `~/.claude` unless `CLAUDE_CONFIG_DIR` says otherwise.
    pub config: PathBuf,
    /// The state file that remembers trusted workspaces.
    pub state_file: PathBuf,
    /// The directory the session runs in; its `.claude` holds the project's files.
    pub project: PathBuf,
    /// The directory with `managed-settings.json` and `managed-settings.d/`; none leaves the policy files out.
    pub managed: Option<PathBuf>,
}

impl Locations {
    /// The usual places for a home directory and a project directory.
    pub fn new(home: impl Into<PathBuf>, project: impl Into<PathBuf>) -> Self {
        let home = home.into();
        Locations {
            config: home.join(".claude"),
            state_file: home.join(".claude.json"),
            home,
            project: project.into(),
            managed: Some(PathBuf::from(MANAGED)),
        }
    }

    /// The same with another configuration home. The state file then lies inside it.
    #[must_use]
    pub fn with_config(mut self, config: impl Into<PathBuf>) -> Self {
        self.config = config.into();
        self.state_file = self.config.join(".claude.json");
        self
    }

    /// The places as the process environment gives them (`HOME`, `CLAUDE_CONFIG_DIR`). Without a home directory
    /// everything is looked up below the project, where it is most likely absent.
    pub fn from_env(project: impl Into<PathBuf>) -> Self {
        let project = project.into();
        let home = non_empty(std::env::var_os("HOME")).unwrap_or_else(|| project.clone());
        let locations = Locations::new(home, project);
        match non_empty(std::env::var_os("CLAUDE_CONFIG_DIR")) {
            Some(config) => locations.with_config(config),
            None => locations,
        }
    }

    /// The file of a layer that lives in one editable file.
    pub fn file(&self, layer: Layer) -> Option<PathBuf> {
        match layer {
            Layer::User => Some(self.config.join("settings.json")),
            Layer::Project => Some(self.project.join(".claude/settings.json")),
            Layer::Local => Some(self.project.join(".claude/settings.local.json")),
            Layer::Flag | Layer::Policy => None,
        }
    }

    /// The policy files in the order they are layered: the main file, then `managed-settings.d/*.json` by name. A
    /// directory that is there but cannot be listed is given back with the reason: it may hold a rule that denies.
    pub(crate) fn policy_files(&self) -> (Vec<PathBuf>, Option<(PathBuf, std::io::Error)>) {
        let Some(managed) = &self.managed else { return (Vec::new(), None) };
        let mut files = vec![managed.join("managed-settings.json")];
        let directory = managed.join("managed-settings.d");
        let parts: std::io::Result<Vec<PathBuf>> = std::fs::read_dir(&directory)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
        match parts {
            Ok(mut parts) => {
                parts.retain(|path| path.extension().is_some_and(|ext| ext == "json"));
                parts.sort();
                files.extend(parts);
                (files, None)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (files, None),
            Err(error) => (files, Some((directory, error))),
        }
    }

    /// A path from a settings file as a person may write it: `~/` is the home directory, the rest is relative to the project.
    pub(crate) fn resolve(&self, written: &str) -> PathBuf {
        if written == "~" {
            return self.home.clone();
        }
        match written.strip_prefix("~/") {
            Some(rest) => self.home.join(rest),
            None => self.project.join(Path::new(written)),
        }
    }
}

fn non_empty(value: Option<OsString>) -> Option<PathBuf> {
    value.filter(|value| !value.is_empty()).map(PathBuf::from)
}
