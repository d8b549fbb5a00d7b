//! The JSON Schemas of the wires, generated from the types and kept in the repository for programs in other languages.

use std::fs;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::command::{self, cargo, command, output};
use crate::stages::say;
use crate::workspace::{root, target};

const STREAM_JSON: &str = "docs/stream-json.schema.json";
const BRIDGE: &str = "docs/bridge.schema.json";

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

/// Fails when a file in the repository is not what the types say.
pub(crate) fn check() -> Result<()> {
    for (place, wanted) in generated()? {
        let present =
            fs::read_to_string(root().join(place)).with_context(|| format!("cannot read {place}"))?;
        if present != wanted {
            bail!("{place} is out of date: run `cargo xtask schema`");
        }
        say(&format!("{place} is up to date"));
    }
    Ok(())
}

fn write() -> Result<()> {
    for (place, wanted) in generated()? {
        let path = root().join(place);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, wanted).with_context(|| format!("cannot write {place}"))?;
        say(&format!("wrote {place}"));
    }
    Ok(())
}

fn generated() -> Result<[(&'static str, String); 2]> {
    let stream_json = serde_json::to_string_pretty(&pilothouse_proto::schema())? + "\n";
    // An example of the bridge prints its schema: linking the bridge would make this program as large as a server.
    // Built for the whole workspace, it shares every crate with the tests.
    let example = "bridge_schema";
    command::run(&mut cargo(&["build", "--quiet", "--release", "--workspace", "--example", example]))?;
    let bridge = output(&mut command(target(&format!("release/examples/{example}"))))?;
    Ok([(STREAM_JSON, stream_json), (BRIDGE, bridge)])
}
