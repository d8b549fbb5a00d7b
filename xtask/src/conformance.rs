//! Plays the recorded scenarios against a CLI: ours, the real one, or any other.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::command;
use crate::namespace::Namespace;
use crate::real;
use crate::workspace::{root, target};

/// How many scenarios play at once, unless told otherwise.
const JOBS: usize = 4;

/// What to play, and against which CLI.
#[derive(Args)]
pub(crate) struct Options {
    /// Only scenarios whose names fit one of these; `*` stands for any text
    patterns: Vec<String>,
    /// The CLI to play against, instead of our own: an executable, or `real` for the pinned real one
    #[arg(long)]
    cli: Option<PathBuf>,
    /// Show what differs
    #[arg(short)]
    verbose: bool,
    /// How many scenarios play at once
    #[arg(long, default_value_t = JOBS)]
    jobs: usize,
}

/// All scenarios but the slow ones, against our agent.
pub(crate) fn suite() -> Result<()> {
    run(&Options { patterns: Vec::new(), cli: None, verbose: true, jobs: JOBS })
}

/// `cargo xtask conformance`: our agent is held to the list of known differences; of any other CLI it is only told
/// what it does differently, and its records are kept.
pub(crate) fn run(options: &Options) -> Result<()> {
    let namespace = Namespace::find()?;
    command::run(&mut command::programs())?;
    let mut player = namespace.enter(target("release/conformance"));
    player.arg("--fixtures").arg(root().join("fixtures"));
    for set in ["claims", "neighbours", "background", "corners", "tools", "launching"] {
        player.arg("--fixtures").arg(root().join("fixtures").join(set));
    }
    player.arg("--jobs").arg(options.jobs.to_string());
    if options.verbose {
        player.arg("-v");
    }
    match &options.cli {
        None => {
            player.arg("--cli").arg(target("release/pilothouse-agent"));
            player.arg("--out").arg(target("conformance/agent"));
            player.arg("--known").arg(root().join("docs/conformance.md"));
        }
        Some(cli) => {
            let cli = if cli.as_os_str() == "real" { real::prepare()?.1 } else { std::path::absolute(cli)? };
            player.arg("--cli").arg(cli).arg("--out").arg(target("conformance/other"));
        }
    }
    command::run(player.args(&options.patterns))
}
