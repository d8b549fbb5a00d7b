//! Whether a recording may be written to a file.

use std::path::Path;

use anyhow::bail;

use crate::printer::{BOLD, Printer, plain};
use crate::talk::input::{confirm, somebody_is_there};

/// Asks before a file that holds something is overwritten; false if the answer is no.
pub(super) fn may_write(file: &Path, printer: &mut Printer) -> anyhow::Result<bool> {
    let holds_something = std::fs::metadata(file).is_ok_and(|file| file.is_file() && file.len() > 0);
    if !holds_something {
        return Ok(true);
    }
    let name = plain(&file.to_string_lossy()).into_owned();
    if !somebody_is_there() {
        bail!("{name} exists: choose another file, or overwrite it with --force");
    }
    Ok(confirm(&format!("{name} exists. {BOLD}Overwrite it{BOLD:#} [y/n]? "), printer)?)
}
