//! Jupyter notebooks, changed a cell at a time.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::bounded_json;
use crate::places::Place;
use crate::schema::{path_argument, schema_of};
use crate::seen::{Extent, Sight};
use crate::text_file::{self, TextFile};
use crate::tool::{Input, Outcome, Running, Spec, Tool, Touch};
use crate::workspace::Workspace;

/// Older notebooks give their cells no ids; they are then known by their place.
pub(crate) fn cell_id(at: usize, cell: &Value) -> String {
    cell.get("id").and_then(Value::as_str).map_or_else(|| format!("cell-{at}"), str::to_owned)
}

/// Notebooks store text as a string or as a list of lines.
pub(crate) fn joined(source: Option<&Value>) -> String {
    match source {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// What its code is written in.
pub(crate) fn language(notebook: &Value) -> &str {
    notebook.pointer("/metadata/language_info/name").and_then(Value::as_str).unwrap_or("python")
}

/// Replaces, inserts or deletes a cell of a notebook.
#[derive(Debug)]
pub struct NotebookEdit;

impl Tool for NotebookEdit {
    fn spec(&self) -> Spec {
        Spec {
            name: "NotebookEdit",
            description: "Changes one cell of a Jupyter notebook: replaces its source, inserts a cell after it \
                          (at the beginning without cell_id), or deletes it. Read the notebook first.",
            input_schema: schema_of::<pilothouse_proto::tool::NotebookEditInput>(),
        }
    }

    fn touches(&self, input: &Input, workspace: &Workspace) -> Vec<Touch> {
        path_argument(input, "notebook_path", workspace).map(Touch::Write).into_iter().collect()
    }

    fn refuses(&self, input: &Input, workspace: &Workspace) -> Option<String> {
        Planned::of(input.clone(), workspace).err().and_then(Outcome::complaint)
    }

    fn run<'a>(&'a self, input: Input, workspace: &'a Workspace, _stop: CancellationToken) -> Running<'a> {
        Box::pin(async move { edit(input, workspace).unwrap_or_else(|refused| refused) })
    }
}

/// A change of a notebook that can be made.
struct Planned {
    path: PathBuf,
    place: Place,
    file: TextFile,
    notebook: Value,
    done: Changed,
    source: String,
    mode: String,
}

impl Planned {
    /// Looks whether the change can be made, without making it.
    fn of(input: Input, workspace: &Workspace) -> Result<Self, Outcome> {
        let mut args = Args::new("NotebookEdit", input);
        let path = args.text("notebook_path");
        let source = args.maybe_text("new_source").unwrap_or_default();
        let id = args.maybe_text("cell_id");
        let kind = args.maybe_text("cell_type");
        let mode = args.maybe_text("edit_mode").unwrap_or_else(|| "replace".to_owned());
        if !matches!(mode.as_str(), "replace" | "insert" | "delete") {
            args.problem("the parameter `edit_mode` must be replace, insert or delete");
        }
        if id.is_none() && mode != "insert" {
            args.problem(format!("the parameter `cell_id` is missing: it says which cell to {mode}"));
        }
        if kind.as_deref().is_some_and(|kind| !matches!(kind, "code" | "markdown")) {
            args.problem("the parameter `cell_type` must be code or markdown");
        }
        if mode == "insert" && kind.is_none() {
            args.problem("the parameter `cell_type` is missing: it says which kind of cell to insert");
        }
        args.check()?;
        let path = workspace.resolve(&path);
        if path.extension().is_none_or(|extension| extension != "ipynb") {
            return Err(Outcome::misuse("this is no notebook: use Edit for other files"));
        }
        if !path.exists() {
            return Err(Outcome::misuse(format!("{} does not exist", path.display())));
        }
        let place = workspace.place(&path);
        let file = text_file::read(&place).and_then(|file| file.changeable(&place));
        let file = file.map_err(|e| Outcome::failed(e.to_string()))?;
        match workspace.seen().sight(&path, Some(&file.text)) {
            Sight::Current(_) => {}
            Sight::Never => {
                return Err(Outcome::misuse("the notebook was not read yet: read it before changing it"));
            }
            Sight::Stale => {
                return Err(Outcome::misuse("the notebook was changed since it was read: read it again"));
            }
        }
        let mut notebook = bounded_json::parse(&file.text)
            .map_err(|e| Outcome::failed(format!("{} is not a valid notebook: {e}", path.display())))?;
        let change = Change { id: id.as_deref(), kind: kind.as_deref(), source: &source, mode: &mode };
        let done = change.apply(&mut notebook).map_err(Outcome::misuse)?;
        Ok(Self { path, place, file, notebook, done, source, mode })
    }
}

fn edit(input: Input, workspace: &Workspace) -> Result<Outcome, Outcome> {
    let Planned { path, place, file, notebook, done, source, mode } = Planned::of(input, workspace)?;
    let updated = pretty(&notebook, file.text.ends_with('\n'));
    workspace.announce_change(&path);
    text_file::replace(&place, &updated, file.form)
        .map_err(|e| Outcome::failed(format!("cannot write {}: {e}", path.display())))?;
    workspace.seen().note(&path, &updated, Extent::Whole);
    let language = language(&notebook);
    Ok(Outcome::text(
        format!("Cell {}: {mode} done.", done.id),
        json!({
            "new_source": source, "old_source": done.old_source, "cell_id": done.id, "cell_type": done.kind,
            "language": language, "edit_mode": mode, "error": "", "notebook_path": path,
            "original_file": file.text, "updated_file": updated,
        }),
    ))
}

struct Change<'a> {
    id: Option<&'a str>,
    kind: Option<&'a str>,
    source: &'a str,
    mode: &'a str,
}

struct Changed {
    id: String,
    kind: String,
    old_source: Option<String>,
}

impl Change<'_> {
    fn apply(&self, notebook: &mut Value) -> Result<Changed, String> {
        let has_ids = notebook.get("nbformat_minor").and_then(Value::as_u64).unwrap_or(0) >= 5;
        let cells = notebook
            .get_mut("cells")
            .and_then(Value::as_array_mut)
            .ok_or_else(|| "the notebook has no list of cells".to_owned())?;
        let at = match self.id {
            None => None,
            Some(id) => Some(
                cells
                    .iter()
                    .enumerate()
                    .position(|(at, cell)| cell_id(at, cell) == id)
                    .or_else(|| id.strip_prefix("cell-")?.parse().ok().filter(|at| *at < cells.len()))
                    .ok_or_else(|| format!("there is no cell with the id {id}"))?,
            ),
        };
        if self.mode == "insert" {
            let at = at.map_or(0, |at| at + 1);
            let kind = self.kind.unwrap_or("code").to_owned();
            let mut cell = json!({ "cell_type": kind, "metadata": {}, "source": self.source });
            if let Some(cell) = cell.as_object_mut() {
                if has_ids {
                    cell.insert("id".to_owned(), fresh_id(cells).into());
                }
                if kind == "code" {
                    clear_run(cell);
                }
            }
            let id = cell_id(at, &cell);
            cells.insert(at, cell);
            return Ok(Changed { id, kind, old_source: None });
        }
        let at = at.ok_or_else(|| "the parameter `cell_id` is missing".to_owned())?;
        let cell = cells.get_mut(at).ok_or_else(|| "there is no such cell".to_owned())?;
        let id = cell_id(at, cell);
        let old_source = Some(joined(cell.get("source")));
        let kind = cell.get("cell_type").and_then(Value::as_str).unwrap_or("code").to_owned();
        if self.mode == "delete" {
            cells.remove(at);
            return Ok(Changed { id, kind, old_source });
        }
        let kind = self.kind.map_or(kind, str::to_owned);
        let cell = cell.as_object_mut().ok_or_else(|| "the cell is not an object".to_owned())?;
        cell.insert("source".to_owned(), self.source.into());
        cell.insert("cell_type".to_owned(), kind.clone().into());
        if kind == "code" {
            clear_run(cell);
        } else {
            remove_run(cell);
        }
        Ok(Changed { id, kind, old_source })
    }
}

/// The outputs of the old source say nothing about the new one.
fn clear_run(cell: &mut Map<String, Value>) {
    cell.insert("outputs".to_owned(), json!([]));
    cell.insert("execution_count".to_owned(), Value::Null);
}

/// Only code runs: a notebook where other cells have outputs is not valid.
fn remove_run(cell: &mut Map<String, Value>) {
    cell.shift_remove("outputs");
    cell.shift_remove("execution_count");
}

fn fresh_id(cells: &[Value]) -> String {
    (cells.len()..)
        .map(|n| format!("cell-{n}"))
        .find(|id| cells.iter().all(|c| c.get("id").and_then(Value::as_str) != Some(id)))
        .unwrap_or_default()
}

/// Notebooks are indented by one space.
fn pretty(notebook: &Value, final_newline: bool) -> String {
    let mut out = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(b" ");
    let mut writer = serde_json::Serializer::with_formatter(&mut out, format);
    // Writing a Value into memory cannot fail.
    let _ = serde::Serialize::serialize(notebook, &mut writer);
    if final_newline {
        out.push(b'\n');
    }
    String::from_utf8(out).unwrap_or_default()
}
