//! Long strings without a second copy.
//!
//! serde_json unescapes a string in a scratch buffer that grows by doubling and then copies it out, so a line of 50 MiB
//! would need three times its size. On large lines a string is therefore taken as raw JSON, borrowed from the line, and
//! unescaped straight into the `String` that is kept. Short lines never come here: skimming first costs a little time.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, Unexpected, Visitor};
use serde_json::value::RawValue;

use super::reading::Reading;

/// Reads a string in whichever way fits the line.
#[inline]
pub(crate) fn read_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    if Reading::is_large() {
        match LongText::take(<&RawValue>::deserialize(deserializer)?)? {
            LongText::Text(text) => Ok(text),
            LongText::Null => Err(D::Error::invalid_type(Unexpected::Unit, &"a string")),
            LongText::Other(_) => {
                Err(D::Error::invalid_type(Unexpected::Other("another value"), &"a string"))
            }
        }
    } else {
        String::deserialize(deserializer)
    }
}

/// What a raw value turned out to be.
pub(crate) enum LongText<'de> {
    Text(String),
    Null,
    Other(&'de RawValue),
}

impl<'de> LongText<'de> {
    pub(crate) fn take<E: Error>(raw: &'de RawValue) -> Result<Self, E> {
        let json = raw.get();
        if json == "null" {
            return Ok(Self::Null);
        }
        match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(inner) => {
                unescape(inner).map(Self::Text).ok_or_else(|| E::custom("invalid escape in a string"))
            }
            None => Ok(Self::Other(raw)),
        }
    }
}

pub(crate) struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = String;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        read_text(deserializer)
    }
}

pub(crate) struct OptText;

impl<'de> DeserializeSeed<'de> for OptText {
    type Value = super::opt::Opt<String>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for OptText {
    type Value = super::opt::Opt<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or null")
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(super::opt::Opt::Null)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(super::opt::Opt::Null)
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        read_text(deserializer).map(super::opt::Opt::Some)
    }
}

/// The text between the quotes of a JSON string; a surrogate without its partner becomes U+FFFD.
fn unescape(escaped: &str) -> Option<String> {
    // Unescaping only shortens, so this is one allocation; pages that stay unused are never touched.
    let mut text = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(rest.get(..at)?);
        let (read, after) = unescape_one(rest.get(at + 1..)?)?;
        text.push(read);
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

/// The character that an escape stands for, from behind its backslash on, and what follows.
pub(super) fn unescape_one(escape: &str) -> Option<(char, &str)> {
    let kind = *escape.as_bytes().first()?;
    let rest = escape.get(1..)?;
    let read = match kind {
        b'n' => '\n',
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return code_point(rest),
        _ => return None,
    };
    Some((read, rest))
}

/// Reads the hex digits after `\u`, and the second half of a surrogate pair if there is one.
fn code_point(rest: &str) -> Option<(char, &str)> {
    let (unit, after) = hex_unit(rest)?;
    if let Some(read) = char::from_u32(unit) {
        return Some((read, after));
    }
    if let Some((low, after_low)) = after.strip_prefix("\\u").and_then(hex_unit)
        && let Some(Ok(read)) = char::decode_utf16([unit as u16, low as u16]).next()
    {
        return Some((read, after_low));
    }
    Some((char::REPLACEMENT_CHARACTER, after))
}

fn hex_unit(text: &str) -> Option<(u32, &str)> {
    let digits = text.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    Some((u32::from_str_radix(digits, 16).ok()?, text.get(4..)?))
}

#[cfg(test)]
#[path = "large_tests.rs"]
mod tests;
