//! Output that would fill the model's context is kept in a file; the model gets the beginning and the path.

use std::path::PathBuf;

use crate::workspace::Workspace;

/// Up to this many characters go to the model as they are.
const LARGEST_INLINE: usize = 30_000;
/// How much of a larger output is shown.
const PREVIEW: usize = 2_000;

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

pub(crate) fn shown(output: &[u8], workspace: &Workspace) -> Shown {
    let text = String::from_utf8_lossy(output);
    let text = text.trim_end().trim_start_matches('\n');
    if text.chars().count() <= LARGEST_INLINE {
        return Shown { text: text.to_owned(), structured: text.to_owned(), kept: None };
    }
    let size = output.len();
    let preview = first(text, PREVIEW);
    let kept = keep(output, workspace);
    let place = match &kept {
        Some(path) => format!("Full output saved to: {}", path.display()),
        None => "The rest could not be saved".to_owned(),
    };
    Shown {
        text: format!(
            "<persisted-output>\nOutput too large ({}). {place}\n\nThe first part:\n{preview}\n…\n</persisted-output>",
            human(size)
        ),
        structured: first(text, LARGEST_INLINE).to_owned(),
        kept: kept.map(|path| Kept { path, size }),
    }
}

fn keep(output: &[u8], workspace: &Workspace) -> Option<PathBuf> {
    let folder = workspace.output_dir();
    std::fs::create_dir_all(folder).ok()?;
    let mut file = tempfile::Builder::new().prefix("b").suffix(".txt").tempfile_in(folder).ok()?;
    std::io::Write::write_all(&mut file, output).ok()?;
    file.keep().ok().map(|(_, path)| path)
}

fn first(text: &str, characters: usize) -> &str {
    let end = text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

fn human(bytes: usize) -> String {
    match bytes {
        0..1_024 => format!("{bytes}B"),
        1_024..1_048_576 => format!("{:.1}KB", bytes as f64 / 1024.0),
        _ => format!("{:.1}MB", bytes as f64 / 1_048_576.0),
    }
}
