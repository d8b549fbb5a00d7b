use serde::de::IgnoredAny;
use serde_json::error::Category;

use crate::path::{About, path_at};
use crate::surrogate::patch_lone_surrogates;
use crate::wire::{Reading, Wire, bare_message};
use crate::{DecodeError, DecodeErrorKind};

/// Reads one line as a frame, or any other wire type.
///
/// The good path is a single pass. Only when it fails is the path of the broken field looked up in the line; and a line
/// that was refused for half a surrogate pair is read once more with U+FFFD in its place.
///
/// ```
/// use pilothouse_proto::{AgentFrame, decode};
///
/// let frame: AgentFrame = decode(br#"{"type":"keep_alive"}"#)?;
/// assert_eq!(frame.tag(), "keep_alive");
///
/// let error = decode::<AgentFrame>(br#"{"type":"stream_event","event":7}"#).unwrap_err();
/// assert_eq!((error.path.as_str(), error.column), ("event", 32));
/// # Ok::<(), pilothouse_proto::DecodeError>(())
/// ```
pub fn decode<T: Wire>(line: &[u8]) -> Result<T, DecodeError> {
    let text = std::str::from_utf8(line).map_err(|error| DecodeError {
        kind: DecodeErrorKind::NotUtf8,
        path: String::new(),
        column: error.valid_up_to() + 1,
        message: "the bytes here are no UTF-8".to_owned(),
    })?;
    let _reading = Reading::text(text);
    match T::from_text(text) {
        Ok(value) => Ok(value),
        Err(error) => decode_again(text, &error),
    }
}

#[cold]
fn decode_again<T: Wire>(text: &str, error: &serde_json::Error) -> Result<T, DecodeError> {
    if error.classify() == Category::Syntax
        && let Some(patched) = patch_lone_surrogates(text)
    {
        let _reading = Reading::text(&patched);
        return T::from_text(&patched).map_err(|error| explain(&patched, &error));
    }
    Err(explain(text, error))
}

/// Finds out what is wrong: first whether it is JSON at all, then which field.
fn explain(text: &str, error: &serde_json::Error) -> DecodeError {
    let inner_column = Reading::error_column();
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        return describe(DecodeErrorKind::NotJson, String::new(), &error, 0);
    }
    if is_too_deep(error) {
        return describe(DecodeErrorKind::TooDeep, String::new(), error, inner_column);
    }
    let about = if error.to_string().starts_with("missing field") { About::Container } else { About::Value };
    let column = if inner_column > 0 { inner_column } else { error.column() };
    let line_start =
        text.lines().take(error.line().saturating_sub(1)).map(|line| line.len() + 1).sum::<usize>();
    let path = path_at(text, if inner_column > 0 { inner_column } else { line_start + column }, about);
    describe(DecodeErrorKind::Malformed, path, error, inner_column)
}

fn is_too_deep(error: &serde_json::Error) -> bool {
    error.to_string().starts_with("recursion limit")
}

fn describe(
    kind: DecodeErrorKind,
    path: String,
    error: &serde_json::Error,
    inner_column: usize,
) -> DecodeError {
    let column = if inner_column > 0 { inner_column } else { error.column() };
    DecodeError { kind, path, column, message: bare_message(error) }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
