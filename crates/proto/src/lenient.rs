//! Lists that old CLIs spelled otherwise: read leniently, written as the current ones do.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A list of texts; a bare string is read as a list of one, an object with a `name` as that name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts(pub Vec<String>);

impl Deref for Texts {
    type Target = Vec<String>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl From<Vec<String>> for Texts {
    fn from(texts: Vec<String>) -> Self {
        Self(texts)
    }
}

impl crate::wire::Blank for Texts {
    fn blank() -> Self {
        Self::default()
    }
}

impl Serialize for Texts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextsVisitor)
    }
}

struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Texts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of strings")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Texts, E> {
        Ok(Texts(vec![text.to_owned()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Texts, A::Error> {
        let mut texts = Vec::new();
        while let Some(OneText(text)) = seq.next_element()? {
            texts.push(text);
        }
        Ok(Texts(texts))
    }
}

struct OneText(String);

impl<'de> Deserialize<'de> for OneText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneTextVisitor)
    }
}

struct OneTextVisitor;

impl<'de> Visitor<'de> for OneTextVisitor {
    type Value = OneText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, or an object with a name")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<OneText, E> {
        Ok(OneText(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OneText, A::Error> {
        let mut name = None;
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if let ("name", Value::String(text)) = (&*key, value) {
                name = Some(text);
            }
        }
        name.map(OneText).ok_or_else(|| A::Error::missing_field("name"))
    }
}

impl JsonSchema for Texts {
    fn schema_name() -> Cow<'static, str> {
        "Texts".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<String>::json_schema(generator)
    }
}
