//! Starting other programs, and saying which one failed.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{stages, workspace};

/// A child in the workspace's root. Its output goes where ours goes.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "a build tool's children end with the terminal's own group"
    )]
    let mut command = Command::new(program);
    command.current_dir(workspace::root()).stdin(Stdio::null());
    command
}

/// The same cargo that runs us, without what it told *us* about our own package: build scripts that watch those variables
/// would run anew, and half the workspace with them, each time `cargo xtask` and plain `cargo` take turns.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if OF_OUR_PACKAGE.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command.args(arguments);
    command
}

const OF_OUR_PACKAGE: [&str; 5] =
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CRATE_NAME", "CARGO_BIN_NAME", "CARGO_PRIMARY_PACKAGE"];

/// A cargo subcommand of this version, installed under `target/tools` if it is not there.
pub(crate) fn cargo_tool(name: &str, version: &str) -> Result<Command> {
    let tools = workspace::target("tools");
    let program = tools.join("bin").join(name);
    if !program.exists() {
        // Unoptimised: it compiles three times as fast, and a run takes seconds.
        let what = ["install", "--debug", "--locked", name, "--version", version, "--root"];
        run(cargo(&what).arg(&tools))?;
    }
    Ok(command(program))
}

/// Builds our programs and examples, of the whole workspace: with the examples, features unify as they do for the tests, and
/// what was built for those is used again.
pub(crate) fn programs() -> Command {
    cargo(&["build", "--release", "--workspace", "--bins", "--examples"])
}

/// Whether `program` can be started at all.
pub(crate) fn exists(program: &str) -> bool {
    command(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Runs it to its end; anything but success is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    stages::say(&format!("$ {shown}"));
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` ended with {status}");
    }
    Ok(())
}

/// Runs it to its end and gives what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = shown(command);
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` ended with {}", output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
