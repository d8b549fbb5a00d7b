//! The table of crates in ARCHITECTURE.md against what the manifests say.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::{cargo, output};
use crate::invariants;
use crate::stages::say;
use crate::workspace::root;

/// `cargo xtask dag`: prints every breach, and fails when there is one.
pub(crate) fn check() -> Result<()> {
    let document =
        std::fs::read_to_string(root().join("ARCHITECTURE.md")).context("cannot read ARCHITECTURE.md")?;
    let rows = table(&document)?;
    let metadata = metadata()?;
    let crates = crates(&metadata);

    let mut breaches = edges(&rows, &crates);
    breaches.extend(invariants::breaches(&metadata, &crates)?);
    for breach in &breaches {
        say(&format!("breach: {breach}"));
    }
    if !breaches.is_empty() {
        bail!("{} breaches of ARCHITECTURE.md", breaches.len());
    }
    say(&format!("{} crates keep to ARCHITECTURE.md", crates.len()));
    Ok(())
}

/// The crates of the workspace.
pub(crate) fn workspace() -> Result<Vec<Crate>> {
    Ok(crates(&metadata()?))
}

fn metadata() -> Result<Value> {
    let metadata = output(&mut cargo(&["metadata", "--format-version", "1", "--all-features"]))?;
    serde_json::from_str(&metadata).context("cargo metadata is no JSON")
}

/// One row of the table: what a crate may depend on.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    /// `None` for the crates that stand beside the layers.
    layer: Option<u32>,
    allowed: Allowed,
}

#[derive(Debug, PartialEq, Eq)]
enum Allowed {
    All,
    These(BTreeSet<String>),
}

/// A crate of the workspace, as its manifest has it. Crates are named by their folder.
#[derive(Debug, Default)]
pub(crate) struct Crate {
    pub(crate) folder: String,
    pub(crate) package: String,
    pub(crate) dependencies: BTreeSet<String>,
    pub(crate) dev_dependencies: BTreeSet<String>,
}

/// Reads the rows `` | layer | `folder` | … | allowed | `` of the document's table of crates.
fn table(document: &str) -> Result<BTreeMap<String, Row>> {
    let mut rows = BTreeMap::new();
    for line in document.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [layer, folder, .., allowed] = cells.as_slice() else { continue };
        let Some(folder) = folder.strip_prefix('`').and_then(|rest| rest.split('`').next()) else { continue };
        let allowed = match *allowed {
            "all" => Allowed::All,
            "–" => Allowed::These(BTreeSet::new()),
            list => Allowed::These(list.split(',').map(|name| name.trim().to_owned()).collect()),
        };
        let row = Row { layer: layer.parse().ok(), allowed };
        if rows.insert(folder.to_owned(), row).is_some() {
            bail!("ARCHITECTURE.md lists `{folder}` twice");
        }
    }
    if rows.is_empty() {
        bail!("ARCHITECTURE.md has no table of crates");
    }
    Ok(rows)
}

fn crates(metadata: &Value) -> Vec<Crate> {
    let members: BTreeSet<&str> =
        elements(&metadata["workspace_members"]).iter().filter_map(Value::as_str).collect();
    let packages = elements(&metadata["packages"]);
    let ours: Vec<&Value> = packages
        .iter()
        .filter(|package| package["id"].as_str().is_some_and(|id| members.contains(id)))
        .collect();
    let folder_of: BTreeMap<&str, String> =
        ours.iter().filter_map(|package| Some((package["name"].as_str()?, folder(package)))).collect();
    ours.iter()
        .map(|package| {
            let mut this = Crate {
                folder: folder(package),
                package: package["name"].as_str().unwrap_or_default().to_owned(),
                ..Crate::default()
            };
            for dependency in elements(&package["dependencies"]) {
                let name = dependency["name"].as_str().unwrap_or_default();
                let Some(folder) = folder_of.get(name) else { continue };
                let edges = if dependency["kind"] == "dev" {
                    &mut this.dev_dependencies
                } else {
                    &mut this.dependencies
                };
                edges.insert(folder.clone());
            }
            this
        })
        .collect()
}

/// The elements of an array; none for anything else.
pub(crate) fn elements(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn folder(package: &Value) -> String {
    let manifest = package["manifest_path"].as_str().unwrap_or_default();
    manifest.rsplit('/').nth(1).unwrap_or_default().to_owned()
}

/// What the manifests have and the table does not, and the other way round.
fn edges(rows: &BTreeMap<String, Row>, crates: &[Crate]) -> Vec<String> {
    let mut breaches = Vec::new();
    for folder in rows.keys().filter(|folder| !crates.iter().any(|known| known.folder == **folder)) {
        breaches.push(format!("the table lists `{folder}`, which is no crate of the workspace"));
    }
    for (folder, row) in rows {
        let Allowed::These(names) = &row.allowed else { continue };
        for name in names {
            let lower = match rows.get(name) {
                None => false,
                Some(other) => {
                    row.layer.is_none() || other.layer.is_some_and(|layer| Some(layer) < row.layer)
                }
            };
            if !lower {
                breaches.push(format!(
                    "the table lets `{folder}` depend on `{name}`, which is not in a lower layer"
                ));
            }
        }
    }
    for this in crates {
        let folder = &this.folder;
        let Some(row) = rows.get(folder) else {
            breaches.push(format!("`{folder}` is not in the table"));
            continue;
        };
        let allowed = |name: &String| match &row.allowed {
            Allowed::All => rows.get(name).is_some_and(|other| other.layer.is_some()),
            Allowed::These(names) => names.contains(name),
        };
        for name in this.dependencies.iter().filter(|name| !allowed(name)) {
            breaches.push(format!("`{folder}` depends on `{name}`, which the table does not allow"));
        }
        // Tests may use the test kit anywhere.
        for name in this.dev_dependencies.iter().filter(|name| *name != "testkit" && !allowed(name)) {
            breaches
                .push(format!("the tests of `{folder}` depend on `{name}`, which the table does not allow"));
        }
    }
    breaches
}

#[cfg(test)]
#[path = "dag_tests.rs"]
mod tests;
