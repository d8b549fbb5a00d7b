//! What plugins bring beside commands, skills and agents: hooks and MCP servers.

use std::path::{Path, PathBuf};

use pilothouse_catalog::{Plugin, load_plugin};
use pilothouse_settings::{HookGroup, parse_hooks};
use serde_json::{Map, Value};

use crate::small_file;

/// The variable by which a plugin finds its own files.
pub(crate) const ROOT: &str = "CLAUDE_PLUGIN_ROOT";
/// The variable by which a plugin finds the folder for what it keeps between sessions.
pub(crate) const DATA: &str = "CLAUDE_PLUGIN_DATA";
/// Far more than any such file has.
const LARGEST: usize = 4 << 20;

/// The hooks of one plugin.
#[derive(Debug)]
pub(crate) struct PluginHooks {
    pub(crate) home: PluginHome,
    pub(crate) groups: Vec<HookGroup>,
}

/// The folders of a plugin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PluginHome {
    /// Where it lies.
    pub(crate) root: PathBuf,
    /// Where it may keep things; made when something of the plugin runs.
    pub(crate) data: PathBuf,
}

impl PluginHome {
    /// The folders of a plugin of a session whose configuration is in `config`.
    pub(crate) fn of(plugin: &Plugin, config: &Path) -> Self {
        Self { root: plugin.directory.clone(), data: plugin.data_folder(config) }
    }

    /// The variables for its programs. The folder for its data is there when they look for it.
    pub(crate) fn variables(&self) -> [(&'static str, String); 2] {
        if let Err(error) = fs_err::create_dir_all(&self.data) {
            tracing::warn!("a plugin has no folder for its data: {error}");
        }
        [(ROOT, self.root.display().to_string()), (DATA, self.data.display().to_string())]
    }
}

/// The plugins in these directories. One that cannot be loaded is left out; the catalog tells of it.
pub(crate) fn load<'a>(directories: impl IntoIterator<Item = &'a PathBuf>) -> Vec<Plugin> {
    directories.into_iter().filter_map(|directory| load_plugin(directory).ok()).collect()
}

/// The hooks of these plugins. What cannot be read is reported and left out.
pub(crate) fn hooks(plugins: &[Plugin], config: &Path) -> Vec<PluginHooks> {
    let mut all = Vec::new();
    for plugin in plugins {
        let manifest = plugin.directory.join(".claude-plugin/plugin.json");
        let written = match plugin.manifest.get("hooks") {
            Some(Value::Object(_)) => vec![manifest],
            Some(Value::String(path)) => vec![plugin.directory.join(path)],
            Some(Value::Array(paths)) => {
                paths.iter().filter_map(Value::as_str).map(|path| plugin.directory.join(path)).collect()
            }
            _ => Vec::new(),
        };
        let usual = plugin.directory.join("hooks/hooks.json");
        let mut groups = Vec::new();
        for file in usual.exists().then_some(&usual).into_iter().chain(&written) {
            match read_hooks(plugin, file) {
                Ok(found) => groups.extend(found),
                Err(problem) => tracing::warn!("{problem}"),
            }
        }
        if !groups.is_empty() {
            all.push(PluginHooks { home: PluginHome::of(plugin, config), groups });
        }
    }
    all
}

pub(crate) fn read_hooks(plugin: &Plugin, file: &Path) -> Result<Vec<HookGroup>, String> {
    let text = read(plugin, file)?;
    parse_hooks(&text, file).map_err(|error| {
        format!("{}:{}:{}: {}", file.display(), error.at.line, error.at.column, error.message)
    })
}

/// The MCP servers of a plugin as they are written, by the names it gives them, and what is wrong with the rest.
pub(crate) fn servers(plugin: &Plugin) -> (Map<String, Value>, Vec<String>) {
    let (mut servers, mut problems) = (Map::new(), Vec::new());
    let usual = plugin.directory.join(".mcp.json");
    let mut files: Vec<PathBuf> = usual.exists().then_some(usual).into_iter().collect();
    match plugin.manifest.get("mcpServers") {
        Some(Value::Object(inline)) => servers.extend(inline.clone()),
        Some(Value::String(path)) => files.push(plugin.directory.join(path)),
        Some(Value::Array(paths)) => {
            files.extend(paths.iter().filter_map(Value::as_str).map(|path| plugin.directory.join(path)));
        }
        _ => {}
    }
    for file in files {
        let text = read(plugin, &file);
        let parsed = text.and_then(|text| {
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))
        });
        match parsed {
            Ok(Value::Object(mut written)) => match written.remove("mcpServers") {
                Some(Value::Object(inside)) => servers.extend(inside),
                Some(_) => problems.push(format!("{}: mcpServers is no object", file.display())),
                None => servers.extend(written),
            },
            Ok(_) => problems.push(format!("{}: not an object of servers", file.display())),
            Err(problem) => problems.push(problem),
        }
    }
    (servers, problems)
}

/// Reads a file of a plugin; one that lies elsewhere is none of its.
fn read(plugin: &Plugin, file: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    let (real, root) =
        (file.canonicalize().map_err(failed)?, plugin.directory.canonicalize().map_err(failed)?);
    if !real.starts_with(root) {
        return Err(format!("{} is outside of the plugin {}", file.display(), plugin.name));
    }
    let bytes = small_file::read(&real, LARGEST).map_err(failed)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
#[path = "plugins_tests.rs"]
mod tests;
