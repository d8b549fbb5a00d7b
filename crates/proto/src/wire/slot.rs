use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Error, MapAccess};

use super::large::{OptText, Text};
use super::opt::Opt;

/// A field while its object is being read.
///
/// The methods of [`ListedField`] are the rule for every type; the inherent ones below are the exceptions, and the
/// compiler prefers those. So a record needs no attribute to say that an `Opt` may be missing.
pub(crate) struct Slot<T>(Option<T>);

impl<T> Slot<T> {
    pub(crate) const EMPTY: Self = Self(None);

    pub(crate) const fn of(value: T) -> Self {
        Self(Some(value))
    }

    /// The value, or the type's default when the key was missing.
    pub(crate) fn or_default(self) -> T
    where
        T: Default,
    {
        self.0.unwrap_or_default()
    }
}

pub(crate) trait ListedField<T>: Sized {
    const REQUIRED: bool = true;

    fn read<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error>
    where
        T: Deserialize<'de>;

    fn finish<E: Error>(self, name: &'static str) -> Result<T, E>;
}

impl<T> ListedField<T> for Slot<T> {
    #[inline]
    fn read<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error>
    where
        T: Deserialize<'de>,
    {
        self.0 = Some(map.next_value()?);
        Ok(())
    }

    #[inline]
    fn finish<E: Error>(self, name: &'static str) -> Result<T, E> {
        self.0.ok_or_else(|| E::missing_field(name))
    }
}

impl<T> Slot<Opt<T>> {
    pub(crate) const REQUIRED: bool = false;

    #[inline]
    pub(crate) fn finish<E: Error>(self, _: &'static str) -> Result<Opt<T>, E> {
        Ok(self.0.unwrap_or_default())
    }
}

/// Strings may be tens of megabytes long, see [`super::large`].
impl Slot<String> {
    #[inline]
    pub(crate) fn read<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        self.0 = Some(map.next_value_seed(Text)?);
        Ok(())
    }
}

impl Slot<Opt<String>> {
    #[inline]
    pub(crate) fn read<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        self.0 = Some(map.next_value_seed(OptText)?);
        Ok(())
    }
}

/// A field while its object is being written.
pub(crate) struct Probe<'a, T>(pub(crate) &'a T);

impl<T> Probe<'_, Opt<T>> {
    #[inline]
    pub(crate) fn is_absent(&self) -> bool {
        self.0.is_absent()
    }
}

/// The rule for every other type: a field is always written.
impl<T> ProbedField for Probe<'_, T> {}

pub(crate) trait ProbedField {
    #[inline]
    fn is_absent(&self) -> bool {
        false
    }
}

/// How a record's schema lists one field.
pub(crate) struct FieldSchema {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) required: bool,
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
}

impl FieldSchema {
    pub(crate) const fn new<T: JsonSchema>(
        name: &'static str,
        doc: &'static str,
        required: bool,
        _: PhantomData<T>,
    ) -> Self {
        Self { name, doc, required, schema: |generator| generator.subschema_for::<T>() }
    }
}
