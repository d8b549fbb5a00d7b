//! Drives a CLI with the official SDKs: installs them, pinned, under `target/`, and runs our suites of checks and the
//! hosts of `examples/hosts`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use crate::command::{self, command, exists};
use crate::namespace::Namespace;
use crate::npm;
use crate::real;
use crate::stages::Skip;
use crate::workspace::{root, target};

/// How many checks run at once, unless told otherwise.
const JOBS: usize = 4;

/// Which suites to run, and against which CLI.
#[derive(Args)]
pub(crate) struct Options {
    /// Only checks whose names contain one of these
    names: Vec<String>,
    /// Only the suite of this language
    #[arg(long)]
    only: Option<Language>,
    /// The CLI to drive, instead of our own: an executable, or `real` for the pinned real one
    #[arg(long)]
    cli: Option<PathBuf>,
    /// How many checks run at once
    #[arg(long, default_value_t = JOBS)]
    jobs: usize,
}

/// A language that has an official SDK.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    Python,
    Typescript,
}

/// Both suites and the hosts, against our agent.
pub(crate) fn suite() -> Result<()> {
    run(&Options { names: Vec::new(), only: None, cli: None, jobs: JOBS })
}

/// `cargo xtask sdks`.
pub(crate) fn run(options: &Options) -> Result<()> {
    let namespace = Namespace::find()?;
    command::run(&mut command::programs())?;
    let cli = match &options.cli {
        None => target("release/pilothouse-agent"),
        Some(cli) if cli.as_os_str() == "real" => real::prepare()?.1,
        Some(cli) => std::path::absolute(cli)?,
    };
    let mut failed = Vec::new();
    for language in [Language::Python, Language::Typescript] {
        if options.only.is_some_and(|only| only != language) {
            continue;
        }
        let mut suite = match language {
            Language::Python => python(&namespace)?,
            Language::Typescript => typescript(&namespace)?,
        };
        suite.arg(format!("--jobs={}", options.jobs)).args(&options.names);
        suite.env("PILOTHOUSE_CLI", &cli).env("PILOTHOUSE_API", target("release/scripted-api"));
        // Both suites are told of, although the first one failed.
        failed.extend(command::run(&mut suite).err());
    }
    if options.cli.is_none() && options.names.is_empty() {
        failed.extend(hosts(&namespace, options.only).err());
    }
    match failed.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// The Python suite in `tests/python`, with its packages installed.
fn python(namespace: &Namespace) -> Result<Command> {
    let tests = root().join("tests/python");
    let place = target("sdks/python");
    let python = place.join("bin/python");
    let requirements = tests.join("requirements.txt");
    if !is_installed(&place, &requirements)? {
        if !exists("python3") {
            return Err(Skip("python3 is needed for the official Python SDK".into()).into());
        }
        command::run(command("python3").args(["-m", "venv", "--clear"]).arg(&place))?;
        let mut pip = command(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
        command::run(pip.arg(&requirements))?;
        remove_bundled_cli(&place)?;
        note_installed(&place, &requirements)?;
    }
    let mut suite = namespace.enter(python);
    suite.arg(tests.join("run.py")).env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(suite)
}

/// The TypeScript suite in `tests/typescript`, with its packages installed.
fn typescript(namespace: &Namespace) -> Result<Command> {
    let tests = root().join("tests/typescript");
    let place = target("sdks/typescript");
    // Optional packages are left out: they are the CLI itself, one for each platform.
    npm::install(&tests, &place)?;
    let mut suite = namespace.enter("node");
    suite.arg(tests.join("run.mjs")).env("PILOTHOUSE_TS_MODULES", place);
    Ok(suite)
}

/// The hosts of `examples/hosts`, which test themselves with a scripted agent.
fn hosts(namespace: &Namespace, only: Option<Language>) -> Result<()> {
    let hosts = root().join("examples/hosts");
    let mut programs = Vec::new();
    if only != Some(Language::Typescript) {
        let mut python = namespace.enter(target("sdks/python/bin/python"));
        python.arg(hosts.join("host.py"));
        programs.push(python);
    }
    if only != Some(Language::Python) {
        let mut node = namespace.enter("node");
        node.arg(hosts.join("host.mjs")).env("PILOTHOUSE_TS_MODULES", target("sdks/typescript"));
        programs.push(node);
    }
    if only.is_none() {
        programs.push(namespace.enter(target("release/examples/scripted_host")));
    }
    for mut program in programs {
        command::run(program.env("PILOTHOUSE_AGENT", target("release/pilothouse-agent")))?;
    }
    Ok(())
}

/// The wheel brings a CLI of its own. Without it nothing can be driven by mistake but the CLI under test.
fn remove_bundled_cli(place: &Path) -> Result<()> {
    let mut removed = 0;
    for version in std::fs::read_dir(place.join("lib"))?.flatten() {
        let bundled = version.path().join("site-packages/claude_agent_sdk/_bundled/claude");
        if bundled.exists() {
            std::fs::remove_file(bundled)?;
            removed += 1;
        }
    }
    if removed == 0 {
        bail!("the Python SDK has no bundled CLI where it used to be: look where it is now");
    }
    Ok(())
}

/// Whether what `wanted` lists is what was installed at `place`.
fn is_installed(place: &Path, wanted: &Path) -> Result<bool> {
    let installed = std::fs::read(place.join("installed")).unwrap_or_default();
    Ok(installed == std::fs::read(wanted)?)
}

fn note_installed(place: &Path, wanted: &Path) -> Result<()> {
    std::fs::copy(wanted, place.join("installed"))?;
    Ok(())
}
