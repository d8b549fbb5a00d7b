//! What a tool call is about: the command, the change, the plan.

use serde::Deserialize;
use serde_json::Value;

use super::diff;
use super::highlight::{self, Language};
use super::markdown::{self, Breaks};
use crate::api::{Diff, Json, Preview};

/// Longer inputs are shown in part; all of them is in the event.
const LONGEST_INPUT: usize = 64 * 1024;

/// What an approval is about. `read` gives the text of a file of the project, as far as it may be read.
pub(crate) fn of_request(tool: &str, input: &Json, read: impl Fn(&str) -> Option<String>) -> Option<Preview> {
    let Ok(value) = serde_json::from_str::<Value>(input.get()) else { return Some(json(input.get())) };
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    match tool {
        "AskUserQuestion" => return None,
        "Bash" => {
            if let Some(command) = text("command") {
                return Some(Preview::Command { html: highlight::block(command, Language::named("bash")) });
            }
        }
        "ExitPlanMode" => {
            if let Some(plan) = text("plan") {
                return Some(Preview::Plan { html: markdown::html(plan, Breaks::Joined) });
            }
        }
        _ => {
            if let Some(diff) = of_input(tool, &value, read) {
                return Some(Preview::Diff { path: diff.path.clone(), diff });
            }
        }
    }
    Some(json(&serde_json::to_string_pretty(&value).unwrap_or_default()))
}

/// What a tool call has changed: as the CLI describes it, or else as its input asks for.
pub(crate) fn of_result(tool: &str, input: Option<&Json>, details: Option<&Json>) -> Option<Diff> {
    if !is_edit(tool) {
        return None;
    }
    let described = details.and_then(|details| serde_json::from_str::<Described>(details.get()).ok());
    if let Some(diff) = described.and_then(Described::diff) {
        return Some(diff);
    }
    let input: Value = serde_json::from_str(input?.get()).ok()?;
    of_input(tool, &input, |_| None)
}

/// Whether a tool changes a file in a way that can be shown.
pub(crate) fn is_edit(tool: &str) -> bool {
    matches!(tool, "Edit" | "MultiEdit" | "Write" | "NotebookEdit")
}

/// What the CLI says of an edit for programs, as far as it is needed.
#[derive(Deserialize)]
struct Described {
    #[serde(alias = "filePath", alias = "notebook_path")]
    path: String,
    #[serde(default, rename = "structuredPatch")]
    patch: Vec<Place>,
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    content: Option<String>,
    #[serde(default, alias = "original_file", alias = "originalFile")]
    before: Option<String>,
    #[serde(default, alias = "updated_file")]
    after: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    old_start: u64,
    new_start: u64,
    #[serde(default)]
    lines: Vec<String>,
}

impl Described {
    fn diff(self) -> Option<Diff> {
        if !self.patch.is_empty() {
            let places =
                self.patch.iter().map(|place| (place.old_start, place.new_start, place.lines.as_slice()));
            return Some(diff::of_patch(&self.path, places));
        }
        if let Some(after) = &self.after {
            return Some(diff::of_texts(&self.path, self.before.as_deref().unwrap_or_default(), after));
        }
        // A file that was written as it was has no patch, and is compared with what it was.
        let is_new = self.kind.as_deref() == Some("create");
        let before = if is_new { Some(String::new()) } else { self.before };
        Some(diff::of_texts(&self.path, &before?, &self.content?))
    }
}

/// The change that an input asks for.
fn of_input(tool: &str, input: &Value, read: impl Fn(&str) -> Option<String>) -> Option<Diff> {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    if tool == "NotebookEdit" {
        let path = text("notebook_path")?;
        let is_new = text("edit_mode") == Some("insert");
        let cell = text("cell_id").filter(|_| !is_new);
        let old = cell.and_then(|cell| source_of_cell(&read(path)?, cell)).unwrap_or_default();
        let new = text("new_source").filter(|_| text("edit_mode") != Some("delete"));
        return Some(diff::of_texts(path, &old, new.unwrap_or_default()));
    }
    if !is_edit(tool) {
        return None;
    }
    let path = text("file_path")?;
    if tool == "Write" {
        return Some(diff::of_texts(path, &read(path).unwrap_or_default(), text("content")?));
    }
    let several = input.get("edits").and_then(Value::as_array);
    let edits: Vec<&Value> = several.map_or_else(|| vec![input], |edits| edits.iter().collect());
    // In the whole file a change has its line numbers; without it, only its words are known.
    let current = read(path);
    let changed = current.as_deref().and_then(|current| edits.iter().try_fold(current.to_owned(), replaced));
    if let (Some(current), Some(changed)) = (current, changed) {
        return Some(diff::of_texts(path, &current, &changed));
    }
    let joined = |name: &str| -> String {
        let texts = edits.iter().filter_map(|edit| edit.get(name).and_then(Value::as_str));
        texts.collect::<Vec<_>>().join("\n")
    };
    Some(diff::of_texts(path, &joined("old_string"), &joined("new_string")))
}

/// What a cell of a notebook says now.
fn source_of_cell(notebook: &str, id: &str) -> Option<String> {
    let notebook: Value = serde_json::from_str(notebook).ok()?;
    let mut cells = notebook.get("cells")?.as_array()?.iter();
    let source = cells.find(|cell| cell.get("id").and_then(Value::as_str) == Some(id))?.get("source")?;
    match source {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => Some(lines.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

/// A text after one edit; nothing when the edit does not fit it.
fn replaced(text: String, edit: &&Value) -> Option<String> {
    let old = edit.get("old_string").and_then(Value::as_str).filter(|old| !old.is_empty())?;
    let new = edit.get("new_string").and_then(Value::as_str)?;
    if !text.contains(old) {
        return None;
    }
    let all = edit.get("replace_all").and_then(Value::as_bool) == Some(true);
    Some(if all { text.replace(old, new) } else { text.replacen(old, new, 1) })
}

fn json(text: &str) -> Preview {
    let end = text.floor_char_boundary(LONGEST_INPUT);
    let shown = text.get(..end).unwrap_or_default();
    let cut = end < text.len();
    let rest = if cut { "\n…" } else { "" };
    Preview::Json { html: highlight::block(&format!("{shown}{rest}"), Language::named("json")), cut }
}

#[cfg(test)]
#[path = "preview_tests.rs"]
mod tests;
