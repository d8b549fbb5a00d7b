//! What a call would change in a cell of a notebook.

use serde_json::{Map, Value};

use super::change::{OnDisk, State, diff};
use super::detail::{Row, RowKind};

/// The change of one cell; `None` if the call does not say what to write.
pub(super) fn change(file: &OnDisk, input: &Map<String, Value>) -> Option<Vec<Row>> {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let mode = text("edit_mode").unwrap_or("replace");
    let new = if mode == "delete" { "" } else { text("new_source")? };
    let id = text("cell_id");
    let number = input.get("cell_number").and_then(Value::as_u64);
    let cell = match (id, number) {
        (Some(id), _) => format!("cell {id}"),
        (None, Some(number)) => format!("cell number {number}"),
        (None, None) => "the first cell".to_owned(),
    };
    let kind = text("cell_type").map(|kind| format!(", as {kind}")).unwrap_or_default();
    let place =
        if mode == "insert" { format!("insert after {cell}{kind}") } else { format!("{mode} {cell}{kind}") };
    let mut rows = vec![Row::new(RowKind::Place, place)];
    let old = match &file.state {
        State::Text(notebook) if mode != "insert" => {
            let source = source(notebook, id, number);
            if source.is_none() {
                rows.push(Row::new(RowKind::Note, "this cell is not in the notebook as it is now"));
            }
            source.unwrap_or_default()
        }
        _ => String::new(),
    };
    match diff(&old, new) {
        changes if changes.is_empty() => rows.push(Row::new(RowKind::Note, "no change")),
        changes => rows.extend(changes),
    }
    Some(rows)
}

/// The source of a cell, by its id, by `cell-N`, or by its number.
fn source(notebook: &str, id: Option<&str>, number: Option<u64>) -> Option<String> {
    let notebook: Value = serde_json::from_str(notebook).ok()?;
    let cells = notebook.get("cells")?.as_array()?;
    let by_number = |number: u64| cells.get(usize::try_from(number).ok()?);
    let cell = match id {
        Some(id) => {
            let named = cells.iter().find(|cell| cell.get("id").and_then(Value::as_str) == Some(id));
            named.or_else(|| by_number(id.strip_prefix("cell-")?.parse().ok()?))?
        }
        None => by_number(number.unwrap_or(0))?,
    };
    match cell.get("source")? {
        Value::String(source) => Some(source.clone()),
        Value::Array(lines) => Some(lines.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}
