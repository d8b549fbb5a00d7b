//! From a line to an event.

use bytes::Bytes;
use pilothouse_proto::{DecodeError, DecodeErrorKind, Wire, decode};

use crate::event::Event;

/// Reads a line. Broken UTF-8 inside it costs the broken characters, not the message.
pub(crate) fn read<F: Wire>(line: &[u8]) -> Result<F, DecodeError> {
    match decode(line) {
        Err(error) if error.kind == DecodeErrorKind::NotUtf8 => {
            decode(String::from_utf8_lossy(line).as_bytes())
        }
        read => read,
    }
}

/// What a line that is neither request nor reply comes to.
pub(crate) fn event<F: Wire>(raw: Bytes) -> Event<F> {
    match read(&raw) {
        Ok(frame) => Event::Frame { raw, frame },
        Err(error) => odd(raw, error),
    }
}

pub(crate) fn odd<F>(raw: Bytes, error: DecodeError) -> Event<F> {
    match error.kind {
        DecodeErrorKind::NotJson => Event::Noise { raw },
        _ => Event::Malformed { raw, error: Box::new(error) },
    }
}

/// Whether a line is certainly a message that the router itself has no use for. Such a line is typed only where it is
/// read: there its parts are also freed, and a queue of lines is half as large as one of messages.
///
/// Every CLI writes the type first. A line that does not is typed by the router, which is right as well.
pub(crate) fn is_plain_message(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(br#"{"type":""#) else {
        return false;
    };
    if rest.starts_with(b"control_") {
        return false;
    }
    let plain_tag = rest.iter().take_while(|byte| byte.is_ascii_lowercase() || **byte == b'_').count();
    let (tag, after) = rest.split_at(plain_tag);
    // Results are wanted for what they say about failures.
    after.first() == Some(&b'"')
        && !matches!(tag, b"result" | b"")
        && !tag.starts_with(b"control")
        && !tag.starts_with(b"sdk_control")
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
