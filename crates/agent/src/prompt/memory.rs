//! Memory files: what users and projects want every session to know.

use std::path::{Path, PathBuf};

use crate::session::Session;
use crate::small_file;

/// A memory file larger than this is cut: it would fill the context of every request.
const LARGEST: usize = 40_000;

/// The memory files as a reminder for the first prompt; none when there is nothing to say.
pub(crate) fn reminder(session: &Session) -> Option<String> {
    if !session.launch().is_customised() {
        return None;
    }
    let parts: Vec<String> = files(session)
        .iter()
        .filter_map(|path| {
            // A character has at most four bytes; one more shows that something was left out.
            let bytes = small_file::read(path, 4 * (LARGEST + 1)).ok()?;
            let text = String::from_utf8_lossy(&bytes);
            (!text.trim().is_empty()).then(|| format!("From {}:\n\n{}", path.display(), cut(&text)))
        })
        .collect();
    if parts.is_empty() {
        return None;
    }
    Some(format!(
        "<system-reminder>\nThe user and the project keep notes for you. Follow them as far as they concern the task.\n\n{}\n</system-reminder>",
        parts.join("\n\n")
    ))
}

/// The memory files that a session reads.
pub(crate) fn memory_files(session: &Session) -> Vec<PathBuf> {
    if !session.launch().is_customised() {
        return Vec::new();
    }
    files(session).into_iter().filter(|path| path.is_file()).collect()
}

/// Where memory files may lie, the most general first.
fn files(session: &Session) -> Vec<PathBuf> {
    let launch = session.launch();
    let locations = launch.locations();
    let mut files = Vec::new();
    if launch.sources.user {
        files.push(locations.config.join("CLAUDE.md"));
    }
    if launch.sources.project {
        let mut above: Vec<&Path> = launch.cwd.ancestors().collect();
        above.reverse();
        for directory in above {
            files.push(directory.join("CLAUDE.md"));
            files.push(directory.join(".claude/CLAUDE.md"));
        }
    }
    if launch.sources.local {
        files.push(launch.cwd.join("CLAUDE.local.md"));
    }
    files.dedup();
    files
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LARGEST) {
        None => text.to_owned(),
        Some((at, _)) => {
            format!("{}\n(the rest is left out: the file is too large)", text.get(..at).unwrap_or_default())
        }
    }
}
