//! Two checks of the permission engine against the world: readers under strace, and the decisions of the real CLI.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::command::{self, cargo, command, exists};
use crate::real;
use crate::stages::Skip;
use crate::workspace::{in_ci, root};

/// The table that the engine is compared with.
const TABLE: &str = "crates/rules/tests/data/real_decisions.txt";

/// What to record, and where.
#[derive(Args)]
pub(crate) struct DecisionOptions {
    /// A file of `scene TAB command` lines instead of the generated commands
    #[arg(long)]
    commands: Option<PathBuf>,
    /// Where the decisions go, instead of the table in the repository
    #[arg(long)]
    out: Option<PathBuf>,
}

/// strace for the tests; a CI machine gets it.
pub(crate) fn prepare() -> Result<()> {
    if !exists("strace") && in_ci() {
        command::run(command("apt-get").arg("update"))?;
        command::run(command("apt-get").args(["install", "-y", "--no-install-recommends", "strace"]))?;
    }
    if exists("strace") {
        Ok(())
    } else {
        Err(Skip("strace is needed to watch which files are opened".into()).into())
    }
}

/// `cargo xtask readers`.
pub(crate) fn run() -> Result<()> {
    prepare()?;
    let arguments =
        ["test", "--release", "-p", "pilothouse-rules", "--test", "it", "readers", "--", "--nocapture"];
    command::run(cargo(&arguments).env("PILOTHOUSE_READERS", "all"))
}

/// `cargo xtask decisions`.
pub(crate) fn record(options: &DecisionOptions) -> Result<()> {
    let (namespace, cli) = real::prepare()?;
    // The recorder lays out /home anew, so it needs its own view of the file systems as well.
    let mut recorder = namespace.enter("unshare");
    recorder.args(["--mount", "python3"]).arg(root().join("crates/rules/tests/real/record.py"));
    recorder.arg("--out").arg(options.out.clone().unwrap_or_else(|| root().join(TABLE)));
    if let Some(commands) = &options.commands {
        recorder.arg("--commands").arg(std::path::absolute(commands)?);
    }
    command::run(recorder.env("PILOTHOUSE_REAL_CLI", cli).env("PYTHONDONTWRITEBYTECODE", "1"))
}
