//! Values that are typed when somebody looks at them.
//!
//! The arguments of a tool call can be large, and many a host passes them on without a look; typing them at once would be
//! a third of the work of an approval. What is kept as text was checked to be good JSON, so that looking cannot fail
//! where any JSON will do.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{LazyLock, OnceLock};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::once::Wire;
use super::slot::Blank;
use crate::DecodeError;
use crate::hook::HookInput;
use crate::permission::PermissionUpdate;

/// By these names a value asks our reader for the text of any value, of an object, of a list. What the reader cannot
/// promise to be readable later it reads at once, as every other deserializer does.
pub(crate) const ANY: &str = "$pilothouse::lazy";
pub(crate) const OBJECT: &str = "$pilothouse::lazy:{";
pub(crate) const LIST: &str = "$pilothouse::lazy:[";

/// A value that is kept as the text it came as until somebody looks at it, and written as that text.
///
/// Objects and values of any shape can be used like what they hold. Others may turn out to be broken when they are
/// [read](Lazy::read).
///
/// ```
/// use pilothouse_proto::{CanUseTool, decode};
///
/// let ask: CanUseTool = decode(br#"{"tool_name":"Bash","input":{"command":"ls", "timeout":1e3}}"#)?;
/// assert_eq!(serde_json::to_string(&ask.input)?, r#"{"command":"ls", "timeout":1e3}"#);
/// assert_eq!(ask.input["command"], "ls");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Lazy<T> {
    /// As it came; none if it was made here.
    text: Option<Box<RawValue>>,
    /// As it was read or made; a blank one is the default.
    value: OnceLock<T>,
}

/// What can be read late. Implemented for objects, for values of any shape, for lists of updates, and for what hooks are told.
pub trait Readable: Wire + Default + Clone + for<'de> Deserialize<'de> {
    /// How a reader is asked for its text.
    #[doc(hidden)]
    const NAME: &'static str;
}

impl Readable for Value {
    const NAME: &'static str = ANY;
}

impl Readable for Map<String, Value> {
    const NAME: &'static str = OBJECT;
}

impl Readable for Vec<PermissionUpdate> {
    const NAME: &'static str = LIST;
}

impl Readable for HookInput {
    const NAME: &'static str = OBJECT;
}

impl<T: Readable> Lazy<T> {
    /// The value, typed now if it was not before.
    ///
    /// # Errors
    /// When it is not what its type says. Its text is still there, and is what would be written.
    pub fn read(&self) -> Result<&T, DecodeError> {
        match self.value.get() {
            Some(value) => Ok(value),
            None => {
                let value = self.typed()?;
                Ok(self.value.get_or_init(|| value))
            }
        }
    }

    /// The text as it came, unless the value was read at once or made here.
    pub fn text(&self) -> Option<&str> {
        self.text.as_ref().map(|text| text.get())
    }

    /// The value itself; the default where it cannot be read.
    pub fn into_value(mut self) -> T {
        match self.value.take() {
            Some(value) => value,
            None => self.typed().unwrap_or_default(),
        }
    }

    /// Changes the value, which is from then on written as it is and not as it came.
    pub fn change(&mut self, change: impl FnOnce(&mut T)) {
        let mut value = std::mem::take(self).into_value();
        change(&mut value);
        *self = value.into();
    }

    fn typed(&self) -> Result<T, DecodeError> {
        match &self.text {
            Some(text) => crate::decode(text.get().as_bytes()),
            None => Ok(T::default()),
        }
    }
}

macro_rules! looks_like_what_it_holds {
    ($($ty:ty),*) => {$(
        impl Deref for Lazy<$ty> {
            type Target = $ty;

            fn deref(&self) -> &$ty {
                static BLANK: LazyLock<$ty> = LazyLock::new(Default::default);
                // The reader has seen to it that this cannot fail.
                self.read().unwrap_or(&BLANK)
            }
        }
    )*};
}

looks_like_what_it_holds!(Value, Map<String, Value>);

impl<T> From<T> for Lazy<T> {
    fn from(value: T) -> Self {
        Self { text: None, value: OnceLock::from(value) }
    }
}

impl From<Map<String, Value>> for Lazy<Value> {
    fn from(object: Map<String, Value>) -> Self {
        Self::from(Value::Object(object))
    }
}

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Self { text: None, value: OnceLock::new() }
    }
}

impl<T> Blank for Lazy<T> {
    fn blank() -> Self {
        Self::default()
    }
}

/// Equal if what they hold is; of two that cannot be read, if they were written alike.
impl<T: Readable + PartialEq> PartialEq for Lazy<T> {
    fn eq(&self, other: &Self) -> bool {
        let text = |lazy: &Self| lazy.text.as_ref().map(|text| text.get().to_owned());
        match (self.read(), other.read()) {
            (Ok(one), Ok(other)) => one == other,
            (Err(_), Err(_)) => text(self) == text(other),
            _ => false,
        }
    }
}

impl<T: Readable + Eq> Eq for Lazy<T> {}

impl<T: Readable + fmt::Debug> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.read() {
            Ok(value) => value.fmt(f),
            Err(error) => error.fmt(f),
        }
    }
}

impl<T: Readable> Serialize for Lazy<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (&self.text, self.value.get()) {
            (Some(text), _) => text.serialize(serializer),
            (None, Some(value)) => value.serialize(serializer),
            (None, None) => T::default().serialize(serializer),
        }
    }
}

impl<'de, T: Readable> Deserialize<'de> for Lazy<T> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(T::NAME, LazyVisitor(std::marker::PhantomData))
    }
}

struct LazyVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Readable> Visitor<'de> for LazyVisitor<T> {
    type Value = Lazy<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    /// A value that is read at once.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Lazy<T>, D::Error> {
        T::deserialize(deserializer).map(Lazy::from)
    }

    /// A text, in the form in which serde_json takes it.
    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, text: A) -> Result<Lazy<T>, A::Error> {
        let text = Box::<RawValue>::deserialize(MapAccessDeserializer::new(text))?;
        Ok(Lazy { text: Some(text), value: OnceLock::new() })
    }
}

impl<T: JsonSchema> JsonSchema for Lazy<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

#[cfg(test)]
#[path = "lazy_tests.rs"]
mod tests;
