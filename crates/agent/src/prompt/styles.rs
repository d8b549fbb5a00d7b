//! Output styles: files that say how the model is to speak.

use std::path::{Path, PathBuf};

use pilothouse_catalog::parse_front_matter;
use serde_json::Value;

use crate::session::Session;
use crate::small_file;

/// Far more than a prompt should have; what is longer is cut.
const LARGEST: usize = 256 << 10;
/// The folder of them, in each place that may have one.
const FOLDER: &str = "output-styles";

/// A way to speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) name: String,
    /// What the model is told.
    pub(crate) text: String,
}

/// All styles of plugins, the user and the project. Of one name the last counts, which is the nearest to the work.
pub(crate) fn styles(session: &Session) -> Vec<Style> {
    let launch = session.launch();
    let mut styles: Vec<Style> = Vec::new();
    let mut take = |style: Style| {
        styles.retain(|known| known.name != style.name);
        styles.push(style);
    };
    for plugin in &session.catalog().plugins {
        let of_plugin = |style: Style| Style { name: format!("{}:{}", plugin.name, style.name), ..style };
        read_folder(&plugin.directory.join(FOLDER)).into_iter().map(of_plugin).for_each(&mut take);
    }
    if launch.is_customised() && launch.sources.user {
        read_folder(&user_folder(session)).into_iter().for_each(&mut take);
    }
    if launch.is_customised() && launch.sources.project {
        read_folder(&launch.cwd.join(".claude").join(FOLDER)).into_iter().for_each(&mut take);
    }
    styles
}

/// Where the user's own lie.
pub(crate) fn user_folder(session: &Session) -> PathBuf {
    session.config_dir().join(FOLDER)
}

/// What the chosen style tells the model; none if there is no such style.
pub(super) fn in_force(session: &Session) -> Option<String> {
    let chosen = crate::offers::output_style(session);
    styles(session).into_iter().find(|style| style.name == chosen).map(|style| style.text)
}

/// The styles in a folder, by the names of their files.
fn read_folder(folder: &Path) -> Vec<Style> {
    // Most places have none.
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    files.iter().filter_map(|file| read_file(file)).collect()
}

fn read_file(file: &Path) -> Option<Style> {
    let bytes = small_file::read(file, LARGEST).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let parsed = parse_front_matter(&text);
    let named = parsed.fields.get("name").and_then(Value::as_str).filter(|name| !name.trim().is_empty());
    let name = named.map_or_else(
        || file.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
        |name| Some(name.to_owned()),
    )?;
    Some(Style { name, text: parsed.body.trim().to_owned() })
}
