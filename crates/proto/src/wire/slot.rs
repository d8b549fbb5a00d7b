use std::collections::BTreeMap;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, MapAccess};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use super::extra::Extra;
use super::keys::Key;
use super::opt::Opt;
use super::record::{Fields, Fill, FillOpt};

/// A field while its object is being read.
///
/// The members of [`ListedField`] are the rule for every type; the inherent ones below are the exceptions, and the
/// compiler prefers those. So a record needs no attribute to say that an `Opt` may be missing.
///
/// Reading is one call per field and never inlined: the parser would otherwise be expanded into every field of every
/// record, which made this crate take minutes to compile.
pub(crate) struct Slot<'a, T>(pub(crate) &'a mut T);

pub(crate) trait ListedField<'de, T: Deserialize<'de>>: Sized {
    const REQUIRED: bool = true;

    /// Reads the value. `again` says that the object has held the key before; the last one counts.
    fn read<A: MapAccess<'de>>(self, map: &mut A, again: bool) -> Result<(), A::Error>;
}

impl<'de, T: Deserialize<'de>> ListedField<'de, T> for Slot<'_, T> {
    #[inline(never)]
    fn read<A: MapAccess<'de>>(self, map: &mut A, _: bool) -> Result<(), A::Error> {
        *self.0 = map.next_value()?;
        Ok(())
    }
}

/// Objects are read where they stand.
impl<T: Fields> Slot<'_, T> {
    #[inline(never)]
    pub(crate) fn read<'de, A: MapAccess<'de>>(self, map: &mut A, again: bool) -> Result<(), A::Error> {
        if again {
            *self.0 = T::blank();
        }
        map.next_value_seed(Fill(self.0))
    }
}

impl<T: Fields> Slot<'_, Opt<T>> {
    #[inline(never)]
    pub(crate) fn read<'de, A: MapAccess<'de>>(self, map: &mut A, _: bool) -> Result<(), A::Error> {
        map.next_value_seed(FillOpt(self.0))
    }
}

impl<T> Slot<'_, Opt<T>> {
    pub(crate) const REQUIRED: bool = false;
}

/// Unnamed fields are read one by one, by [`Extra::insert`].
impl Slot<'_, Extra> {
    #[inline(never)]
    pub(crate) fn read_unnamed<'de, A: MapAccess<'de>>(
        self,
        key: Option<Key<'de>>,
        map: &mut A,
    ) -> Result<(), A::Error> {
        let value = map.next_value::<Value>()?;
        if let Some(key) = key {
            self.0.insert(&*key.0, value);
        }
        Ok(())
    }
}

/// What a field holds until it is read. Never seen outside: a record with a required field still blank is an error.
///
/// Filling a whole record in place, instead of one optional variable per field, keeps the generated code small.
pub(crate) trait Blank: Sized {
    fn blank() -> Self;
}

macro_rules! blank_by_default {
    ($($ty:ty),*) => {$(
        impl Blank for $ty {
            #[inline]
            fn blank() -> Self {
                Self::default()
            }
        }
    )*};
}

blank_by_default!(bool, u64, i64, String, Value, Map<String, Value>, Extra);

impl Blank for Number {
    fn blank() -> Self {
        Self::from(0)
    }
}

impl Blank for super::raw::Raw {
    fn blank() -> Self {
        Self::from(RawValue::NULL.to_owned())
    }
}

impl<T> Blank for Vec<T> {
    fn blank() -> Self {
        Self::new()
    }
}

impl<K, V> Blank for BTreeMap<K, V> {
    fn blank() -> Self {
        Self::new()
    }
}

impl<T> Blank for Option<T> {
    fn blank() -> Self {
        None
    }
}

impl<T> Blank for Opt<T> {
    fn blank() -> Self {
        Self::Absent
    }
}

impl<T: Blank> Blank for Box<T> {
    fn blank() -> Self {
        Self::new(T::blank())
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
