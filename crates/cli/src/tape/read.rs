//! Reading a tape, or telling that a file is none.

use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, bail};
use fs_err as fs;
use pilothouse_link::tape::{Problem, Tape, What};

use crate::printer::plain;

/// Reads a tape. A file without any line of a conversation is an error: to show nothing would look like success.
pub(super) fn tape(file: &Path) -> anyhow::Result<(Tape, Vec<Problem>)> {
    let name = || plain(&file.to_string_lossy()).into_owned();
    let opened = fs::File::open(file)?;
    // A pipe has no end until its writer closes it, but the shell's `<(…)` is one, so only directories are refused here.
    if opened.metadata()?.is_dir() {
        bail!("{} is not a tape: it is a directory", name());
    }
    let (tape, problems) =
        Tape::read(BufReader::new(opened)).with_context(|| format!("cannot read {}", name()))?;
    if tape.entries.iter().any(|entry| !matches!(entry.what, What::Meta(_))) {
        return Ok((tape, problems));
    }
    match problems.first() {
        Some(problem) => bail!("{} is not a tape: {}", name(), plain(&problem.to_string())),
        None => bail!("{} is not a tape: it holds no conversation", name()),
    }
}
