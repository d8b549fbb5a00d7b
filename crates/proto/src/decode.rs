use serde::de::IgnoredAny;

use crate::path::{About, path_at};
use crate::wire::{Reading, Wire, bare_message};
use crate::{DecodeError, DecodeErrorKind};

/// Reads one line as a frame, or any other wire type.
///
/// The good path is a single pass. Only when it fails is the path of the broken field looked up in the line. Half a
/// surrogate pair, which JavaScript writes when it cuts a string, is read as U+FFFD.
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
        Err(error) => Err(explain(text, &error)),
    }
}

/// Finds out what is wrong: first whether it is JSON at all, then which field.
#[cold]
fn explain(text: &str, error: &serde_json::Error) -> DecodeError {
    let column = Reading::error_column();
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        return describe(DecodeErrorKind::NotJson, String::new(), error.column(), &error);
    }
    let message = error.to_string();
    if message.starts_with("recursion limit") {
        return describe(DecodeErrorKind::TooDeep, String::new(), column, error);
    }
    let about = if message.starts_with("missing field") { About::Container } else { About::Value };
    describe(DecodeErrorKind::Malformed, path_at(text, column, about), column, error)
}

fn describe(kind: DecodeErrorKind, path: String, column: usize, error: &serde_json::Error) -> DecodeError {
    DecodeError { kind, path, column, message: bare_message(error) }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
