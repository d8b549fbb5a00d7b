//! What a tool call would do, in full: the change of a file, the command, or the whole input.

use std::path::Path;

use serde_json::{Map, Value};

use super::change;

/// One line to show, before it is wrapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) kind: RowKind,
    pub(crate) text: String,
}

/// What a line is, which decides its colour and its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// A command, or a value of the input.
    Value,
    /// Where in the file the next lines are.
    Place,
    /// Stays as it is.
    Context,
    Added,
    Removed,
    /// Something to know about the lines around it.
    Note,
}

impl Row {
    pub(crate) fn new(kind: RowKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

/// All there is to see about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Detail {
    /// The file, or nothing.
    pub(crate) subject: Option<String>,
    pub(crate) rows: Vec<Row>,
    /// Whether the lines are a command, of which more is shown at once.
    pub(crate) is_command: bool,
}

impl Detail {
    /// Looks at a call. Files are read from `cwd`.
    pub(crate) fn of(tool: &str, input: &Map<String, Value>, cwd: &Path) -> Self {
        if let Some((subject, rows)) = change::of(tool, input, cwd) {
            return Self { subject: Some(subject), rows, is_command: false };
        }
        let command = input.get("command").and_then(Value::as_str).filter(|_| tool == "Bash");
        let mut rows = Vec::new();
        rows.extend(command.into_iter().flat_map(values));
        for (name, value) in input {
            if command.is_none() || name != "command" {
                rows.extend(field(name, value));
            }
        }
        Self { subject: None, rows, is_command: command.is_some() }
    }
}

/// A field of the input: in one line if it fits, else the name and then the lines of the value.
pub(crate) fn field(name: &str, value: &Value) -> Vec<Row> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => serde_json::to_string_pretty(value).unwrap_or_default(),
        other => other.to_string(),
    };
    if text.contains('\n') {
        let name = Row::new(RowKind::Note, format!("{name}:"));
        std::iter::once(name).chain(values(&text)).collect()
    } else {
        vec![Row::new(RowKind::Note, format!("{name}: {text}"))]
    }
}

/// The lines of a text; unlike `str::lines`, a carriage return stays and an empty text is one line.
fn values(text: &str) -> impl Iterator<Item = Row> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').map(|line| Row::new(RowKind::Value, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_the_input_is_shown() {
        let input = serde_json::json!({
            "command": "a\nb\r\n", "timeout": 5, "run_in_background": true, "more": {"x": [1]}
        });
        let detail = Detail::of("Bash", input.as_object().unwrap(), Path::new("/"));
        let text: Vec<&str> = detail.rows.iter().map(|row| row.text.as_str()).collect();
        assert_eq!(
            text,
            [
                "a",
                "b\r",
                "timeout: 5",
                "run_in_background: true",
                "more:",
                "{",
                "  \"x\": [",
                "    1",
                "  ]",
                "}"
            ]
        );
        let detail = Detail::of("mcp__db__query", input.as_object().unwrap(), Path::new("/"));
        assert_eq!(detail.rows.first().unwrap().text, "command:");
    }
}
