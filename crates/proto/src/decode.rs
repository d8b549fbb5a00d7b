use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;

use crate::surrogate::patch_lone_surrogates;
use crate::wire::ReadingLargeLine;
use crate::{DecodeError, DecodeErrorKind};

/// Reads one line as a frame, or any other wire type.
///
/// The good path is a single pass. Only when it fails is the line read again to find the path of the broken field; and
/// a line that was refused for half a surrogate pair is read once more with U+FFFD in its place.
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
pub fn decode<T: DeserializeOwned>(line: &[u8]) -> Result<T, DecodeError> {
    let text = std::str::from_utf8(line).map_err(|error| DecodeError {
        kind: DecodeErrorKind::NotUtf8,
        path: String::new(),
        column: error.valid_up_to() + 1,
        message: "the bytes here are no UTF-8".to_owned(),
    })?;
    let _reading = ReadingLargeLine::enter(text.len());
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(error) => decode_again(text, &error),
    }
}

#[cold]
fn decode_again<T: DeserializeOwned>(text: &str, error: &serde_json::Error) -> Result<T, DecodeError> {
    if error.classify() == Category::Syntax
        && let Some(patched) = patch_lone_surrogates(text)
    {
        return serde_json::from_str(&patched).map_err(|error| explain::<T>(&patched, &error));
    }
    Err(explain::<T>(text, error))
}

/// Finds out what is wrong: first whether it is JSON at all, then which field.
fn explain<T: DeserializeOwned>(text: &str, error: &serde_json::Error) -> DecodeError {
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        let too_deep = error.to_string().starts_with("recursion limit");
        let kind = if too_deep { DecodeErrorKind::TooDeep } else { DecodeErrorKind::NotJson };
        return describe(kind, String::new(), &error);
    }
    let deserializer = &mut serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, T>(deserializer) {
        Err(found) => {
            let path = found.path().to_string();
            let inner = found.into_inner();
            let too_deep = inner.to_string().contains("recursion limit");
            if too_deep {
                return describe(DecodeErrorKind::TooDeep, String::new(), &inner);
            }
            describe(DecodeErrorKind::Malformed, if path == "." { String::new() } else { path }, &inner)
        }
        Ok(_) => describe(DecodeErrorKind::Malformed, String::new(), error),
    }
}

fn describe(kind: DecodeErrorKind, path: String, error: &serde_json::Error) -> DecodeError {
    let mut message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    if let Some(bare) = message.strip_suffix(&position) {
        message.truncate(bare.len());
    }
    DecodeError { kind, path, column: error.column(), message }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
