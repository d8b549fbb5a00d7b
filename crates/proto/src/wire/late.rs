//! Objects whose tag is not their first key.
//!
//! Real CLIs write most tags first, but not those of `result` frames and tool results. Such an object is skimmed first,
//! each value borrowed raw from the line, and then read by the same code as any other.

use serde::de::{DeserializeSeed, Error, MapAccess};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::json;
use super::keys::Key;
use super::reading::{Reading, bare_message, read_nested};
use super::record::Fields;
use super::union::Tagged;

#[cold]
pub(crate) fn from_late_tag<'de, T: Fields + Tagged, A: MapAccess<'de>>(
    first: Key<'de>,
    mut map: A,
) -> Result<T, A::Error> {
    if Reading::is_text() {
        let mut fields = vec![(first, map.next_value::<&'de RawValue>()?)];
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        return read_gathered(fields).map_err(|error| A::Error::custom(bare_message(&error)));
    }
    // There is no text to borrow from, so one is made.
    let mut fields = Map::new();
    fields.insert(first.0.into_owned(), map.next_value()?);
    while let Some((key, value)) = map.next_entry::<String, Value>()? {
        fields.insert(key, value);
    }
    let text = Value::Object(fields).to_string();
    let _reading = Reading::text(&text);
    serde_json::from_str::<Gathered<'_>>(&text)
        .and_then(|gathered| read_gathered(gathered.0))
        .map_err(|error| A::Error::custom(bare_message(&error)))
}

fn read_gathered<T: Fields + Tagged>(mut fields: Vec<(Key<'_>, &RawValue)>) -> Result<T, serde_json::Error> {
    read_nested(|| {
        // The last of several counts, as everywhere in JSON.
        let Some(at) = fields.iter().rposition(|(key, _)| key.0 == T::TAG) else {
            return T::from_untagged(RawFields::new(fields));
        };
        let (_, raw) = fields.remove(at);
        let tag: Key<'_> = json::read(raw.get())?;
        fields.retain(|(key, _)| key.0 != T::TAG);
        T::from_tagged_map(&tag.0, RawFields::new(fields))
    })
}

/// The fields of an object that was skimmed.
pub(crate) struct RawFields<'de> {
    fields: std::vec::IntoIter<(Key<'de>, &'de RawValue)>,
    value: Option<&'de RawValue>,
}

impl<'de> RawFields<'de> {
    fn new(fields: Vec<(Key<'de>, &'de RawValue)>) -> Self {
        Self { fields: fields.into_iter(), value: None }
    }
}

impl<'de> MapAccess<'de> for RawFields<'de> {
    type Error = serde_json::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Self::Error> {
        let Some((key, value)) = self.fields.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(serde::de::value::CowStrDeserializer::new(key.0)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Self::Error> {
        let raw = self.value.take().ok_or_else(|| serde_json::Error::custom("a value without its key"))?;
        json::read_seed(raw.get(), seed)
    }
}

/// Any object, skimmed.
struct Gathered<'de>(Vec<(Key<'de>, &'de RawValue)>);

impl<'de> serde::Deserialize<'de> for Gathered<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct GatheredVisitor;
        impl<'de> serde::de::Visitor<'de> for GatheredVisitor {
            type Value = Gathered<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Gathered(fields))
            }
        }
        deserializer.deserialize_map(GatheredVisitor)
    }
}
