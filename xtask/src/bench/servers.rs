//! The servers that are measured, each started for one run and ended after it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::bench::build::{Built, Profile};
use crate::command::{command, output, programs, run};
use crate::workspace;

/// The package that most bridges are built on.
const NODE_PACKAGE: &str = "ws@8.22.2";

#[derive(Debug, Clone, Copy)]
pub(crate) enum Server {
    Bridge,
    Floor,
    Node,
}

impl Server {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Server::Bridge => "pilothouse",
            Server::Floor => "floor",
            Server::Node => "Node",
        }
    }
}

/// All programs of a run.
pub(crate) struct Programs {
    built: Built,
    pilothouse: PathBuf,
    node_server: PathBuf,
}

impl Programs {
    pub(crate) fn build() -> Result<Self> {
        let built = Built::at(&Profile::Measured);
        built.release(&workspace::root().join("bench/Cargo.toml"), "bench-bridge", &Profile::Measured)?;
        run(&mut programs())?;
        let pilothouse = workspace::target("release/pilothouse");
        // Node finds packages beside the file that imports them, so the server is copied to where they are installed.
        let folder = built.scratch("ws-node")?;
        if !folder.join("node_modules/ws").exists() {
            run(command("npm")
                .args(["install", "--no-save", "--silent", "--prefix"])
                .arg(&folder)
                .arg(NODE_PACKAGE))?;
        }
        let node_server = folder.join("server.mjs");
        fs::copy(workspace::root().join("bench/peers/ws-node/server.mjs"), &node_server)?;
        Ok(Self { built, pilothouse, node_server })
    }

    /// Starts the server, loads it, and gives what the load generator printed.
    pub(crate) fn run(&self, server: Server, load: &str) -> Result<Value> {
        let place = self.built.scratch("bridge-run")?;
        let running = match server {
            Server::Bridge => self.bridge(&place)?,
            Server::Floor => Running::plain(&mut command(self.built.program("wsfloor")))?,
            Server::Node => Running::plain(command("node").arg(&self.node_server))?,
        };
        let mut generator = command(self.built.program("wsload"));
        generator.args([&running.port, &running.child.id().to_string(), &running.kind]).args(load.split(' '));
        let printed = output(&mut generator);
        drop(running);
        fs::remove_dir_all(&place)?;
        let printed = printed?;
        serde_json::from_str(&printed).with_context(|| format!("no JSON came: {printed}"))
    }

    fn bridge(&self, place: &Path) -> Result<Running> {
        let project = place.join("project");
        fs::create_dir_all(&project)?;
        let mut serve = command(&self.pilothouse);
        serve.args(["serve", "--json", "--port", "0", "--limit", "burst=1000000", "--claude"]);
        serve.arg(self.built.program("wscli")).arg("--state-dir").arg(place.join("state"));
        serve.arg("--root").arg(&project);
        let (child, line) = started(&mut serve)?;
        let told: Value = serde_json::from_str(&line).with_context(|| format!("the bridge said {line:?}"))?;
        let text = |name: &str| {
            told.get(name).and_then(Value::as_str).with_context(|| format!("no {name} in {line}"))
        };
        let port = text("url")?
            .rsplit_once(':')
            .map(|(_, port)| port.to_owned())
            .context("no port in the address")?;
        let mut asking = command(&self.pilothouse);
        asking.args(["serve", "token", "--state-dir"]).arg(text("state_dir")?);
        let token = output(&mut asking)?;
        let kind = format!("{}:{}", token.trim(), project.canonicalize()?.display());
        Ok(Running { child, port, kind })
    }
}

/// A server that runs until this is dropped.
struct Running {
    child: Child,
    port: String,
    /// How the load generator speaks to it.
    kind: String,
}

impl Running {
    fn plain(server: &mut Command) -> Result<Self> {
        let (child, line) = started(server)?;
        Ok(Running { child, port: line.trim().to_owned(), kind: "plain".to_owned() })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone now.
        let (Ok(()) | Err(_)) = self.child.kill();
        drop(self.child.wait());
    }
}

/// Starts it and waits for its first line.
fn started(server: &mut Command) -> Result<(Child, String)> {
    let mut child = server.stdout(Stdio::piped()).spawn().context("the server cannot be started")?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut line)?;
    }
    if line.is_empty() {
        let status = child.wait()?;
        bail!("the server said nothing and ended with {status}");
    }
    Ok((child, line))
}
