//! Objects whose tag is not their first key.
//!
//! Real CLIs write most tags first, but not those of hook inputs, `result` frames and tool results. Our own reader looks
//! ahead for such a tag and goes back, see [`super::json`]. Any other deserializer cannot: from those the object is
//! gathered, written as text, and read from there.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::json;
use super::keys::Key;
use super::reading::{Reading, bare_message};
use super::record::{Fields, FieldsVisitor};

/// By names that begin like this a union asks our reader for its tag.
pub(crate) const TAG: &str = "$pilothouse::tag:";

/// What the beginning of an object tells about its tag.
pub(crate) enum First<'de> {
    /// The first key, which may be the tag's.
    Key(Key<'de>),
    /// The tag, which stands further on. The object begins anew, and the tag will not be among its keys.
    Tag(Key<'de>),
    /// There is no tag. The object begins anew.
    Untagged,
}

/// Reads the beginning of an object; `name` is [`TAG`] and the name of the tag.
#[inline(never)]
pub(crate) fn first_key<'de, A: MapAccess<'de>>(
    map: &mut A,
    name: &'static str,
) -> Result<Option<First<'de>>, A::Error> {
    map.next_key_seed(Beginning(name))
}

struct Beginning(&'static str);

impl<'de> DeserializeSeed<'de> for Beginning {
    type Value = First<'de>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<First<'de>, D::Error> {
        deserializer.deserialize_newtype_struct(self.0, self)
    }
}

/// Only our reader gives bytes, which are a tag that stands further on, or a unit, when there is none.
impl<'de> Visitor<'de> for Beginning {
    type Value = First<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<First<'de>, E> {
        Ok(First::Key(Key(Cow::Borrowed(key))))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<First<'de>, E> {
        Ok(First::Key(Key(Cow::Owned(key.to_owned()))))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<First<'de>, D::Error> {
        Key::deserialize(deserializer).map(First::Key)
    }

    #[inline]
    fn visit_borrowed_bytes<E: Error>(self, tag: &'de [u8]) -> Result<First<'de>, E> {
        Ok(First::Tag(Key(String::from_utf8_lossy(tag))))
    }

    fn visit_bytes<E: Error>(self, tag: &[u8]) -> Result<First<'de>, E> {
        Ok(First::Tag(Key(Cow::Owned(String::from_utf8_lossy(tag).into_owned()))))
    }

    fn visit_unit<E: Error>(self) -> Result<First<'de>, E> {
        Ok(First::Untagged)
    }
}

/// Reads an object with a late tag from a deserializer that cannot look ahead.
#[cold]
pub(crate) fn from_late_tag<'de, T: Fields, A: MapAccess<'de>>(
    first: Key<'de>,
    mut map: A,
) -> Result<T, A::Error> {
    let mut fields = Map::new();
    fields.insert(first.0.into_owned(), map.next_value()?);
    while let Some((key, value)) = map.next_entry::<String, Value>()? {
        fields.insert(key, value);
    }
    let text = Value::Object(fields).to_string();
    let _reading = Reading::text(&text);
    json::read_seed(&text, Object(std::marker::PhantomData))
        .map_err(|error| A::Error::custom(bare_message(&error)))
}

struct Object<T>(std::marker::PhantomData<T>);

impl<'de, T: Fields> DeserializeSeed<'de> for Object<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_map(FieldsVisitor::new())
    }
}
