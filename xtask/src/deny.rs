//! `cargo xtask deny`: licences, sources and bans of all dependencies by deny.toml, and known vulnerabilities.

use anyhow::Result;

use crate::command::{cargo_tool, run};
use crate::stages::say;

const VERSION: &str = "0.20.2";

/// Checks the lock file. Vulnerabilities are checked only where the database of advisories can be fetched.
pub(crate) fn check() -> Result<()> {
    run(cargo_tool("cargo-deny", VERSION)?.args(["check", "bans", "licenses", "sources"]))?;
    if let Err(error) = run(cargo_tool("cargo-deny", VERSION)?.args(["fetch", "db"])) {
        say(&format!("advisories are not checked, because their database cannot be fetched: {error:#}"));
        return Ok(());
    }
    run(cargo_tool("cargo-deny", VERSION)?.args(["check", "advisories"]))
}
