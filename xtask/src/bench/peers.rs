//! The official SDKs and the other Rust crates: fetched by version, built and installed under `target/bench`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::bench::build::{Built, Profile};
use crate::bench::plan::{Contender, Pace};
use crate::command::{command, run};
use crate::workspace;

/// Their versions stand in their manifests.
const RUST_PEERS: [&str; 6] = [
    "cc-sdk",
    "claude-agent-sdk-rs",
    "claude-agents-sdk",
    "claude-code-agent-sdk",
    "claude-codes",
    "claude-wrapper",
];
const PYTHON_SDK: &str = "claude-agent-sdk==0.2.182";
const TYPESCRIPT_SDK: &str = "@anthropic-ai/claude-agent-sdk@0.3.325";
const TYPESCRIPT_SCHEMAS: &str = "zod@4";

/// Builds and installs all of them. Only this step needs a package registry.
pub(crate) fn install(built: &Built) -> Result<Vec<Contender>> {
    let mut contenders = vec![python(built)?, typescript(built)?];
    for name in RUST_PEERS {
        let manifest = sources(name).join("Cargo.toml");
        let package = format!("drv-{name}");
        built.release(&manifest, &package, &Profile::Measured)?;
        contenders.push(contender(name, vec![built.program(&package)], Pace::Peer));
    }
    Ok(contenders)
}

fn python(built: &Built) -> Result<Contender> {
    let environment = built.scratch("python")?;
    let interpreter = environment.join("bin/python");
    if !interpreter.exists() {
        run(command("python3").args(["-m", "venv"]).arg(&environment))?;
        run(command(&interpreter).args(["-m", "pip", "install", "--quiet", PYTHON_SDK]))?;
    }
    remove_bundled_cli(&environment.join("lib"))?;
    Ok(contender("python-sdk", vec![interpreter, sources("python").join("driver.py")], Pace::Script))
}

/// The wheel carries the real CLI, which is never to be run here.
fn remove_bundled_cli(libraries: &Path) -> Result<()> {
    for version in fs::read_dir(libraries).with_context(|| format!("cannot read {}", libraries.display()))? {
        let bundled = version?.path().join("site-packages/claude_agent_sdk/_bundled/claude");
        if bundled.exists() {
            fs::remove_file(&bundled).with_context(|| format!("cannot remove {}", bundled.display()))?;
        }
    }
    Ok(())
}

/// Node finds packages beside the file that imports them, so the driver is copied to where they are installed.
fn typescript(built: &Built) -> Result<Contender> {
    let directory = built.scratch("typescript")?;
    if !directory.join("node_modules").exists() {
        // The optional dependencies hold the real CLI.
        let install = ["install", "--omit=optional", "--no-audit", "--no-fund", "--prefix"];
        run(command("npm").args(install).arg(&directory).args([TYPESCRIPT_SDK, TYPESCRIPT_SCHEMAS]))?;
    }
    let driver = directory.join("driver.mjs");
    fs::copy(sources("typescript").join("driver.mjs"), &driver)
        .context("cannot copy the TypeScript driver")?;
    Ok(contender("typescript-sdk", vec!["node".into(), driver], Pace::Script))
}

fn sources(peer: &str) -> PathBuf {
    workspace::root().join("bench/peers").join(peer)
}

fn contender(name: &str, command: Vec<PathBuf>, pace: Pace) -> Contender {
    Contender { name: name.to_owned(), command, env: Vec::new(), pace }
}
