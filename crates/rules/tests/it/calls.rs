//! Calls as the tables write them.

use pilothouse_rules::ToolCall;
use serde_json::{Map, Value};

/// A call of a tool with the one argument that matters; a search may also say where, as in `*.rs in src`.
pub(crate) fn call(tool: &str, argument: &str) -> ToolCall {
    let field = match tool {
        "Read" | "Write" | "Edit" => "file_path",
        "NotebookEdit" => "notebook_path",
        "Glob" | "Grep" => "pattern",
        "WebFetch" => "url",
        "WebSearch" => "query",
        "Agent" | "Task" => "subagent_type",
        "Skill" => "skill",
        "Bash" => "command",
        _ => "argument",
    };
    let (argument, path) = match argument.split_once(" in ") {
        Some((argument, path)) if matches!(tool, "Glob" | "Grep") => (argument, Some(path)),
        _ => (argument, None),
    };
    let mut input = Map::new();
    input.insert(field.to_owned(), Value::from(argument));
    input.extend(path.map(|path| ("path".to_owned(), Value::from(path))));
    ToolCall::new(tool, input)
}
