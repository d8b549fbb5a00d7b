//! The invariants of ARCHITECTURE.md that are stated as absences.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::dag::{Crate, elements};
use crate::workspace::root;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 4] = ["core", "common", "utils", "helpers"];

/// Crates whose whole tree stays free of tokio.
const WITHOUT_TOKIO: [&str; 2] = ["proto", "rules"];

/// Crates that carry stream-json about without owning its shape: a serde derive there would be a second definition
/// of the wire. The others derive it for formats of their own (JSON-RPC, settings, front matter, transcripts).
const WITHOUT_SERDE_DERIVES: [&str; 2] = ["link", "pilothouse"];

/// Formats that those crates own all the same: tapes are `link`'s.
const OWN_FORMATS: [&str; 1] = ["crates/link/src/tape"];

/// Where standard output may be opened: `link` writes frames, `cli` and this program print, and `testkit` has programs
/// that play a CLI.
const MAY_WRITE_STDOUT: [&str; 4] = ["link", "cli", "xtask", "testkit"];

/// Everything that breaks an invariant, one sentence each.
pub(crate) fn breaches(metadata: &Value, crates: &[Crate]) -> Result<Vec<String>> {
    let mut breaches = Vec::new();
    for this in crates {
        breaches.extend(name_breach(this));
        if WITHOUT_TOKIO.contains(&this.folder.as_str()) && tree(metadata, &this.package).contains("tokio") {
            breaches.push(format!("`{}` has tokio in its tree", this.folder));
        }
        breaches.extend(source_breaches(this)?);
    }
    Ok(breaches)
}

fn name_breach(this: &Crate) -> Option<String> {
    let Crate { folder, package, .. } = this;
    if EMPTY_NAMES.contains(&folder.as_str()) {
        return Some(format!("`{folder}` is a name that says nothing"));
    }
    let wanted = match folder.as_str() {
        "pilothouse" | "xtask" => folder.clone(),
        _ => format!("pilothouse-{folder}"),
    };
    (*package != wanted).then(|| format!("the package in `{folder}` is called `{package}`, not `{wanted}`"))
}

/// Names of all packages that `package` links, however deep; development and build dependencies aside.
fn tree<'a>(metadata: &'a Value, package: &str) -> BTreeSet<&'a str> {
    let packages = elements(&metadata["packages"]);
    let nodes = elements(&metadata["resolve"]["nodes"]);
    let name_of = |id: &Value| {
        packages.iter().find(|known| known["id"] == *id).and_then(|known| known["name"].as_str())
    };
    let mut names = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open: Vec<&Value> =
        packages.iter().filter(|known| known["name"] == package).map(|known| &known["id"]).collect();
    while let Some(id) = open.pop() {
        if !seen.insert(id.as_str().unwrap_or_default()) {
            continue;
        }
        names.extend(name_of(id));
        let Some(node) = nodes.iter().find(|node| node["id"] == *id) else { continue };
        for edge in elements(&node["deps"]) {
            let kinds = elements(&edge["dep_kinds"]);
            if kinds.iter().any(|kind| kind["kind"].is_null()) {
                open.push(&edge["pkg"]);
            }
        }
    }
    names
}

/// What can be seen in the sources and the manifest of one crate.
fn source_breaches(this: &Crate) -> Result<Vec<String>> {
    let folder = this.folder.as_str();
    let home = if folder == "xtask" { root().join(folder) } else { root().join("crates").join(folder) };
    let mut breaches = Vec::new();
    let manifest = fs::read_to_string(home.join("Cargo.toml")).context("cannot read a manifest")?;
    if !manifest.contains("[lints]\nworkspace = true") {
        breaches.push(format!("`{folder}` does not take the workspace's lints"));
    }
    for path in rust_files(&home.join("src"))? {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let place = path.strip_prefix(root()).unwrap_or(&path);
        let owned = OWN_FORMATS.iter().any(|folder| place.starts_with(folder));
        let in_tests =
            path.file_stem().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with("_tests"));
        for (number, line) in text.lines().enumerate() {
            let mut report = |what: &str| {
                breaches.push(format!("{}:{}: {what}", place.display(), number + 1));
            };
            if WITHOUT_SERDE_DERIVES.contains(&folder) && !in_tests && !owned && derives_serde(line) {
                report("derives serde, which only the owner of a format does");
            }
            if !MAY_WRITE_STDOUT.contains(&folder) && opens_stdout(line) {
                report("opens standard output");
            }
        }
    }
    Ok(breaches)
}

fn derives_serde(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("#[derive(") && (line.contains("Serialize") || line.contains("Deserialize"))
}

fn opens_stdout(line: &str) -> bool {
    let code = line.trim_start();
    !code.starts_with("//")
        && (code.contains("io::stdout()") || code.contains("println!(") && !code.contains("eprintln!("))
}

fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
