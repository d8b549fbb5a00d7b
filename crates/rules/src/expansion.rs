//! Looking at the disk for what a word leads to: the files that a pattern names, and the links below a directory. This is
//! bounded by [`crate::looks::Looks`]; a command that would need more is asked about.

use std::collections::HashSet;

use crate::{
    glob::Glob,
    paths::{self, EntryKind, Files, Listing},
};

/// Directories that a walk descends into below each other.
const DEEPEST: usize = 64;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nobody can look, so the text is all there is.
    Unknown,
    /// These paths.
    Paths(Vec<String>),
    /// There is too much of it, or it cannot be read.
    TooMuch,
}

/// How classes such as `[a-z]` are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Classes {
    /// As they are written.
    Exact,
    /// As any text where the shell's locale decides what is in them.
    Open,
}

/// Whether text has what the shell takes for a pattern of names.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The existing paths that a word with patterns in it names in a directory. The directory's own name is no pattern.
pub(crate) fn expand(text: &str, directory: &str, classes: Classes, files: &dyn Files) -> Found {
    let path = paths::absolute(text, directory);
    let literal = match text.starts_with('/') {
        true => 0,
        false => path.split('/').zip(directory.split('/')).take_while(|(a, b)| a == b).count(),
    };
    let mut found = vec![String::new()];
    let mut looked = false;
    for (at, segment) in path.split('/').enumerate().filter(|(_, segment)| !segment.is_empty()) {
        let Some(glob) = segment_glob(segment, classes).filter(|_| at >= literal) else {
            for path in &mut found {
                path.push('/');
                path.push_str(segment);
            }
            continue;
        };
        looked = true;
        let mut matched = Vec::new();
        for directory in found {
            let root = if directory.is_empty() { "/" } else { directory.as_str() };
            let entries = match files.list(root, usize::MAX) {
                None => return Found::Unknown,
                Some(Listing::Unreadable) => return Found::TooMuch,
                Some(Listing::Absent) => continue,
                Some(Listing::Entries(entries)) => entries,
            };
            matched.extend(
                entries
                    .iter()
                    .filter(|entry| glob.matches_file(&entry.name))
                    .map(|entry| format!("{directory}/{}", entry.name)),
            );
            // Shells before bash 5.2 take `.*` for `..` as well.
            if glob.matches_file("..") {
                matched.push(paths::parent(root).to_owned());
            }
        }
        found = matched;
    }
    if !looked {
        return Found::Unknown;
    }
    // What was listed is there; what goes on after a pattern may not be.
    if path.rsplit('/').next().is_none_or(|last| segment_glob(last, classes).is_none()) {
        found.retain(|path| files.is_there(path));
    }
    Found::Paths(found)
}

fn segment_glob(segment: &str, classes: Classes) -> Option<Glob> {
    if classes == Classes::Exact || !segment.contains('[') {
        return Glob::parse(segment);
    }
    let mut open = String::new();
    let mut rest = segment;
    while let Some((before, after)) = rest.split_once('[') {
        open.push_str(before);
        // A list of letters means these; a range, a negation or a named class depends on the locale.
        match after.split_once(']') {
            Some((letters, after))
                if letters.bytes().all(|b| b.is_ascii_alphanumeric()) && !letters.is_empty() =>
            {
                open.push_str(&format!("[{letters}]"));
                rest = after;
            }
            _ => return Glob::parse(&format!("{open}*")),
        }
    }
    open.push_str(rest);
    Glob::parse(&open)
}

/// The links below a directory, and below the directories that they lead to as long as those are `inside`.
pub(crate) fn links_below(start: &str, inside: &dyn Fn(&str) -> bool, files: &dyn Files) -> Found {
    let mut seen: HashSet<String> = HashSet::new();
    let mut links = Vec::new();
    let mut open = vec![(start.to_owned(), 0)];
    while let Some((directory, depth)) = open.pop() {
        if depth > DEEPEST {
            return Found::TooMuch;
        }
        if !seen.insert(directory.clone()) {
            continue;
        }
        let entries = match files.list(&directory, usize::MAX) {
            None => return Found::Unknown,
            Some(Listing::Unreadable) => return Found::TooMuch,
            Some(Listing::Absent) => continue,
            Some(Listing::Entries(entries)) => entries,
        };
        for entry in entries {
            let path = format!("{}/{}", directory.trim_end_matches('/'), entry.name);
            match entry.kind {
                EntryKind::Directory => open.push((path, depth + 1)),
                EntryKind::Link => {
                    let target = files.resolve(&path).filter(|target| inside(target));
                    open.extend(target.filter(|_| files.is_dir(&path) == Some(true)).map(|t| (t, depth + 1)));
                    links.push(path);
                }
                EntryKind::Other => {}
            }
        }
    }
    Found::Paths(links)
}

/// Everything below a directory, links not followed; without the names that start with a dot if it `skips_dots`.
pub(crate) fn all_below(start: &str, skips_dots: bool, files: &dyn Files) -> Found {
    let mut found = Vec::new();
    let mut open = vec![(start.to_owned(), 0)];
    while let Some((directory, depth)) = open.pop() {
        let entries = match files.list(&directory, usize::MAX) {
            None => return Found::Unknown,
            Some(Listing::Unreadable) => return Found::TooMuch,
            Some(_) if depth > DEEPEST => return Found::TooMuch,
            Some(Listing::Absent) => continue,
            Some(Listing::Entries(entries)) => entries,
        };
        for entry in entries.into_iter().filter(|entry| !(skips_dots && entry.name.starts_with('.'))) {
            let path = format!("{}/{}", directory.trim_end_matches('/'), entry.name);
            if entry.kind == EntryKind::Directory {
                open.push((path.clone(), depth + 1));
            }
            found.push(path);
        }
    }
    found.push(start.to_owned());
    Found::Paths(found)
}

/// Whether a path is a directory, or may become one. Where nobody can look, a name with an ending is taken for a file's.
pub(crate) fn may_be_directory(path: &str, files: &dyn Files) -> bool {
    files.is_dir(path).unwrap_or_else(|| {
        let can_look = files.resolve("/").is_some();
        can_look || !paths::base_name(path).trim_start_matches('.').contains('.')
    })
}
