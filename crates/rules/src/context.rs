//! Everything a decision depends on besides the call itself.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::{
    behavior::Behavior,
    mode::{Classifier, Mode},
    paths::{Files, NoFiles, is_within},
    ruleset::RuleSet,
    source::Source,
};

/// A working directory besides the current one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// Its absolute path.
    pub path: String,
    /// Who added it.
    pub source: Source,
}

/// The state that calls are judged by: mode, rules, directories.
#[derive(Clone, Debug)]
pub struct Context {
    /// The permission mode.
    pub mode: Mode,
    /// All rules.
    pub rules: RuleSet,
    /// The current directory, absolute.
    pub cwd: String,
    /// The user's home directory, absolute.
    pub home: String,
    /// The directory that holds the project's `.claude`; rules written `/x` in project files start here.
    pub project_root: String,
    /// The directory of the user's settings file; rules written `/x` there start here.
    pub config_dir: String,
    /// Further working directories.
    pub directories: Vec<Directory>,
    /// Whether the workspace is trusted. If not, allow rules of the checked-in project settings do not count.
    pub project_trusted: bool,
    /// Whether the session may switch to `bypassPermissions`.
    pub bypass_available: bool,
    /// Whether nobody is there to ask, so that what would be asked is denied.
    pub avoid_prompts: bool,
    /// Whether a shell command has run in this session. Before that nobody knows which variables the shell has, so
    /// commands that set one are asked about.
    pub shell_has_run: bool,
    /// Who judges in `auto` and `plan`.
    pub classifier: Classifier,
    /// What is known about the disk.
    pub files: Arc<dyn Files>,
}

impl Context {
    /// A context for a project, without rules, in the default mode, trusted.
    #[must_use]
    pub fn new(cwd: impl Into<String>, home: impl Into<String>) -> Self {
        let (cwd, home) = (cwd.into(), home.into());
        Self {
            mode: Mode::Default,
            rules: RuleSet::default(),
            project_root: cwd.clone(),
            config_dir: format!("{home}/.claude"),
            cwd,
            home,
            directories: Vec::new(),
            project_trusted: true,
            bypass_available: false,
            avoid_prompts: false,
            shell_has_run: false,
            classifier: Classifier::None,
            files: Arc::new(NoFiles),
        }
    }

    /// Whether a clean absolute path lies in a working directory, also after following links.
    #[must_use]
    pub fn is_working_path(&self, path: &str) -> bool {
        let inside = |path: &str| {
            is_within(path, &self.cwd)
                || self.directories.iter().any(|directory| is_within(path, &directory.path))
        };
        if !inside(path) {
            return false;
        }
        let Some(real) = self.files.resolve(path) else { return true };
        inside(&real)
            || std::iter::once(&self.cwd)
                .chain(self.directories.iter().map(|directory| &directory.path))
                .filter_map(|directory| self.files.resolve(directory))
                .any(|directory| is_within(&real, &directory))
    }

    /// Whether a clean absolute path is a working directory, or one above it.
    pub(crate) fn is_root(&self, path: &str) -> bool {
        let real = self.files.resolve(path);
        let directories =
            std::iter::once(&self.cwd).chain(self.directories.iter().map(|directory| &directory.path));
        let above = |path: &str, directory: &str| {
            is_within(directory, path)
                || self.files.resolve(directory).is_some_and(|directory| is_within(&directory, path))
        };
        directories.into_iter().any(|directory| {
            above(path, directory) || real.as_deref().is_some_and(|real| above(real, directory))
        })
    }

    /// Whether the entry counts: allow rules of an untrusted project do not.
    #[must_use]
    pub fn counts(&self, source: Source, behavior: Behavior) -> bool {
        self.project_trusted || source != Source::ProjectSettings || behavior != Behavior::Allow
    }

    /// The context as one JSON object: mode, directories, and the rules by behaviour and scope.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let rules = |behavior| {
            Source::ALL
                .into_iter()
                .map(|source| {
                    let texts: Vec<Value> = self.rules.texts(source, behavior).map(Value::String).collect();
                    (source.name().to_owned(), Value::Array(texts))
                })
                .collect::<Map<_, _>>()
        };
        let directories: Map<_, _> = self
            .directories
            .iter()
            .map(|d| (d.path.clone(), json!({"path": d.path, "source": d.source.name()})))
            .collect();
        json!({
            "mode": self.mode.name(),
            "additionalWorkingDirectories": directories,
            "alwaysAllowRules": rules(Behavior::Allow),
            "alwaysDenyRules": rules(Behavior::Deny),
            "alwaysAskRules": rules(Behavior::Ask),
            "isBypassPermissionsModeAvailable": self.bypass_available,
            "shouldAvoidPermissionPrompts": self.avoid_prompts,
        })
    }
}
