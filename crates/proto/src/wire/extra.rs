use std::borrow::Cow;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// The fields of an object that its type does not name, in the order they came.
///
/// A CLI may send more than any published declaration lists; what we do not know is kept here and written back. It
/// reads like a [`Map`], and costs one pointer while it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra(Option<Box<Map<String, Value>>>);

static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);

impl Extra {
    /// No extra fields.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Sets a field; the value it had before is returned.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.0.get_or_insert_default().insert(key.into(), value.into())
    }

    /// Takes a field out, keeping the order of the others.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        let map = self.0.as_mut()?;
        let taken = map.shift_remove(key);
        if map.is_empty() {
            self.0 = None;
        }
        taken
    }
}

impl Deref for Extra {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        self.0.as_deref().unwrap_or(&EMPTY)
    }
}

impl From<Map<String, Value>> for Extra {
    fn from(map: Map<String, Value>) -> Self {
        Self((!map.is_empty()).then(|| Box::new(map)))
    }
}

impl From<Extra> for Map<String, Value> {
    fn from(extra: Extra) -> Self {
        extra.0.map(|map| *map).unwrap_or_default()
    }
}

impl FromIterator<(String, Value)> for Extra {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(fields: I) -> Self {
        fields.into_iter().collect::<Map<_, _>>().into()
    }
}

impl JsonSchema for Extra {
    fn schema_name() -> Cow<'static, str> {
        "Extra".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "object" })
    }
}
