//! Coverage-guided fuzzing of the targets in `fuzz/`, with cargo-fuzz installed under `target/`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::command::{self, cargo_tool, command};
use crate::stages::{Skip, say};
use crate::workspace::{root, target};

const CARGO_FUZZ_VERSION: &str = "0.13.2";
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// Two targets at a time: one per core of the machine that CI has.
const AT_ONCE: usize = 2;

/// What to fuzz, and for how long.
#[derive(Args)]
pub(crate) struct Options {
    /// Targets to fuzz; all when none is named
    targets: Vec<String>,
    /// Seconds per target
    #[arg(long, default_value_t = 600)]
    seconds: u64,
}

/// `cargo xtask fuzz`.
pub(crate) fn run(options: &Options) -> Result<()> {
    let known = targets()?;
    if let Some(name) = options.targets.iter().find(|name| !known.contains(name)) {
        bail!("no fuzz target `{name}`; there are: {}", known.join(", "));
    }
    let chosen = if options.targets.is_empty() { known } else { options.targets.clone() };
    fuzz(&chosen, options.seconds)
}

/// Every target for this long.
pub(crate) fn all_for(seconds: u64) -> Result<()> {
    fuzz(&targets()?, seconds)
}

/// The targets are the files in `fuzz/fuzz_targets`.
fn targets() -> Result<Vec<String>> {
    let folder = root().join("fuzz/fuzz_targets");
    let entries = fs::read_dir(&folder).map_err(|error| Skip(format!("{}: {error}", folder.display())))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".rs").map(str::to_owned))
        .collect();
    names.sort();
    Ok(names)
}

fn fuzz(names: &[String], seconds: u64) -> Result<()> {
    build()?;
    let mut failures = Vec::new();
    for pair in names.chunks(AT_ONCE) {
        let mut running = Vec::new();
        for name in pair {
            let log = log_file(name);
            let child = target_command(name, seconds, &log)?.spawn();
            running.push((name, log, child.with_context(|| format!("cannot start the fuzz target {name}"))?));
        }
        for (name, log, mut child) in running {
            let status = child.wait()?;
            let text = fs::read_to_string(&log).unwrap_or_default();
            let runs = text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
            say(&format!("{name}: {} inputs, {status}", runs.unwrap_or("?").trim()));
            if !status.success() {
                let lines: Vec<&str> = text.lines().collect();
                let tail = lines.split_at(lines.len().saturating_sub(60)).1;
                say(&tail.join("\n"));
                failures.push(name.as_str());
            }
        }
    }
    if !failures.is_empty() {
        bail!(
            "found a crash, a hang or a leak in: {}; the inputs are in fuzz/artifacts",
            failures.join(", ")
        );
    }
    Ok(())
}

fn build() -> Result<()> {
    let mut build = cargo_tool("cargo-fuzz", CARGO_FUZZ_VERSION)?;
    build.args(["fuzz", "build", "--target", PLATFORM, "--target-dir"]).arg(target("fuzz"));
    // The sanitizers are behind unstable flags of a compiler that otherwise is the stable one.
    command::run(build.env("RUSTC_BOOTSTRAP", "1"))
}

/// New inputs go to a folder under `target/`; the committed corpus is only read.
fn target_command(name: &str, seconds: u64, log: &Path) -> Result<Command> {
    let found = target("fuzz-corpus").join(name);
    let artifacts = root().join("fuzz/artifacts").join(name);
    for folder in [&found, &artifacts] {
        fs::create_dir_all(folder)?;
    }
    let mut fuzzer = command(target("fuzz").join(PLATFORM).join("release").join(name));
    fuzzer.arg(format!("-max_total_time={seconds}")).args(["-timeout=10", "-print_final_stats=1"]);
    fuzzer.arg(format!("-artifact_prefix={}/", artifacts.display())).arg(found);
    let committed = root().join("fuzz/corpus").join(name);
    if committed.is_dir() {
        fuzzer.arg(committed);
    }
    let log = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    fuzzer.stdout(log.try_clone()?).stderr(log);
    Ok(fuzzer)
}

fn log_file(name: &str) -> PathBuf {
    target("fuzz-corpus").join(format!("{name}.log"))
}
