//! Lists of texts, some of which old CLIs spelled otherwise: read leniently, written as the current ones do.

use std::borrow::Cow;
use std::fmt;
use std::ops::Index;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A list of texts; a bare string is read as a list of one, an object with a `name` as that name.
///
/// Kept in one piece: each turn begins with the names of dozens of tools and commands, and an allocation for each was an
/// eighth of the cost of a turn.
///
/// ```
/// use pilothouse_proto::Texts;
///
/// let tools: Texts = ["Bash", "Read"].into_iter().collect();
/// assert!(tools.contains("Read"));
/// assert_eq!((tools.len(), &tools[0]), (2, "Bash"));
/// assert_eq!(tools.iter().collect::<Vec<_>>(), ["Bash", "Read"]);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Texts {
    joined: String,
    /// Where each text ends in `joined`.
    ends: Vec<usize>,
}

impl Texts {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text at a position.
    pub fn get(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)?;
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        self.joined.get(start..end)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|at| self.get(at).unwrap_or_default())
    }

    /// Whether one of them is this text.
    pub fn contains(&self, text: &str) -> bool {
        self.iter().any(|one| one == text)
    }

    /// All of them in one text.
    pub fn join(&self, separator: &str) -> String {
        self.iter().collect::<Vec<_>>().join(separator)
    }

    /// Adds one.
    pub fn push(&mut self, text: &str) {
        if self.ends.capacity() == 0 {
            // Names of tools and the like: seldom fewer, seldom longer.
            self.ends.reserve(32);
            self.joined.reserve(384);
        }
        self.joined.push_str(text);
        self.ends.push(self.joined.len());
    }
}

impl Index<usize> for Texts {
    type Output = str;

    fn index(&self, at: usize) -> &str {
        self.get(at).unwrap_or_else(|| panic!("there are {} texts, none at {at}", self.len()))
    }
}

impl<S: AsRef<str>> FromIterator<S> for Texts {
    fn from_iter<I: IntoIterator<Item = S>>(texts: I) -> Self {
        let mut all = Self::default();
        texts.into_iter().for_each(|text| all.push(text.as_ref()));
        all
    }
}

impl<S: AsRef<str>> From<Vec<S>> for Texts {
    fn from(texts: Vec<S>) -> Self {
        texts.into_iter().collect()
    }
}

impl From<Texts> for Vec<String> {
    fn from(texts: Texts) -> Self {
        texts.iter().map(str::to_owned).collect()
    }
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl crate::wire::Blank for Texts {
    fn blank() -> Self {
        Self::default()
    }
}

impl Serialize for Texts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
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
        Ok([text].into_iter().collect())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Texts, A::Error> {
        let mut texts = Texts::default();
        while seq.next_element_seed(OneMore(&mut texts))?.is_some() {}
        Ok(texts)
    }
}

/// Reads a text and adds it to those.
struct OneMore<'a>(&'a mut Texts);

impl<'de> DeserializeSeed<'de> for OneMore<'_> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneMore<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, or an object with a name")
    }

    #[inline]
    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.push(text);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut name = None;
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if let ("name", Value::String(text)) = (&*key, value) {
                name = Some(text);
            }
        }
        let name = name.ok_or_else(|| A::Error::missing_field("name"))?;
        self.0.push(&name);
        Ok(())
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
