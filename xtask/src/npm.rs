//! Packages from npm: pinned by a lock file in the repository, installed under `target/`.

use std::path::Path;

use anyhow::Result;

use crate::command::{self, command, exists};
use crate::stages::Skip;

/// Installs what `package-lock.json` in `from` names at `place`, unless it is there.
pub(crate) fn install(from: &Path, place: &Path) -> Result<()> {
    if !exists("npm") || !exists("node") {
        return Err(Skip("node and npm are needed".into()).into());
    }
    let lock = from.join("package-lock.json");
    let installed = std::fs::read(place.join("installed")).unwrap_or_default();
    if installed == std::fs::read(&lock)? {
        return Ok(());
    }
    std::fs::create_dir_all(place)?;
    for file in ["package.json", "package-lock.json"] {
        std::fs::copy(from.join(file), place.join(file))?;
    }
    let mut npm = command("npm");
    npm.args(["ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]);
    command::run(npm.arg(place))?;
    std::fs::copy(lock, place.join("installed"))?;
    Ok(())
}
