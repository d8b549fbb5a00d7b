//! Memory files: what users and projects want every session to know.

use std::path::{Path, PathBuf};

use crate::session::Session;
use crate::small_file;

/// A memory file larger than this is cut: it would fill the context of every request.
const LARGEST: usize = 40_000;

/// The memory files as a reminder for the first prompt; none when there is nothing to say.
pub(crate) fn reminder(session: &Session) -> Option<String> {
    notes(&memory(session)).map(|notes| format!("<system-reminder>\n{notes}\n</system-reminder>"))
}

/// What a repository inside of the project wants the model to know; none when there is nothing to say.
pub(crate) fn notes_of_repository(session: &Session, folder: &Path) -> Option<String> {
    let launch = session.launch();
    let counts = launch.is_customised() && launch.sources.project;
    counts.then(|| notes(&read_all(in_folder(folder)))).flatten()
}

fn notes(files: &[(PathBuf, String)]) -> Option<String> {
    let part = |(path, text): &(PathBuf, String)| format!("From {}:\n\n{text}", path.display());
    let parts: Vec<String> = files.iter().map(part).collect();
    (!parts.is_empty()).then(|| {
        format!(
            "The user and the project keep notes for you. Follow them as far as they concern the task.\n\n{}",
            parts.join("\n\n")
        )
    })
}

/// The memory files that say something, and what the model is told of them.
pub(crate) fn memory(session: &Session) -> Vec<(PathBuf, String)> {
    if session.launch().is_customised() { read_all(files(session)) } else { Vec::new() }
}

fn read_all(files: Vec<PathBuf>) -> Vec<(PathBuf, String)> {
    let read = |path: PathBuf| {
        // A character has at most four bytes; one more shows that something was left out.
        let bytes = small_file::read(&path, 4 * (LARGEST + 1)).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        (!text.trim().is_empty()).then(|| (path, cut(&text)))
    };
    files.into_iter().filter_map(read).collect()
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
            files.extend(in_folder(directory));
        }
    }
    if launch.sources.local {
        files.push(launch.cwd.join("CLAUDE.local.md"));
    }
    files.dedup();
    files
}

fn in_folder(folder: &Path) -> Vec<PathBuf> {
    vec![folder.join("CLAUDE.md"), folder.join(".claude/CLAUDE.md")]
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LARGEST) {
        None => text.to_owned(),
        Some((at, _)) => {
            format!("{}\n(the rest is left out: the file is too large)", text.get(..at).unwrap_or_default())
        }
    }
}
