use std::borrow::{Borrow, Cow};
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::keys::Key;
use super::short::Short;

macro_rules! id {
    ($( $(#[doc = $doc:literal])* $Name:ident; )*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $Name(Short);

        impl $Name {
            /// The id as it stands on the wire.
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }

            /// Whether the id is the empty string.
            pub fn is_empty(&self) -> bool {
                self.as_str().is_empty()
            }

            /// The id as an owned string.
            pub fn into_string(self) -> String {
                self.0.into_string()
            }
        }

        impl super::slot::Blank for $Name {
            fn blank() -> Self {
                Self::default()
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl AsRef<str> for $Name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl Borrow<str> for $Name {
            fn borrow(&self) -> &str {
                self.as_str()
            }
        }

        impl From<String> for $Name {
            fn from(id: String) -> Self {
                Self(id.into())
            }
        }

        impl From<&str> for $Name {
            fn from(id: &str) -> Self {
                Self(id.into())
            }
        }

        impl PartialEq<str> for $Name {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<&str> for $Name {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        impl Serialize for $Name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $Name {
            #[inline]
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Key::deserialize(deserializer).map(|id| Self(Short::from(&*id.0)))
            }
        }

        impl JsonSchema for $Name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($Name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                schemars::json_schema!({ "type": "string", "description": concat!($($doc, "\n"),*).trim() })
            }
        }
    )*};
}

id! {
    /// Names one conversation; a fork or `/clear` starts another.
    SessionId;
    /// Names one frame or message. CLIs use UUIDs, but nothing here depends on that.
    Uuid;
    /// Pairs a control request with its reply; chosen by whoever asks.
    RequestId;
    /// Names one tool call of the model, and links its result, its approval and its subagent's frames to it.
    ToolUseId;
    /// Names a running or finished background task.
    TaskId;
    /// Names a subagent; the same string as its task id.
    AgentId;
}
