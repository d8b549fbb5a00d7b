//! Front matter fields as people write them, read leniently.

use pilothouse_rules::split_rule_list;
use serde_json::{Map, Value};

/// Text on one line: strings with line breaks folded, numbers and booleans as written.
pub(crate) fn line(fields: &Map<String, Value>, name: &str) -> Option<String> {
    let text = match fields.get(name)? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!folded.is_empty()).then_some(folded)
}

/// Like [`line`], and a list is joined by commas: `[file]` is YAML for a list, though a hint was meant.
pub(crate) fn hint(fields: &Map<String, Value>, name: &str) -> Option<String> {
    match fields.get(name)? {
        Value::Array(_) => Some(words(fields, name).join(",")),
        _ => line(fields, name),
    }
}

/// A switch: YAML's own booleans, and the words people use for them.
pub(crate) fn switch(fields: &Map<String, Value>, name: &str) -> Option<bool> {
    match fields.get(name)? {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        },
        Value::Number(number) => number.as_u64().map(|number| number != 0),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A list of words: a YAML list, or text separated by blanks or commas.
pub(crate) fn words(fields: &Map<String, Value>, name: &str) -> Vec<String> {
    match fields.get(name) {
        Some(Value::Array(elements)) => {
            elements.iter().filter_map(Value::as_str).map(|word| word.trim().to_owned()).collect()
        }
        Some(Value::String(text)) => text
            .split(|c: char| c.is_whitespace() || c == ',')
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

/// A list of rules: a YAML list, or text separated by blanks or commas outside parentheses, as in
/// `Read, Bash(git commit *)`.
pub(crate) fn rules(fields: &Map<String, Value>, name: &str) -> Option<Vec<String>> {
    match fields.get(name)? {
        Value::Array(elements) => {
            Some(elements.iter().filter_map(Value::as_str).flat_map(split_rule_list).collect())
        }
        Value::String(text) => Some(split_rule_list(text)),
        _ => None,
    }
}
