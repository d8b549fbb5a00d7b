//! Unions of messages, told apart by `type`: one table makes the enum, its reader, its writer and its schema.
//!
//! A derive on an internally tagged enum would copy each message into a buffer first, lose the place of an error, and
//! not let JSON pass through unread.

/// Declares a union.
macro_rules! union {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$note:meta])* $variant:ident($body:ty) = $tag:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$note])* $variant($body),)+
        }

        impl $name {
            /// Every `type` of this union.
            pub const TAGS: &'static [&'static str] = &[$($tag,)+];

            /// The message's `type`.
            pub fn tag(&self) -> &'static str {
                match self { $(Self::$variant(_) => $tag,)+ }
            }

            /// Reads the message that `tag` says this is.
            pub(super) fn read(tag: &str, text: &str) -> Result<Self, $crate::api::MessageError> {
                match tag {
                    $($tag => $crate::api::union::body::<$body>(tag, text).map(Self::$variant),)+
                    _ => Err($crate::api::MessageError::Unsupported { tag: tag.to_owned() }),
                }
            }

            /// The members of the message besides those that every message of its kind has.
            pub(super) fn members<S: serde::Serializer, E: serde::Serialize>(&self, envelope: &E, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(body) => serde::Serialize::serialize(
                        &$crate::api::union::Tagged { tag: $tag, envelope, body }, serializer),)+
                }
            }

            /// The shape of each message.
            pub(crate) fn shapes(generator: &mut schemars::SchemaGenerator) -> Vec<(&'static str, schemars::Schema)> {
                vec![$(($tag, generator.subschema_for::<$body>()),)+]
            }
        }

        $(impl From<$body> for $name {
            fn from(body: $body) -> Self {
                Self::$variant(body)
            }
        })+
    };
}

pub(crate) use union;

use serde::{Deserialize, Serialize};

use super::MessageError;

/// A message with its `type` first.
#[derive(Serialize)]
pub(crate) struct Tagged<'a, E: Serialize, B: Serialize> {
    #[serde(rename = "type")]
    pub(crate) tag: &'static str,
    #[serde(flatten)]
    pub(crate) envelope: &'a E,
    #[serde(flatten)]
    pub(crate) body: &'a B,
}

/// Nothing besides the message itself.
#[derive(Serialize)]
pub(crate) struct Bare {}

/// Reads the members of one message, and says where it is wrong if it is.
pub(crate) fn body<'a, B: Deserialize<'a>>(tag: &str, text: &'a str) -> Result<B, MessageError> {
    located(text).map_err(|Flaw { place, reason }| MessageError::Malformed {
        tag: tag.to_owned(),
        place,
        reason,
    })
}

/// What is wrong with a text.
pub(crate) struct Flaw {
    /// The path of the member that is wrong, if it is a member, and where in the text that is.
    pub(crate) place: String,
    pub(crate) reason: String,
}

/// Reads a text, and says where it is wrong if it is.
pub(crate) fn located<'a, B: Deserialize<'a>>(text: &'a str) -> Result<B, Flaw> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let (line, column) = (error.inner().line(), error.inner().column());
        // Nearly every message is one line.
        let place = match line {
            0 | 1 => format!("column {column}"),
            _ => format!("line {line}, column {column}"),
        };
        // In text that is no JSON, a path is only how far the reader got.
        let is_member = error.inner().is_data() && path != ".";
        let place = if is_member { format!("`{path}`, {place}") } else { place };
        Flaw { place, reason: reason(error.inner()) }
    })?;
    reader.end().map_err(|error| Flaw {
        place: format!("line {}, column {}", error.line(), error.column()),
        reason: "something follows the message".to_owned(),
    })?;
    Ok(read)
}

/// What serde says, without the line and column, which are told on their own.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text.get(..end).unwrap_or(&text).to_owned(),
        None => text,
    }
}
