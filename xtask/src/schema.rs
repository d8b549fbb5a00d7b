//! The JSON Schema of the wire, generated from the types and kept in the repository for programs in other languages.

use std::fs;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::stages::say;
use crate::workspace::root;

const PLACE: &str = "docs/stream-json.schema.json";

/// What to do with the generated schema.
#[derive(Args)]
pub(crate) struct Options {
    /// Write nothing; fail when the file is not what would be written
    #[arg(long)]
    check: bool,
}

/// `cargo xtask schema`.
pub(crate) fn run(options: &Options) -> Result<()> {
    if options.check { check() } else { write() }
}

/// Fails when the file in the repository is not what the types say.
pub(crate) fn check() -> Result<()> {
    let present = fs::read_to_string(root().join(PLACE)).with_context(|| format!("cannot read {PLACE}"))?;
    if present != generated()? {
        bail!("{PLACE} is out of date: run `cargo xtask schema`");
    }
    say(&format!("{PLACE} is up to date"));
    Ok(())
}

fn write() -> Result<()> {
    let path = root().join(PLACE);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&path, generated()?).with_context(|| format!("cannot write {PLACE}"))?;
    say(&format!("wrote {PLACE}"));
    Ok(())
}

fn generated() -> Result<String> {
    Ok(serde_json::to_string_pretty(&pilothouse_proto::schema())? + "\n")
}
