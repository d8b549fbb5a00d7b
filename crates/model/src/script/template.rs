//! `{{names}}` in the texts of a script.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Fills in every `{{name}}` that `lookup` knows; others stay as they are.
pub(crate) fn fill(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Name { name, whole } => {
                filled.push_str(&lookup(name).map_or(Cow::Borrowed(whole), Cow::Owned))
            }
        }
    }
    filled
}

/// Fills in the strings of a JSON object. The depth is bounded by the parsers of scripts.
pub(crate) fn fill_map(
    map: &Map<String, Value>,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Map<String, Value> {
    map.iter().map(|(key, value)| (key.clone(), fill_value(value, lookup))).collect()
}

fn fill_value(value: &Value, lookup: &dyn Fn(&str) -> Option<String>) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text, lookup)),
        Value::Array(items) => items.iter().map(|item| fill_value(item, lookup)).collect(),
        Value::Object(map) => Value::Object(fill_map(map, lookup)),
        other => other.clone(),
    }
}

/// The names that a text asks for.
pub(crate) fn names(text: &str) -> Vec<&str> {
    let name = |piece| match piece {
        Piece::Name { name, .. } => Some(name),
        Piece::Text(_) => None,
    };
    pieces(text).into_iter().filter_map(name).collect()
}

enum Piece<'a> {
    Text(&'a str),
    Name { name: &'a str, whole: &'a str },
}

/// Only `{{word}}` with letters, digits, dots and underscores is a name, so that other braces need no escape.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((inside, behind)) = after.split_once("}}") else { break };
        let name = inside.trim();
        if is_name(name) {
            pieces.push(Piece::Text(before));
            let start = before.len();
            pieces.push(Piece::Name {
                name,
                whole: rest.get(start..start + inside.len() + 4).unwrap_or_default(),
            });
            rest = behind;
        } else {
            // The second brace may belong to a name: `{{{x}}`.
            pieces.push(Piece::Text(rest.get(..before.len() + 1).unwrap_or_default()));
            rest = rest.get(before.len() + 1..).unwrap_or_default();
        }
    }
    pieces.push(Piece::Text(rest));
    pieces
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))
}
