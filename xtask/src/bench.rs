//! `cargo xtask bench`: the SDK against hand-written floors and, when asked, its peers, all driving one fake CLI.
//!
//! Every bound is a ratio to a floor in the same run, or a plain number of bytes or starts, so that the verdicts hold
//! on a slow or busy machine too. See bench/README.md.

mod agent;
mod bridge;
mod build;
mod document;
mod measure;
mod peers;
mod plan;
mod report;
mod servers;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::command::{cargo, run};
use crate::stages::say;
use crate::workspace;

/// Where the generated table stands.
const DOCUMENT: &str = "docs/benchmarks.md";

#[derive(Args)]
pub(crate) struct Options {
    /// Repetitions; the contenders take turns within each
    #[arg(long, default_value_t = 9)]
    repetitions: u32,
    /// Only these workloads (comma-separated)
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Also measure the official SDKs and the other Rust crates (fetched by version; about half an hour)
    #[arg(long)]
    peers: bool,
    /// Also measure the permission rules and the search for commands and skills
    #[arg(long)]
    rules: bool,
    /// Measure the agent beside the real CLI instead
    #[arg(long)]
    agent: bool,
    /// Measure the bridge instead: latency, fan-out, memory, catch-up
    #[arg(long)]
    bridge: bool,
    /// Write the table to docs/benchmarks.md, or those of agent and bridge to files of their own beside it
    #[arg(long)]
    write: bool,
    /// A short run that fails only past ten times a bound, for machines that do other work at the same time
    #[arg(long, conflicts_with_all = ["peers", "write"])]
    check: bool,
}

/// `cargo xtask bench`.
pub(crate) fn bench(options: &Options) -> Result<()> {
    if options.agent {
        return agent::measure(options.repetitions.max(1), options.write);
    }
    if options.bridge {
        let repetitions = if options.check { 1 } else { options.repetitions.clamp(1, 5) };
        return bridge::bench(repetitions, options.check, options.write);
    }
    if options.rules {
        run(&mut cargo(&["bench", "-p", "pilothouse-rules", "-p", "pilothouse-catalog"]))?;
    }
    let built = build::drivers(if options.check { build::Profile::Quick } else { build::Profile::Measured })?;
    let mut contenders = vec![plan::ours(&built), plan::floor(&built, "value"), plan::floor(&built, "typed")];
    if options.peers {
        contenders.extend(peers::install(&built)?);
    }
    let workloads = plan::workloads(options.check, &options.only);
    if workloads.is_empty() {
        bail!("no workload is called `{}`; see xtask/src/bench/plan.rs", options.only.join(","));
    }
    let repetitions = if options.check { 1 } else { options.repetitions.max(1) };
    let samples = measure::interleaved(&built, &contenders, &workloads, repetitions)?;
    let report = report::Report::new(&samples, &contenders, &workloads, options.check);
    let tables = report.text();
    say(&tables);
    if options.write {
        let path = workspace::root().join(DOCUMENT);
        std::fs::write(&path, document::document(&tables, repetitions))
            .with_context(|| format!("cannot write {}", path.display()))?;
        say(&format!("wrote {DOCUMENT}"));
    }
    report.verdict()
}
