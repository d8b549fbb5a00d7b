//! Output that would fill the model's context is kept in a file; the model gets the beginning and the path.

use std::path::{Path, PathBuf};

use crate::printed::Printed;
use crate::workspace::Workspace;

/// Up to this many characters go to the model as they are.
pub(crate) const LARGEST_INLINE: usize = 30_000;
/// How much of a larger output is shown.
const PREVIEW: usize = 2_000;
/// What is said of an output of which all is kept.
const FULL: &str = "Full output";

pub(crate) struct Shown {
    /// For the model.
    pub(crate) text: String,
    /// For programs: the same, cut but without a note.
    pub(crate) structured: String,
    pub(crate) kept: Option<Kept>,
}

pub(crate) struct Kept {
    pub(crate) path: PathBuf,
    pub(crate) size: usize,
}

/// Both readings of an output, of which no more than `largest` characters are shown.
pub(crate) fn shown(output: &Printed, largest: usize, workspace: &Workspace) -> Shown {
    let text = String::from_utf8_lossy(output.head());
    let text = text.trim_end().trim_start_matches('\n');
    if output.tail().is_none() && text.chars().count() <= largest {
        return Shown { text: text.to_owned(), structured: text.to_owned(), kept: None };
    }
    let kept = keep(output.head(), workspace);
    let extent = match output.tail() {
        Some(_) => format!("The first {}", human(output.head().len() as u64)),
        None => FULL.to_owned(),
    };
    Shown {
        text: said(text, output.size(), PREVIEW.min(largest), &extent, kept.as_deref()),
        structured: first(text, largest).to_owned(),
        kept: kept.map(|path| Kept { path, size: output.head().len() }),
    }
}

/// What the model gets of a text that is too large for it: the beginning, and where the whole is, if it could be kept.
pub fn too_large(text: &str, size: usize, preview: usize, kept: Option<&Path>) -> String {
    said(text, size as u64, preview, FULL, kept)
}

fn said(text: &str, size: u64, preview: usize, extent: &str, kept: Option<&Path>) -> String {
    let place = match kept {
        Some(path) => format!("{extent} saved to: {}", path.display()),
        None => "The rest could not be saved".to_owned(),
    };
    let preview = first(text, preview);
    format!(
        "<persisted-output>\nOutput too large ({}). {place}\n\nThe first part:\n{preview}\n…\n</persisted-output>",
        human(size)
    )
}

/// The beginning and the end of a text that is too long: what went wrong tends to be said last.
pub(crate) fn both_ends(output: &Printed, largest: usize) -> String {
    let text = String::from_utf8_lossy(output.head());
    let text = text.trim_start_matches('\n');
    if let Some(end) = output.tail() {
        let (head, end) = (first(text, largest / 2), String::from_utf8_lossy(&end));
        let tail = last(end.trim_end(), largest / 2);
        let shown = (head.len() + tail.len()) as u64;
        let left_out = human(output.size().saturating_sub(shown));
        return format!("{head}\n\n… [{left_out} are left out here] …\n\n{tail}");
    }
    let text = text.trim_end();
    let count = text.chars().count();
    if count <= largest {
        return text.to_owned();
    }
    let (head, tail) = (first(text, largest / 2), last(text, largest / 2));
    format!("{head}\n\n… [{} characters are left out here] …\n\n{tail}", count - largest / 2 * 2)
}

fn keep(output: &[u8], workspace: &Workspace) -> Option<PathBuf> {
    let folder = workspace.make_output_dir().ok()?;
    let mut file = tempfile::Builder::new().prefix("b").suffix(".txt").tempfile_in(folder).ok()?;
    std::io::Write::write_all(&mut file, output).ok()?;
    file.keep().ok().map(|(_, path)| path)
}

fn first(text: &str, characters: usize) -> &str {
    let end = text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

fn last(text: &str, characters: usize) -> &str {
    let start = text.char_indices().rev().take(characters).last().map_or(text.len(), |(at, _)| at);
    text.get(start..).unwrap_or_default()
}

fn human(bytes: u64) -> String {
    let (number, unit) = match bytes {
        0..1_024 => return format!("{bytes}B"),
        1_024..1_048_576 => (bytes as f64 / 1024.0, "KB"),
        _ => (bytes as f64 / 1_048_576.0, "MB"),
    };
    let digits = format!("{number:.1}");
    format!("{}{unit}", digits.strip_suffix(".0").unwrap_or(&digits))
}
