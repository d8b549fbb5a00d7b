//! The arguments of a call: held to the tool's schema, and completed.

use serde_json::Value;

use crate::session::Session;
use crate::tool::{AgentTool, ToolCall};
use pilothouse_tools::Input;

/// Puts in what can be told from the other arguments: a task has one text at least, which does for both. What else
/// models write about a task is left out.
pub(crate) fn fill(tool: &str, input: &mut Input) {
    if tool != "TaskCreate" {
        return;
    }
    input.retain(|name, _| ["subject", "description", "activeForm", "metadata"].contains(&name.as_str()));
    for (missing, other) in [("subject", "description"), ("description", "subject")] {
        if let (None, Some(text)) = (input.get(missing), input.get(other).cloned()) {
            input.insert(missing.to_owned(), text);
        }
    }
}

/// What is wrong with the arguments by the tool's schema: told before anybody is asked for permission.
pub(crate) fn problem(tool: &dyn AgentTool, input: &Input) -> Option<String> {
    // An MCP server and structured output check their own arguments, and better.
    if tool.mcp_server().is_some() || tool.is_internal() {
        return None;
    }
    let problems = problems(&tool.input_schema(), input);
    (!problems.is_empty()).then(|| format!("{} was called wrongly: {}", tool.name(), problems.join("; ")))
}

/// Puts in what models may leave out, and paths as they are meant: hosts and hooks are always told all of it.
pub(crate) fn complete(session: &Session, tool: &dyn AgentTool, call: &mut ToolCall) {
    if tool.mcp_server().is_none() {
        coerce(&tool.input_schema(), &mut call.input);
    }
    if call.name == "Edit" && !call.input.contains_key("replace_all") {
        call.input.insert("replace_all".to_owned(), false.into());
    }
    if call.name == "AskUserQuestion" {
        one_answer_each(&mut call.input);
    }
    if call.name == "Edit" {
        trim_lines(&mut call.input);
    }
    let path = match call.name.as_str() {
        "Read" | "Edit" | "Write" => "file_path",
        "NotebookEdit" => "notebook_path",
        _ => return,
    };
    if let Some(Value::String(path)) = call.input.get_mut(path)
        && let Some(whole) = session.workspace().resolve(path.trim()).to_str()
    {
        *path = whole.to_owned();
    }
}

/// A question that does not say so takes one answer.
fn one_answer_each(input: &mut Input) {
    let questions = input.get_mut("questions").and_then(Value::as_array_mut).into_iter().flatten();
    for question in questions.filter_map(Value::as_object_mut) {
        question.entry("multiSelect").or_insert(false.into());
    }
}

/// Makes numbers and truth values of what models have written as strings.
fn coerce(schema: &Value, input: &mut Input) {
    for (name, value) in input.iter_mut() {
        let wanted = schema.pointer(&format!("/properties/{}", name.replace('~', "~0").replace('/', "~1")));
        let (Some(wanted), Value::String(text)) = (wanted, &*value) else { continue };
        // What may be a text is one.
        if takes(wanted, "string") {
            continue;
        }
        let meant = serde_json::from_str::<Value>(text.trim()).ok();
        let fits = |meant: &Value| match meant {
            Value::Bool(_) => takes(wanted, "boolean"),
            Value::Number(_) => takes(wanted, "integer") || takes(wanted, "number"),
            _ => false,
        };
        if let Some(meant) = meant.filter(fits) {
            *value = meant;
        }
    }
}

fn takes(schema: &Value, kind: &str) -> bool {
    let names = |value: &Value| match value {
        Value::String(name) => name == kind,
        Value::Array(names) => names.iter().any(|name| name == kind),
        _ => false,
    };
    let choices = ["anyOf", "oneOf"].into_iter().filter_map(|name| schema.get(name)?.as_array()).flatten();
    schema.get("type").is_some_and(names) || choices.into_iter().any(|choice| takes(choice, kind))
}

/// Takes white space off the ends of the lines that an edit puts in; in Markdown it means something.
fn trim_lines(input: &mut Input) {
    let path = input.get("file_path").and_then(Value::as_str).unwrap_or_default();
    if path.ends_with(".md") || path.ends_with(".mdx") {
        return;
    }
    if let Some(Value::String(new)) = input.get_mut("new_string") {
        let lines: Vec<&str> = new.split('\n').map(|line| line.trim_end_matches([' ', '\t'])).collect();
        *new = lines.join("\n");
    }
}

fn problems(schema: &Value, input: &Input) -> Vec<String> {
    let list = |name: &str| schema.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let required = list("required").iter().filter_map(Value::as_str);
    let lacks = required.filter(|name| !input.contains_key(*name));
    let mut problems: Vec<String> = lacks.map(|name| format!("the parameter `{name}` is missing")).collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, value) in input {
        match properties.and_then(|properties| properties.get(name)) {
            Some(wanted) => {
                problems.extend(misfit(wanted, value).map(|what| format!("`{name}` must be {what}")))
            }
            None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                problems.push(format!("there is no parameter `{name}`"));
            }
            None => {}
        }
    }
    problems
}

/// What a value should be and is not. Models also send numbers and truth values as strings; null is as good as nothing.
fn misfit(schema: &Value, value: &Value) -> Option<String> {
    if value.is_null() {
        return None;
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array)
        && !words.contains(value)
    {
        let words: Vec<String> = words.iter().filter(|word| !word.is_null()).map(Value::to_string).collect();
        return Some(format!("one of {}", words.join(", ")));
    }
    let choices = ["anyOf", "oneOf"].into_iter().find_map(|name| schema.get(name)?.as_array());
    if let Some(choices) = choices {
        let mut misfits = choices
            .iter()
            .filter(|choice| choice.get("type") != Some(&"null".into()))
            .map(|choice| misfit(choice, value));
        // Whatever is wrong with the first is as good as any.
        let first = misfits.next()?;
        return first.filter(|_| misfits.all(|misfit| misfit.is_some()));
    }
    let kinds: Vec<&str> = match schema.get("type")? {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let written = |text: &str| value.as_str().is_some_and(|value| value == text);
    let fits = kinds.iter().any(|kind| match *kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean() || written("true") || written("false"),
        "integer" | "number" => {
            value.is_number() || value.as_str().is_some_and(|text| text.trim().parse::<f64>().is_ok())
        }
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => false,
        _ => true,
    });
    (!fits).then(|| {
        format!(
            "of the type {}",
            kinds.iter().filter(|kind| **kind != "null").copied().collect::<Vec<_>>().join(" or ")
        )
    })
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
