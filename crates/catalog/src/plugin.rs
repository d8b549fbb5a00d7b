//! A plugin: a directory that brings commands, skills and agents under its own name.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use crate::problem::{Problem, ProblemKind};
use crate::read::{problem, read_all};

/// A plugin that was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    /// Its name, which stands before the names of what it brings.
    pub name: String,
    /// Its directory.
    pub directory: PathBuf,
    /// Its version, if it says.
    pub version: Option<String>,
    /// The manifest, unknown fields included.
    pub manifest: Map<String, Value>,
}

/// Loads a plugin. Its manifest is `.claude-plugin/plugin.json`; without one the directory's name is the plugin's.
///
/// # Errors
/// When there is no such directory, or its manifest cannot be used.
pub fn load(directory: &Path) -> Result<Plugin, Problem> {
    let refuse = |why: String| problem(directory, ProblemKind::Plugin(why));
    if !directory.is_dir() {
        return Err(refuse("there is no such directory".to_owned()));
    }
    let file = directory.join(".claude-plugin/plugin.json");
    let manifest = if file.exists() {
        let text = read_all(&file)?;
        match serde_json::from_str(&text) {
            Ok(Value::Object(manifest)) => Some(manifest),
            Ok(_) => return Err(refuse(format!("{} is not an object", file.display()))),
            Err(error) => {
                let kind = ProblemKind::Plugin(format!("its manifest is not JSON: {error}"));
                return Err(Problem { path: file, line: Some(error.line()), kind });
            }
        }
    } else {
        None
    };
    let name = match &manifest {
        Some(manifest) => manifest.get("name").and_then(Value::as_str).map(str::to_owned),
        None => directory.file_name().and_then(|name| name.to_str()).map(str::to_owned),
    };
    let name = name.ok_or_else(|| refuse("its manifest has no `name`".to_owned()))?;
    if name.is_empty()
        || name.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, ':' | '/'))
    {
        return Err(refuse(format!("its name `{name}` may not have blanks, `:` or `/`")));
    }
    let manifest = manifest.unwrap_or_default();
    if let Some((field, wanted)) = misfit(&manifest) {
        return Err(refuse(format!("`{field}` in its manifest must be {wanted}")));
    }
    let version = manifest.get("version").and_then(Value::as_str).map(str::to_owned);
    Ok(Plugin { name, directory: directory.to_owned(), version, manifest })
}

/// A field of a manifest whose value is not what it must be, and what that is.
fn misfit(manifest: &Map<String, Value>) -> Option<(&'static str, &'static str)> {
    let is_list = |value: &Value| {
        let texts = value.as_array().is_some_and(|all| all.iter().all(|one| one.is_string()));
        value.is_string() || texts
    };
    let is_list_or_object = |value: &Value| {
        let parts = value.as_array().is_some_and(|all| all.iter().all(|one| is_list(one) || one.is_object()));
        value.is_object() || is_list(value) || parts
    };
    let wrong =
        |field: &str, fits: &dyn Fn(&Value) -> bool| manifest.get(field).is_some_and(|value| !fits(value));
    if wrong("version", &Value::is_string) {
        return Some(("version", "a text"));
    }
    if wrong("agents", &is_list) {
        return Some(("agents", "a path or a list of them"));
    }
    let others = ["hooks", "commands", "mcpServers"].into_iter();
    let mut others = others.filter(|field| wrong(field, &is_list_or_object));
    others.next().map(|field| (field, "an object, a path or a list of them"))
}

impl Plugin {
    /// Where it may keep things between sessions of a user whose configuration is in `config`.
    pub fn data_folder(&self, config: &Path) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
        // Where it is from is a part of the name: `inline` means the command line or the host.
        let name: String = format!("{}@inline", self.name).chars().map(plain).collect();
        config.join("plugins/data").join(name)
    }

    /// The paths that the manifest lists under a key, absolute; one that leaves the plugin is reported.
    pub(crate) fn listed(&self, key: &str, problems: &mut Vec<Problem>) -> Option<Vec<PathBuf>> {
        let written: Vec<&str> = match self.manifest.get(key)? {
            Value::String(path) => vec![path],
            Value::Array(paths) => paths.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut paths = Vec::new();
        for path in written {
            let inside = Path::new(path)
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            if inside {
                paths.push(self.directory.join(path));
            } else {
                let why = format!("`{key}` lists `{path}`, which is outside the plugin");
                problems.push(problem(&self.directory, ProblemKind::Plugin(why)));
            }
        }
        Some(paths)
    }
}
