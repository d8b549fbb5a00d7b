use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::DecodeError;

/// JSON text kept as it came, to be typed later or passed on untouched.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Raw(Box<RawValue>);

impl Raw {
    /// The text of any value that serializes.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// The JSON text.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The text as serde_json keeps it, for whoever speaks in those terms.
    pub fn as_raw_value(&self) -> &RawValue {
        &self.0
    }

    /// Reads the text as a `T`.
    pub fn decode<T: crate::wire::Wire>(&self) -> Result<T, DecodeError> {
        crate::decode(self.get().as_bytes())
    }
}

impl From<Box<RawValue>> for Raw {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl Eq for Raw {}

/// Equal as text; two spellings of one value differ.
impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl JsonSchema for Raw {
    fn schema_name() -> Cow<'static, str> {
        "AnyJson".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::from(true)
    }
}
