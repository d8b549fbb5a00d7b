//! Looking into JSON: dotted paths, conditions on messages, and a text that does not depend on the order of keys.

use serde_json::{Map, Value};

/// The value at a dotted path; `None` when it is missing or null, which hosts cannot tell apart either.
pub(crate) fn dig<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let mut found = value;
    for key in path.split('.') {
        found = match found {
            Value::Object(fields) => fields.get(key)?,
            Value::Array(items) => items.get(position(key, items.len())?)?,
            _ => return None,
        };
    }
    (!found.is_null()).then_some(found)
}

/// Whether every dotted path of `wanted` has its value; `"*"` only asks that there is one.
pub(crate) fn matches(message: &Value, wanted: &Map<String, Value>) -> bool {
    message.is_object()
        && wanted.iter().all(|(path, value)| match dig(message, path) {
            Some(_) if value == "*" => true,
            Some(found) => found == value,
            None => value.is_null(),
        })
}

/// JSON text with the keys of every object in order.
pub(crate) fn sorted_text(value: &Value) -> String {
    let mut text = String::new();
    write_sorted(value, &mut text);
    text
}

fn position(key: &str, length: usize) -> Option<usize> {
    match key.strip_prefix('-') {
        Some(from_end) => length.checked_sub(from_end.parse().ok()?),
        None => key.parse().ok(),
    }
}

fn write_sorted(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push_str(", ");
                }
                write_sorted(item, text);
            }
            text.push(']');
        }
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort();
            text.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                if index > 0 {
                    text.push_str(", ");
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push_str(": ");
                write_sorted(&fields[key], text);
            }
            text.push('}');
        }
        other => text.push_str(&other.to_string()),
    }
}
