//! What a call would change in a file, as a unified diff against the file on disk.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};

use super::detail::{Row, RowKind, field};
use super::notebook;

/// A larger file is not compared; the change is shown by itself.
const LARGEST_FILE: u64 = 4 * 1024 * 1024;
/// A diff that takes longer is finished coarsely.
const PATIENCE: Duration = Duration::from_millis(500);
/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// The file that a call changes, and how; `None` for calls that change no file, and for those that cannot be understood.
pub(super) fn of(tool: &str, input: &Map<String, Value>, cwd: &Path) -> Option<(String, Vec<Row>)> {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let known: &[&str] = match tool {
        "Write" => &["file_path", "content"],
        "Edit" => &["file_path", "old_string", "new_string", "replace_all"],
        "MultiEdit" => &["file_path", "edits"],
        "NotebookEdit" => {
            &["notebook_path", "new_source", "cell_id", "cell_number", "cell_type", "edit_mode"]
        }
        _ => return None,
    };
    let path = text("file_path").or_else(|| text("notebook_path"))?;
    let file = OnDisk::read(&cwd.join(path));
    let mut rows = file.notes(cwd);
    rows.extend(match tool {
        "Write" => file.against(text("content")?),
        "NotebookEdit" => notebook::change(&file, input)?,
        "Edit" => file.edited(&[Replacement::of(input)?]),
        _ => {
            let edits = input.get("edits")?.as_array()?;
            let edits: Option<Vec<_>> = edits.iter().map(|edit| Replacement::of(edit.as_object()?)).collect();
            file.edited(&edits?)
        }
    });
    let unknown = input.iter().filter(|(name, _)| !known.contains(&name.as_str()));
    rows.extend(unknown.flat_map(|(name, value)| field(name, value)));
    Some((path.to_owned(), rows))
}

/// A text that takes the place of another.
struct Replacement<'a> {
    old: &'a str,
    new: &'a str,
    all: bool,
}

impl<'a> Replacement<'a> {
    fn of(input: &'a Map<String, Value>) -> Option<Self> {
        Some(Self {
            old: input.get("old_string")?.as_str()?,
            new: input.get("new_string")?.as_str()?,
            all: input.get("replace_all").and_then(Value::as_bool).unwrap_or(false),
        })
    }

    /// The text after the replacement; `None` if the old text is not in it.
    fn apply(&self, text: &str) -> Option<String> {
        if self.old.is_empty() {
            return text.is_empty().then(|| self.new.to_owned());
        }
        text.contains(self.old).then(|| {
            if self.all { text.replace(self.old, self.new) } else { text.replacen(self.old, self.new, 1) }
        })
    }
}

/// A file as it is now.
pub(super) struct OnDisk {
    path: PathBuf,
    pub(super) state: State,
}

pub(super) enum State {
    Text(String),
    Absent,
    /// Not a text that can be compared; the reason.
    Opaque(String),
}

impl OnDisk {
    fn read(path: &Path) -> Self {
        let state = match read_text(path) {
            Ok(Some(text)) => State::Text(text),
            Ok(None) => State::Absent,
            Err(reason) => State::Opaque(reason),
        };
        Self { path: path.to_owned(), state }
    }

    /// What the path alone does not tell: that the file is new, cannot be compared, or lies elsewhere.
    fn notes(&self, cwd: &Path) -> Vec<Row> {
        let mut notes = Vec::new();
        match &self.state {
            State::Text(_) => {}
            State::Absent => notes.push("a new file".to_owned()),
            State::Opaque(reason) => notes.push(format!("the file cannot be compared: {reason}")),
        }
        if let Some(target) = elsewhere(&self.path, cwd) {
            notes.push(format!("the path is a link: the file is {}", target.display()));
        }
        notes.into_iter().map(|note| Row::new(RowKind::Note, note)).collect()
    }

    fn against(&self, new: &str) -> Vec<Row> {
        match &self.state {
            State::Text(old) if old == new => vec![Row::new(RowKind::Note, "no change")],
            State::Text(old) => diff(old, new),
            State::Absent | State::Opaque(_) if new.is_empty() => vec![Row::new(RowKind::Note, "empty")],
            State::Absent | State::Opaque(_) => diff("", new),
        }
    }

    fn edited(&self, edits: &[Replacement<'_>]) -> Vec<Row> {
        let now = match &self.state {
            State::Text(text) => text.as_str(),
            State::Absent => "",
            State::Opaque(_) => return each(edits),
        };
        let after = edits.iter().try_fold(now.to_owned(), |text, edit| edit.apply(&text));
        match after {
            Some(after) => self.against(&after),
            None => {
                let note = "the text to replace is not in the file as it is now; the call is likely to fail";
                let mut rows = vec![Row::new(RowKind::Note, note)];
                rows.extend(each(edits));
                rows
            }
        }
    }
}

/// The replacements by themselves.
fn each(edits: &[Replacement<'_>]) -> Vec<Row> {
    edits.iter().flat_map(|edit| diff(edit.old, edit.new)).collect()
}

/// A unified diff.
pub(super) fn diff(old: &str, new: &str) -> Vec<Row> {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let mut rows = Vec::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        rows.push(Row::new(RowKind::Place, hunk.header().to_string()));
        for change in hunk.iter_changes() {
            let kind = match change.tag() {
                ChangeTag::Delete => RowKind::Removed,
                ChangeTag::Insert => RowKind::Added,
                ChangeTag::Equal => RowKind::Context,
            };
            let text = change.value();
            rows.push(Row::new(kind, text.strip_suffix('\n').unwrap_or(text)));
            if change.missing_newline() {
                rows.push(Row::new(RowKind::Note, "\\ no newline at the end"));
            }
        }
    }
    rows
}

/// The text of a file; `None` if there is none. Only regular files are opened: a pipe would block.
fn read_text(path: &Path) -> Result<Option<String>, String> {
    let about = match std::fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if !about.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if about.len() > LARGEST_FILE {
        return Err(format!("it has {} bytes", about.len()));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(LARGEST_FILE).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// Where a file really is, if a link leads there from another place: by its name, or out of the working directory.
fn elsewhere(path: &Path, cwd: &Path) -> Option<PathBuf> {
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|about| about.is_symlink());
    // A new file has no target yet, but its directory has.
    let target = std::fs::canonicalize(path).ok().or_else(|| {
        let parent = std::fs::canonicalize(path.parent()?).ok()?;
        Some(parent.join(path.file_name()?))
    })?;
    let leads_out = path.starts_with(cwd) && !target.starts_with(std::fs::canonicalize(cwd).ok()?);
    (is_link || leads_out).then_some(target)
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
