//! The page in a real browser: its types are checked, and Chromium drives it against a real bridge.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::command::{self, command, exists};
use crate::npm;
use crate::real;
use crate::stages::Skip;
use crate::workspace::{in_ci, root, target};

/// What Chromium is called.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Which checks to run, and against which program.
#[derive(Args)]
pub(crate) struct Options {
    /// Only checks whose names contain one of these
    names: Vec<String>,
    /// The program whose `serve` is checked, instead of a fresh release build
    #[arg(long)]
    program: Option<PathBuf>,
    /// Make the README's pictures of the page instead
    #[arg(long)]
    screens: bool,
}

/// `cargo xtask browser`.
pub(crate) fn run(options: &Options) -> Result<()> {
    let program = match &options.program {
        Some(program) => std::path::absolute(program)?,
        None => {
            command::run(&mut command::programs())?;
            target("release/pilothouse")
        }
    };
    let (namespace, cli) = real::prepare()?;
    let chromium = chromium()?;
    let (tests, modules) = (root().join("tests/browser"), target("browser"));
    npm::install(&tests, &modules)?;
    let mut types = command("node");
    types.arg(modules.join("node_modules/typescript/bin/tsc")).arg("--project").arg(&tests);
    command::run(&mut types)?;
    let mut suite = namespace.enter("node");
    suite.arg(tests.join("run.mjs")).args(&options.names);
    if options.screens {
        suite.arg(format!("--screens={}", root().join("docs/screens").display()));
    }
    suite.env("PILOTHOUSE_API", program.with_file_name("scripted-api")).env("PILOTHOUSE_BIN", program);
    suite.env("PILOTHOUSE_REAL_CLI", cli).env("PILOTHOUSE_CHROMIUM", chromium);
    command::run(suite.env("PILOTHOUSE_BROWSER_MODULES", modules))
}

/// All checks, with the program that was built for the other tests.
pub(crate) fn suite() -> Result<()> {
    run(&Options { names: Vec::new(), program: Some(target("release/pilothouse")), screens: false })
}

/// The browser's name; a CI machine gets one.
fn chromium() -> Result<&'static str> {
    let found = || NAMES.into_iter().find(|name| exists(name));
    if found().is_none() && in_ci() {
        command::run(command("apt-get").arg("update"))?;
        command::run(command("apt-get").args(["install", "-y", "--no-install-recommends", "chromium"]))?;
    }
    found().ok_or_else(|| Skip("Chromium is needed to look at the page".into()).into())
}
