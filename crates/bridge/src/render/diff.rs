//! Changes of files, line by line.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use super::highlight::{self, Language};
use crate::api::{Diff, DiffLine, Hunk, LineKind};

/// How many lines of a change are shown.
const MOST_LINES: usize = 2000;

/// How much of a line is shown, in characters.
const LONGEST_LINE: usize = 2000;

/// Longer texts are not compared: all of the old goes, all of the new comes.
const LONGEST_COMPARED: usize = 512 * 1024;

/// How long comparing may take; what is found then is right, but not the shortest.
const PATIENCE: Duration = Duration::from_millis(100);

/// How many lines are shown around what changes.
const AROUND: usize = 3;

/// A line of a change, before it is made for a page.
type Line<'a> = (LineKind, &'a str);

/// What turns one text into another.
pub(super) fn of_texts(path: &str, old: &str, new: &str) -> Diff {
    let mut diff = Builder::new(path);
    if old.len() + new.len() > LONGEST_COMPARED {
        let removed = old.lines().map(|line| (LineKind::Removed, line));
        let added = new.lines().map(|line| (LineKind::Added, line));
        diff.hunk(1, 1, removed.chain(added));
        return diff.done();
    }
    let compared = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    for group in compared.grouped_ops(AROUND) {
        let Some(first) = group.first() else { continue };
        let (old_start, new_start) = (first.old_range().start as u64 + 1, first.new_range().start as u64 + 1);
        let changes = group.iter().flat_map(|op| compared.iter_changes(op));
        let lines = changes.map(|change| {
            let kind = match change.tag() {
                ChangeTag::Equal => LineKind::Same,
                ChangeTag::Insert => LineKind::Added,
                ChangeTag::Delete => LineKind::Removed,
            };
            (kind, change.value())
        });
        diff.hunk(old_start, new_start, lines);
    }
    diff.done()
}

/// A change as the CLI describes it: for each place its first line before and after, and its lines with their marks.
pub(super) fn of_patch<'a>(path: &str, places: impl IntoIterator<Item = (u64, u64, &'a [String])>) -> Diff {
    let mut diff = Builder::new(path);
    for (old_start, new_start, lines) in places {
        let marked = lines.iter().filter_map(|line| {
            let mut chars = line.chars();
            let kind = match chars.next() {
                Some('+') => LineKind::Added,
                Some('-') => LineKind::Removed,
                // "No newline at end of file" is not a line.
                Some('\\') => return None,
                _ => LineKind::Same,
            };
            Some((kind, chars.as_str()))
        });
        diff.hunk(old_start, new_start, marked);
    }
    diff.done()
}

struct Builder {
    diff: Diff,
    language: Option<&'static Language>,
    shown: usize,
}

impl Builder {
    fn new(path: &str) -> Self {
        let diff = Diff { path: path.to_owned(), ..Diff::default() };
        Self { diff, language: Language::of_file(path), shown: 0 }
    }

    fn hunk<'a>(&mut self, old_start: u64, new_start: u64, lines: impl Iterator<Item = Line<'a>>) {
        let mut hunk = Hunk { old_start, new_start, lines: Vec::new() };
        for (kind, line) in lines {
            match kind {
                LineKind::Added => self.diff.added += 1,
                LineKind::Removed => self.diff.removed += 1,
                LineKind::Same => {}
            }
            if self.shown == MOST_LINES {
                self.diff.cut = true;
                continue;
            }
            self.shown += 1;
            let html = self.line(line);
            hunk.lines.push(DiffLine { kind, html });
        }
        if !hunk.lines.is_empty() {
            self.diff.hunks.push(hunk);
        }
    }

    fn line(&mut self, line: &str) -> String {
        let line = line.trim_end_matches(['\n', '\r']);
        match line.char_indices().nth(LONGEST_LINE) {
            None => highlight::html(line, self.language),
            Some((end, _)) => {
                self.diff.cut = true;
                highlight::html(line.get(..end).unwrap_or_default(), self.language) + "…"
            }
        }
    }

    fn done(self) -> Diff {
        self.diff
    }
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
