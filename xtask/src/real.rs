//! The real CLI: installed under `target/` from its npm package, and driven by the SDK's suite where no network is.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use crate::command::{self, command, exists, output};
use crate::namespace::Namespace;
use crate::stages::{Skip, say};
use crate::workspace::target;

const PACKAGE: &str = "@anthropic-ai/claude-agent-sdk-linux-x64";
/// The version that the recorded tapes are of.
const PINNED_VERSION: &str = "2.1.325";
/// Overrides the pinned version, to try a newer CLI.
const VERSION_VARIABLE: &str = "PILOTHOUSE_CLI_VERSION";

/// What to do with the real CLI.
#[derive(Args)]
pub(crate) struct Options {
    /// Run only the tests whose names contain one of these
    filters: Vec<String>,
    /// Only install it, and print where it is
    #[arg(long)]
    install: bool,
    /// Use this version instead of the pinned one; it replaces the installed copy
    #[arg(long, env = VERSION_VARIABLE, value_name = "2.1.N")]
    version: Option<String>,
}

/// `cargo xtask real`.
pub(crate) fn run(options: &Options) -> Result<()> {
    let version = options.version.as_deref().unwrap_or(PINNED_VERSION);
    let (namespace, cli) = prepare_version(version)?;
    if options.install {
        say(&cli.display().to_string());
        return Ok(());
    }
    suite_with(&namespace, &cli, &options.filters)
}

/// The whole suite.
pub(crate) fn suite() -> Result<()> {
    let (namespace, cli) = prepare()?;
    suite_with(&namespace, &cli, &[])
}

/// A network namespace with loopback only, and the installed CLI.
pub(crate) fn prepare() -> Result<(Namespace, PathBuf)> {
    let version = std::env::var(VERSION_VARIABLE);
    prepare_version(version.as_deref().unwrap_or(PINNED_VERSION))
}

fn prepare_version(version: &str) -> Result<(Namespace, PathBuf)> {
    let namespace = Namespace::find()?;
    let cli = install(version)?;
    check_version(&namespace, &cli, version)?;
    Ok((namespace, cli))
}

fn suite_with(namespace: &Namespace, cli: &PathBuf, filters: &[String]) -> Result<()> {
    // The suite runs the examples and our own agent as well, and a test does not make cargo build them.
    command::run(&mut command::programs())?;
    // The whole workspace is named although one binary runs: another choice of packages would unify features
    // differently, and build everything again.
    let selection = ["--release", "--workspace", "--test", "real", "--offline"];
    let mut suite = namespace.enter(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    if exists("cargo-nextest") {
        suite.args(["nextest", "run", "--profile", "real"]).args(selection).args(filters);
    } else {
        suite.arg("test").args(selection).args(["--", "--test-threads=2"]).args(filters);
    }
    suite.env("PILOTHOUSE_REAL_CLI", cli).env("PILOTHOUSE_AGENT", target("release/pilothouse-agent"));
    command::run(&mut suite)
}

/// Installs the package under `target/` unless this version is there; there is never more than one copy.
fn install(version: &str) -> Result<PathBuf> {
    let Some(package_version) = version.strip_prefix("2.1.").map(|patch| format!("0.3.{patch}")) else {
        bail!("CLI {version}: only the versions 2.1.N are packaged as 0.3.N");
    };
    let prefix = target("real-cli");
    let package = prefix.join("node_modules").join(PACKAGE);
    let manifest = std::fs::read(package.join("package.json")).unwrap_or_default();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap_or_default();
    if manifest["version"] != package_version {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return Err(Skip("the pinned package of the real CLI is for Linux on x86-64".into()).into());
        }
        if !exists("npm") {
            return Err(Skip("npm is needed to install the real CLI".into()).into());
        }
        std::fs::create_dir_all(&prefix)?;
        let mut npm = command("npm");
        npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
        command::run(npm.arg(&prefix).arg(format!("{PACKAGE}@{package_version}")))?;
    }
    Ok(package.join("claude"))
}

fn check_version(namespace: &Namespace, cli: &PathBuf, wanted: &str) -> Result<()> {
    let home = target("real-cli/home");
    std::fs::create_dir_all(&home)?;
    let mut asked = namespace.enter(cli);
    asked.arg("-v").env("HOME", &home).env("CLAUDE_CONFIG_DIR", home.join(".claude"));
    asked.env("DISABLE_AUTOUPDATER", "1").env("DISABLE_TELEMETRY", "1");
    let version = output(&mut asked)?;
    if version.split_whitespace().next() != Some(wanted) {
        bail!("{} says it is `{}`, not {wanted}", cli.display(), version.trim());
    }
    say(&format!("real CLI {}", version.trim()));
    Ok(())
}
