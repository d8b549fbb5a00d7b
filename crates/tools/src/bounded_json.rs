//! JSON of strangers: a value takes dozens of bytes of memory for one or two in the file, so values are counted before any
//! is kept. Depth is bounded by serde_json itself.

use std::cell::Cell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// The most values that one document may have.
const MOST_VALUES: usize = 500_000;
/// The longest document.
const LONGEST: usize = 32 << 20;

/// Parses a document within the limits; an error says what is wrong, or which limit was hit.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    if text.len() > LONGEST {
        return Err(format!("it has {} bytes, more than the {LONGEST} that are parsed", text.len()));
    }
    let count = Cell::new(0);
    let mut counted = serde_json::Deserializer::from_str(text);
    Counter(&count)
        .deserialize(&mut counted)
        .and_then(|()| counted.end())
        .map_err(|error| error.to_string())?;
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[derive(Clone, Copy)]
struct Counter<'a>(&'a Cell<usize>);

impl Counter<'_> {
    fn count<E: de::Error>(self) -> Result<(), E> {
        self.0.set(self.0.get() + 1);
        match self.0.get() > MOST_VALUES {
            true => Err(E::custom(format_args!("it has more than the {MOST_VALUES} values that are parsed"))),
            false => Ok(()),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Counter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counter<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        self.count()
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        self.count()
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        self.count()
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        self.count()
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<(), E> {
        self.count()
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.count()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.count()?;
        while list.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        self.count()?;
        while members.next_key_seed(self)?.is_some() {
            members.next_value_seed(self)?;
        }
        Ok(())
    }
}
