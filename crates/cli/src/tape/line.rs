//! The lines of a tape.

use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use fs_err as fs;
use serde::Deserialize;
use serde_json::value::RawValue;

/// One line of a tape: something that one of the two ends wrote, or a note about it.
#[derive(Debug, Deserialize)]
pub(crate) struct TapeLine {
    /// Milliseconds since the beginning.
    #[serde(default)]
    pub(crate) t: f64,
    /// Who wrote it.
    pub(crate) dir: Direction,
    /// A frame.
    #[serde(default)]
    pub(crate) msg: Option<Box<RawValue>>,
    /// A line that is no JSON.
    #[serde(default)]
    pub(crate) raw: Option<String>,
}

/// Who wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    /// The host, on the CLI's stdin.
    In,
    /// The CLI, on its stdout.
    Out,
    /// The CLI, on its stderr.
    Err,
    /// The recorder.
    Meta,
}

/// Reads a tape line by line.
pub(crate) fn read(path: &Path) -> anyhow::Result<impl Iterator<Item = anyhow::Result<TapeLine>>> {
    let reader = BufReader::new(fs::File::open(path)?);
    let path = path.to_owned();
    Ok(reader.split(b'\n').enumerate().filter_map(move |(number, line)| {
        let line = match line {
            Ok(line) if line.trim_ascii().is_empty() => return None,
            line => line,
        };
        let place = || format!("{}:{}: not a line of a tape", path.display(), number + 1);
        let parsed = line.map_err(anyhow::Error::from).and_then(|line| Ok(serde_json::from_slice(&line)?));
        Some(parsed.with_context(place))
    }))
}
