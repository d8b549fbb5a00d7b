//! `cargo xtask`: everything a contributor or CI runs.

mod acp;
mod alone;
mod bench;
mod browser;
mod chaos;
mod command;
mod conformance;
mod dag;
mod deny;
mod fuzz;
mod invariants;
mod namespace;
mod npm;
mod readers;
mod real;
mod schema;
mod sdks;
mod stages;
mod suite;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Everything a contributor or CI runs.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build, run every test, doctest and example, look at the page, fuzz a little, and drive the real CLI
    Test,
    /// Check formatting, lints, documentation and each crate by itself, then do all of `test`
    Ci,
    /// Install the reference ACP adapter under target/ and drive our agent, or another CLI, with it
    Acp(acp::Options),
    /// Measure the SDK against the floors and, when asked, its peers
    Bench(bench::Options),
    /// Check the page's types, and the page itself in Chromium against a real bridge
    Browser(browser::Options),
    /// Play the recorded scenarios against our agent, or another CLI, and tell what it does differently
    Conformance(conformance::Options),
    /// Kill the bridge, its CLI and its sockets, hundreds of times in two minutes, and look whether anything is lost
    Chaos,
    /// Check the crates' edges and invariants against ARCHITECTURE.md
    Dag,
    /// Check licences, sources and known vulnerabilities of all dependencies
    Deny,
    /// Fuzz every target, or the ones named
    Fuzz(fuzz::Options),
    /// Record what the real CLI decides about generated commands, into the table that the engine is compared with
    Decisions(readers::DecisionOptions),
    /// Run every reader that the engine allows with every option under strace: none opens a file outside the project
    Readers,
    /// Install the real CLI under target/ and run its suite
    Real(real::Options),
    /// Install the official SDKs under target/ and drive our agent, or another CLI, with them
    Sdks(sdks::Options),
    /// Write the JSON Schema of the wire, or check that it is up to date
    Schema(schema::Options),
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            stages::say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    match task {
        Task::Test => suite::test(),
        Task::Ci => suite::ci(),
        Task::Acp(options) => acp::run(&options),
        Task::Bench(options) => bench::bench(&options),
        Task::Browser(options) => browser::run(&options),
        Task::Conformance(options) => conformance::run(&options),
        Task::Chaos => chaos::run_full_length(),
        Task::Dag => dag::check(),
        Task::Deny => deny::check(),
        Task::Fuzz(options) => fuzz::run(&options),
        Task::Decisions(options) => readers::record(&options),
        Task::Readers => readers::run(),
        Task::Real(options) => real::run(&options),
        Task::Sdks(options) => sdks::run(&options),
        Task::Schema(options) => schema::run(&options),
    }
}
