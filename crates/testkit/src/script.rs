//! Scripts as data: a turn written in JSON, for scenario files and for programs in other languages.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::turn::{Block, Turn};

/// What is wrong with a turn that was written in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError(String);

impl std::fmt::Display for ScriptError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ScriptError {}

/// Every key a turn may have. A key that is not here is an error, so that a slip does not pass as a default.
const KEYS: &[&str] = &[
    "text",
    "tool",
    "input",
    "blocks",
    "error",
    "error_type",
    "message",
    "headers",
    "stream_error",
    "drop",
    "hang",
    "when",
    "repeat",
    "delay",
    "chunks",
    "chunk_delay",
    "stop_reason",
    "usage",
];

impl Turn {
    /// Reads a turn: `{"text": …}`, `{"tool": NAME, "input": {…}}`, `{"blocks": […]}`, `{"error": STATUS}` or
    /// `{"drop": true}`; any of them may have `when`, `repeat`, `delay`, `chunks`, `chunk_delay` (seconds),
    /// `stop_reason`, `usage`, `hang` and `stream_error`.
    ///
    /// ```
    /// use pilothouse_testkit::Turn;
    /// use serde_json::json;
    ///
    /// assert!(Turn::from_json(&json!({"tool": "Bash", "input": {"command": "ls"}})).is_ok());
    /// let slip = Turn::from_json(&json!({"txet": "hi"})).unwrap_err();
    /// assert!(slip.to_string().contains("txet"));
    /// ```
    ///
    /// # Errors
    /// When it is no object, has a key that turns do not have, or a value of the wrong kind.
    pub fn from_json(written: &Value) -> Result<Turn, ScriptError> {
        let Value::Object(fields) = written else {
            return Err(ScriptError(format!("a turn is an object, not {written}")));
        };
        if let Some(unknown) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(ScriptError(format!(
                "a turn has no key `{unknown}`; it may have {}",
                KEYS.join(", ")
            )));
        }
        let mut turn = answer(fields)?;
        if let Some(text) = text(fields, "when")? {
            turn = turn.when(text);
        }
        if let Some(times) = number(fields, "repeat")? {
            turn = turn.times(times as usize);
        }
        if let Some(seconds) = number(fields, "delay")? {
            turn = turn.after(Duration::from_secs_f64(seconds));
        }
        let pause = Duration::from_secs_f64(number(fields, "chunk_delay")?.unwrap_or(0.0));
        turn = turn.chunked(number(fields, "chunks")?.unwrap_or(2.0) as usize, pause);
        if let Some(reason) = text(fields, "stop_reason")? {
            turn = turn.stop_reason(reason);
        }
        if let Some(usage) = fields.get("usage") {
            let tokens = |name: &str, default| usage.get(name).and_then(Value::as_u64).unwrap_or(default);
            turn = turn.usage(tokens("input_tokens", 10), tokens("output_tokens", 5));
        }
        if let Some(kind) = text(fields, "stream_error")? {
            turn = turn.breaking_off(kind);
        }
        if truthy(fields, "hang") {
            turn = turn.hanging();
        }
        Ok(turn)
    }
}

fn answer(fields: &Map<String, Value>) -> Result<Turn, ScriptError> {
    if truthy(fields, "drop") {
        return Ok(Turn::dropped());
    }
    if let Some(status) = number(fields, "error")? {
        let mut turn = Turn::error(status as u16);
        turn = turn.error_says(text(fields, "error_type")?, text(fields, "message")?);
        let wait = fields.get("headers").and_then(|headers| headers.get("retry-after"));
        let wait = wait.and_then(|wait| wait.as_u64().or_else(|| wait.as_str()?.parse().ok()));
        return Ok(wait.into_iter().fold(turn, Turn::retry_after));
    }
    if let Some(blocks) = fields.get("blocks") {
        let blocks = blocks.as_array().ok_or_else(|| ScriptError("`blocks` is a list".to_owned()))?;
        return Ok(Turn::blocks(blocks.iter().map(block).collect::<Result<Vec<_>, _>>()?));
    }
    let mut blocks = Vec::new();
    if let Some(text) = text(fields, "text")? {
        blocks.push(Block::Text(text.to_owned()));
    }
    if let Some(name) = text(fields, "tool")? {
        blocks.push(Block::Tool { name: name.to_owned(), input: input(fields) });
    }
    Ok(Turn::blocks(blocks))
}

fn block(written: &Value) -> Result<Block, ScriptError> {
    let said = |key: &str| written[key].as_str().map(str::to_owned);
    let block = match written["type"].as_str() {
        Some("text") => said("text").map(Block::Text),
        Some("thinking") => said("thinking").map(Block::Thinking),
        Some("redacted_thinking") => said("data").map(Block::RedactedThinking),
        Some("tool_use") => said("name")
            .map(|name| Block::Tool { name, input: written.as_object().map(input).unwrap_or_default() }),
        _ => None,
    };
    block.ok_or_else(|| {
        ScriptError(format!("a block is text, thinking, redacted_thinking or tool_use, not {written}"))
    })
}

/// The input of a tool call; a call without one has an empty object.
fn input(fields: &Map<String, Value>) -> Value {
    match fields.get("input") {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(input) => input.clone(),
    }
}

fn text<'a>(fields: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, ScriptError> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(ScriptError(format!("`{key}` is a text, not {other}"))),
    }
}

/// A number that is not negative and not too large for a duration.
fn number(fields: &Map<String, Value>, key: &str) -> Result<Option<f64>, ScriptError> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_f64() {
            Some(number) if (0.0..1e9).contains(&number) => Ok(Some(number)),
            _ => Err(ScriptError(format!("`{key}` is a number from 0 up, not {value}"))),
        },
    }
}

fn truthy(fields: &Map<String, Value>, key: &str) -> bool {
    !matches!(fields.get(key), None | Some(Value::Null | Value::Bool(false))) && fields[key] != 0
}
