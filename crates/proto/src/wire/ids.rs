use std::borrow::{Borrow, Cow};
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

macro_rules! id {
    ($( $(#[doc = $doc:literal])* $Name:ident; )*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $Name(String);

        impl $Name {
            /// The id as it stands on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Whether the id is the empty string.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }

            /// The id as an owned string.
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl super::slot::Blank for $Name {
            fn blank() -> Self {
                Self::default()
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $Name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $Name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $Name {
            fn from(id: String) -> Self {
                Self(id)
            }
        }

        impl From<&str> for $Name {
            fn from(id: &str) -> Self {
                Self(id.to_owned())
            }
        }

        impl PartialEq<str> for $Name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl PartialEq<&str> for $Name {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
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
