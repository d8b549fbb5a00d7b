use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::wire::RequestId;

/// The id in a reply. A CLI copies it from the request, so the reply to an odd request holds an odd id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyId {
    /// The id of a request whose id was a string.
    Text(RequestId),
    /// A number, a list or whatever else stood in the request.
    Other(Value),
}

impl ReplyId {
    /// The id, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(id) => Some(id.as_str()),
            Self::Other(_) => None,
        }
    }
}

impl From<RequestId> for ReplyId {
    fn from(id: RequestId) -> Self {
        Self::Text(id)
    }
}

impl From<&str> for ReplyId {
    fn from(id: &str) -> Self {
        Self::Text(id.into())
    }
}

impl From<String> for ReplyId {
    fn from(id: String) -> Self {
        Self::Text(id.into())
    }
}

impl Serialize for ReplyId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(id) => id.serialize(serializer),
            Self::Other(value) => value.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ReplyId {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyId)
    }
}

/// Reads a string without a copy on the heap, because nearly every id is one.
struct AnyId;

impl<'de> Visitor<'de> for AnyId {
    type Value = ReplyId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id")
    }

    fn visit_str<E>(self, id: &str) -> Result<ReplyId, E> {
        Ok(ReplyId::from(id))
    }

    fn visit_bool<E>(self, value: bool) -> Result<ReplyId, E> {
        Ok(ReplyId::Other(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<ReplyId, E> {
        Ok(ReplyId::Other(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<ReplyId, E> {
        Ok(ReplyId::Other(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<ReplyId, E> {
        Ok(ReplyId::Other(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<ReplyId, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(list)).map(ReplyId::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<ReplyId, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(object)).map(ReplyId::Other)
    }
}

impl JsonSchema for ReplyId {
    fn schema_name() -> Cow<'static, str> {
        "ReplyId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "The id in a reply: a copy of what stood in the request, which should be a string.",
            "anyOf": [{ "type": "string" }, { "type": ["number", "boolean", "array", "object"] }],
        })
    }
}
