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
/// Kept as it was written: each turn begins with the names of dozens of tools and commands, and an allocation for each was
/// an eighth of the cost of a turn.
///
/// ```
/// use pilothouse_proto::Texts;
///
/// let tools: Texts = ["Bash", "Read"].into_iter().collect();
/// assert!(tools.contains("Read"));
/// assert_eq!((tools.len(), &tools[0]), (2, "Bash"));
/// assert_eq!(tools.iter().collect::<Vec<_>>(), ["Bash", "Read"]);
/// ```
#[derive(Clone)]
pub struct Texts(Kept);

#[derive(Clone)]
enum Kept {
    /// What is between the brackets of a JSON list of strings without escapes, with single commas between them.
    Written(Box<str>),
    Apart(Vec<Box<str>>),
}

/// By this name our own reader is asked for a list of strings as it is written.
pub(crate) const TEXTS: &str = "$pilothouse::Texts";

impl Texts {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The text at a position.
    pub fn get(&self, at: usize) -> Option<&str> {
        self.iter().nth(at)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let (mut written, apart) = match &self.0 {
            Kept::Written(list) => (list.get(1..), &[][..]),
            Kept::Apart(texts) => (None, texts.as_slice()),
        };
        let split = std::iter::from_fn(move || {
            let (text, rest) = written?.split_once('"')?;
            written = rest.get(r#",""#.len()..);
            Some(text)
        });
        split.chain(apart.iter().map(|text| &**text))
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
        if let Kept::Written(_) = self.0 {
            self.0 = Kept::Apart(self.iter().map(Into::into).collect());
        }
        if let Kept::Apart(texts) = &mut self.0 {
            texts.push(text.into());
        }
    }
}

impl Default for Texts {
    fn default() -> Self {
        Self(Kept::Apart(Vec::new()))
    }
}

impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Texts {}

impl Index<usize> for Texts {
    type Output = str;

    fn index(&self, at: usize) -> &str {
        self.get(at).unwrap_or_else(|| panic!("there are {} texts, none at {at}", self.len()))
    }
}

impl<S: AsRef<str>> FromIterator<S> for Texts {
    fn from_iter<I: IntoIterator<Item = S>>(texts: I) -> Self {
        Self(Kept::Apart(texts.into_iter().map(|text| text.as_ref().into()).collect()))
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
        deserializer.deserialize_newtype_struct(TEXTS, Written)
    }
}

/// Takes a list as it is written; readers who do not know how to give it that way give it otherwise.
struct Written;

impl<'de> Visitor<'de> for Written {
    type Value = Texts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        TextsVisitor.expecting(f)
    }

    fn visit_borrowed_str<E: Error>(self, list: &'de str) -> Result<Texts, E> {
        Ok(Texts(Kept::Written(list.into())))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Texts, D::Error> {
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
