//! What is wrong with the plugins of a session, as `system/init` tells it.

use std::path::{Path, PathBuf};

use pilothouse_catalog::{Plugin, load_plugin};
use pilothouse_proto::Opt;
use pilothouse_proto::system::PluginError;
use serde_json::Value;

use crate::plugins;

const NO_SUCH_PATH: &str = "path-not-found";

/// The parts of a plugin that its manifest may look for elsewhere.
const PARTS: [&str; 4] = ["commands", "agents", "skills", "hooks"];

/// What is wrong with the plugins in these directories.
pub(crate) fn of(directories: &[PathBuf]) -> Vec<PluginError> {
    let mut errors = Vec::new();
    for (place, directory) in directories.iter().enumerate() {
        match load_plugin(directory) {
            Ok(plugin) => errors.extend(of_parts(&plugin)),
            Err(problem) => errors.push(PluginError {
                // It has no name yet.
                plugin: format!("inline[{place}]"),
                kind: if directory.exists() { "generic-error" } else { NO_SUCH_PATH }.to_owned(),
                message: problem.to_string(),
                path: Opt::Some(directory.display().to_string()),
                ..PluginError::default()
            }),
        }
    }
    errors
}

fn of_parts(plugin: &Plugin) -> Vec<PluginError> {
    let error = |kind: &str, message: String| PluginError {
        plugin: format!("{}@inline", plugin.name),
        kind: kind.to_owned(),
        message,
        ..PluginError::default()
    };
    let mut errors = Vec::new();
    for part in PARTS {
        for path in listed(plugin, part).into_iter().filter(|path| !path.exists()) {
            errors.push(error(NO_SUCH_PATH, format!("{} is not there ({part})", path.display())));
        }
    }
    let is_there = |path: &&Path| path.exists();
    let usual = plugin.directory.join("hooks/hooks.json");
    let named = listed(plugin, "hooks");
    for file in named.iter().chain([&usual]).map(PathBuf::as_path).filter(is_there) {
        if let Err(problem) = plugins::read_hooks(plugin, file) {
            errors.push(error("hook-load-failed", problem));
        }
    }
    errors
}

/// The files that the manifest names for a part.
fn listed(plugin: &Plugin, part: &str) -> Vec<PathBuf> {
    let names: Vec<&str> = match plugin.manifest.get(part) {
        Some(Value::String(path)) => vec![path],
        Some(Value::Array(paths)) => paths.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    names.into_iter().map(|name| plugin.directory.join(name.trim_start_matches("./"))).collect()
}

#[cfg(test)]
#[path = "plugin_errors_tests.rs"]
mod tests;
