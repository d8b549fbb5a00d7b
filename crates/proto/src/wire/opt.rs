use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An optional field that tells a missing key from an explicit `null`.
///
/// CLIs and SDKs disagree about which of the two they send, and a few requests give `null` a meaning of its own, so
/// both are kept. Most readers only want [`Opt::as_ref`] or [`Opt::into_option`].
///
/// ```
/// use pilothouse_proto::Opt;
///
/// let model: Opt<String> = Some("opus".to_owned()).into();
/// assert_eq!(model.as_deref(), Some("opus"));
/// assert!(Opt::<u64>::Absent.is_absent());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Opt<T> {
    /// The key is not there.
    #[default]
    Absent,
    /// The key is there with `null`.
    Null,
    /// The key is there with a value.
    Some(T),
}

impl<T> Opt<T> {
    /// Whether the key is missing, so that nothing is written.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Whether the key is there with `null`.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether there is a value.
    pub const fn is_some(&self) -> bool {
        matches!(self, Self::Some(_))
    }

    /// Whether there is no value, be it a missing key or `null`.
    pub const fn is_none(&self) -> bool {
        !self.is_some()
    }

    /// The value, if there is one.
    pub const fn as_ref(&self) -> Option<&T> {
        match self {
            Self::Some(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// The value to change, if there is one.
    pub const fn as_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Some(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// The value behind a reference-like type, as `Option::as_deref`.
    pub fn as_deref(&self) -> Option<&T::Target>
    where
        T: std::ops::Deref,
    {
        self.as_ref().map(T::deref)
    }

    /// The value, dropping the difference between absent and `null`.
    pub fn into_option(self) -> Option<T> {
        match self {
            Self::Some(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// The value or the given one.
    pub fn unwrap_or(self, default: T) -> T {
        self.into_option().unwrap_or(default)
    }

    /// The value or the type's default.
    pub fn unwrap_or_default(self) -> T
    where
        T: Default,
    {
        self.into_option().unwrap_or_default()
    }

    /// Changes the value, keeping absent and `null` as they are.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Opt<U> {
        match self {
            Self::Absent => Opt::Absent,
            Self::Null => Opt::Null,
            Self::Some(value) => Opt::Some(change(value)),
        }
    }

    /// Takes the value out and leaves the field absent.
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }
}

impl<T> From<T> for Opt<T> {
    fn from(value: T) -> Self {
        Self::Some(value)
    }
}

/// `None` becomes absent: hosts leave out what they do not set.
impl<T> From<Option<T>> for Opt<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Self::Some)
    }
}

impl<T> From<T> for Opt<Box<T>> {
    fn from(value: T) -> Self {
        Self::Some(Box::new(value))
    }
}

impl<T> From<Option<T>> for Opt<Box<T>> {
    fn from(value: Option<T>) -> Self {
        value.map(Box::new).into()
    }
}

impl From<&str> for Opt<String> {
    fn from(text: &str) -> Self {
        Self::Some(text.to_owned())
    }
}

impl<T: Serialize> Serialize for Opt<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_ref().serialize(serializer)
    }
}

/// Reads a value that is there; only the record around it can know that a key is absent.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Opt<T> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Some))
    }
}

impl<T: JsonSchema> JsonSchema for Opt<T> {
    fn schema_name() -> Cow<'static, str> {
        Option::<T>::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        Option::<T>::schema_id()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Option::<T>::json_schema(generator)
    }
}
