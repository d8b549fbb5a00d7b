//! Paths as text: made absolute and clean without asking the disk, and compared with the working directories.

use std::fmt;

/// What only the disk knows. The engine itself reads nothing: a caller that can look answers these, one that
/// cannot leaves the defaults, and decisions are then made on the text alone.
pub trait Files: fmt::Debug + Send + Sync {
    /// Whether the path is a directory, if known.
    fn is_dir(&self, _path: &str) -> Option<bool> {
        None
    }

    /// Whether there is anything by that name, also a link that leads nowhere.
    fn is_there(&self, path: &str) -> bool {
        self.is_dir(path).is_some()
    }

    /// The path with symbolic links followed, if it differs or is known.
    fn resolve(&self, _path: &str) -> Option<String> {
        None
    }

    /// What a directory holds, if that can be looked up; [`Listing::Unreadable`] if it is more than `most` entries.
    fn list(&self, _directory: &str, _most: usize) -> Option<Listing> {
        None
    }
}

/// What a directory holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listing {
    /// All of its entries.
    Entries(Vec<DirectoryEntry>),
    /// There is no such directory.
    Absent,
    /// It may not be read, or holds more than was asked for.
    Unreadable,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Its name.
    pub name: String,
    /// What it is, links not followed.
    pub kind: EntryKind,
}

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// Anything else.
    Other,
}

/// Knows nothing about the disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {}

/// Makes a path absolute and removes `.`, `..` and doubled slashes, by text alone.
#[must_use]
pub(crate) fn absolute(path: &str, cwd: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let base = if path.starts_with('/') { "" } else { cwd };
    for segment in base.split('/').chain(path.split('/')) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    let mut clean = String::with_capacity(base.len() + path.len() + 1);
    for segment in segments {
        clean.push('/');
        clean.push_str(segment);
    }
    if clean.is_empty() {
        clean.push('/');
    }
    clean
}

/// Replaces a leading `~` by the home directory; `~name` is somebody else's and cannot be known.
#[must_use]
pub(crate) fn expand_tilde(path: &str, home: &str) -> Option<String> {
    match path.strip_prefix('~') {
        None => Some(path.to_owned()),
        Some("") => Some(home.to_owned()),
        Some(rest) if rest.starts_with('/') => Some(format!("{home}{rest}")),
        Some(_) => None,
    }
}

/// Whether a clean absolute path is the directory or lies below it.
#[must_use]
pub(crate) fn is_within(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    match path.strip_prefix(directory) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

/// Whether a word is a path that goes by `.`, `..` or a doubled slash, or that a pattern may lead up: `scripts/.*/x`.
#[must_use]
pub(crate) fn is_indirect(text: &str) -> bool {
    text.contains('/') && text.split('/').skip(1).any(|part| part.is_empty() || is_dots(part))
        || text.starts_with("./")
}

/// Whether a path leads up again from a directory that it names.
#[must_use]
pub(crate) fn climbs(text: &str) -> bool {
    text.split('/')
        .skip_while(|part| matches!(*part, "" | "." | ".."))
        .any(|part| part != "." && is_dots(part))
}

fn is_dots(part: &str) -> bool {
    part.strip_prefix('.')
        .is_some_and(|rest| rest.is_empty() || rest == "." || rest.starts_with(['*', '?', '[']))
}

/// A path without `.`, `..` and doubled slashes, as far as the text tells; relative ones stay relative.
#[must_use]
pub(crate) fn direct(text: &str) -> String {
    if !is_indirect(text) || text.contains("://") {
        return text.to_owned();
    }
    let mut segments: Vec<&str> = Vec::new();
    for segment in text.split('/') {
        match segment {
            "" | "." => {}
            up if is_dots(up) && segments.last().is_some_and(|last| *last != "..") => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    let root = if text.starts_with('/') { "/" } else { "" };
    format!("{root}{}", segments.join("/"))
}

/// The directory up to the first segment with a glob in it.
#[must_use]
pub(crate) fn before_glob(path: &str) -> String {
    let fixed: Vec<&str> = path.split('/').take_while(|part| !part.contains(['*', '?', '['])).collect();
    let directory = fixed.join("/");
    if directory.is_empty() { "/".to_owned() } else { directory }
}

/// The directory that holds a clean absolute path.
#[must_use]
pub(crate) fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((parent, _)) => parent,
    }
}

/// The last part of a path.
#[must_use]
pub(crate) fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}
