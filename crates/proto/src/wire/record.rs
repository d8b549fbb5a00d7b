use std::fmt;
use std::marker::PhantomData;

use schemars::{Schema, SchemaGenerator};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde_json::{Map, Value};

use super::extra::Extra;
use super::opt::Opt;
use super::slot::{Blank, FieldSchema};

/// What records and unions share: they are read from and written to an object that someone else opened.
///
/// This is what lets a union hand its object over to the variant after it has read the tag, in the same pass.
pub(crate) trait Fields: Blank {
    /// What an error calls it.
    const NAME: &'static str;

    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error>;

    /// Reads into a blank value where it stands. Records are large, and most lie inside another one or on the heap: read
    /// on the stack first, they would be moved at every level.
    fn fill<'de, A: MapAccess<'de>>(&mut self, map: A) -> Result<(), A::Error> {
        *self = Self::from_map(map)?;
        Ok(())
    }

    fn put_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// The fields this value does not name.
    fn extra_mut(&mut self) -> &mut Extra;
}

impl<T: Fields> Fields for Box<T> {
    const NAME: &'static str = T::NAME;

    #[inline]
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        let mut read = Self::blank();
        T::fill(&mut read, map)?;
        Ok(read)
    }

    #[inline]
    fn fill<'de, A: MapAccess<'de>>(&mut self, map: A) -> Result<(), A::Error> {
        T::fill(self, map)
    }

    fn put_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        T::put_fields(self, map)
    }

    fn extra_mut(&mut self) -> &mut Extra {
        T::extra_mut(self)
    }
}

pub(crate) struct FieldsVisitor<T>(PhantomData<T>);

impl<T> FieldsVisitor<T> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: Fields> Visitor<'de> for FieldsVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object ({})", T::NAME)
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::from_map(map)
    }
}

/// Reads an object into a blank value where it stands.
pub(crate) struct Fill<'a, T>(pub(crate) &'a mut T);

impl<'de, T: Fields> DeserializeSeed<'de> for Fill<'_, T> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T: Fields> Visitor<'de> for Fill<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object ({})", T::NAME)
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.fill(map)
    }
}

/// The same for a field that may be null.
pub(crate) struct FillOpt<'a, T>(pub(crate) &'a mut Opt<T>);

impl<'de, T: Fields> DeserializeSeed<'de> for FillOpt<'_, T> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, T: Fields> Visitor<'de> for FillOpt<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object ({})", T::NAME)
    }

    fn visit_none<E>(self) -> Result<(), E> {
        *self.0 = Opt::Null;
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        *self.0 = Opt::Null;
        Ok(())
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        *self.0 = Opt::Some(T::blank());
        match self.0.as_mut() {
            Some(blank) => Fill(blank).deserialize(deserializer),
            None => Ok(()),
        }
    }
}

pub(crate) fn describe_record(
    generator: &mut SchemaGenerator,
    doc: &str,
    keeps_more: bool,
    fields: &[FieldSchema],
) -> Schema {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in fields {
        let mut schema = (field.schema)(generator);
        let doc = field.doc.trim();
        if !doc.is_empty() {
            schema.insert("description".to_owned(), doc.into());
        }
        properties.insert(field.name.to_owned(), schema.to_value());
        if field.required {
            required.push(Value::from(field.name));
        }
    }
    let mut schema = schemars::json_schema!({ "type": "object", "description": doc.trim() });
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), keeps_more.into());
    schema
}

/// The wire name of a field: its own name, or the one given after `as`.
macro_rules! wire_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident, $wire:literal) => {
        $wire
    };
    (@also $alias:literal, $named:expr) => {
        $named
    };
}

/// Declares an object of the wire.
///
/// A field is `name: Type`, with `as "wireName"` when the wire spells it otherwise, `or "old_name"` for a spelling that
/// is read but never written, and `= default` when a missing key is read as the type's default. Only `Opt` fields may
/// be missing besides. Each record ends in `extra`, the fields it does not name.
macro_rules! record {
    ($(
        $(#[doc = $doc:literal])*
        $(#[derive($($derive:ident),*)])?
        pub struct $Name:ident {
            $(
                $(#[doc = $field_doc:literal])*
                $field:ident $(as $wire:literal)? $(or $alias:literal)* : $ty:ty $(= $default:ident)?
            ),* $(,)?
        }
    )+) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq $($(, $derive)*)?)]
        pub struct $Name {
            $( $(#[doc = $field_doc])* pub $field: $ty, )*
            /// Fields that this type does not name.
            pub extra: $crate::wire::Extra,
        }

        impl $crate::wire::Fields for $Name {
            const NAME: &'static str = stringify!($Name);

            fn from_map<'de, A: ::serde::de::MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
                let mut read = <Self as $crate::wire::Blank>::blank();
                $crate::wire::Fields::fill(&mut read, map)?;
                Ok(read)
            }

            fn fill<'de, A: ::serde::de::MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
                use $crate::wire::{ListedField as _, Slot};
                #[expect(non_camel_case_types, reason = "they are the fields")]
                #[derive(Clone, Copy)]
                enum Named { $( $field, )* extra }
                const NAMES: &[&str] = &[ $( $crate::wire::wire_name!($field $(, $wire)?), $( $alias, )* )* ];
                const NAMED: &[Named] = &[ $( Named::$field, $( $crate::wire::wire_name!(@also $alias, Named::$field), )* )* ];
                static SLOTS: [u8; $crate::wire::slots_for(NAMES.len())] = $crate::wire::spread(NAMES);
                static NEXT: [::std::sync::atomic::AtomicU8; NAMES.len() + 1] =
                    [const { ::std::sync::atomic::AtomicU8::new(0) }; NAMES.len() + 1];
                const FIELDS: $crate::wire::Names = $crate::wire::Names { all: NAMES, slots: &SLOTS, next: &NEXT };
                $( let mut $field = false; )*
                let (mut last, mut other) = (0, None);
                loop {
                    let named = match FIELDS.next_key(&mut map, last, &mut other)? {
                        $crate::wire::Found::End => break,
                        $crate::wire::Found::Other => {
                            Slot(&mut self.extra).read_unnamed(other.take(), &mut map)?;
                            continue;
                        }
                        $crate::wire::Found::Named(at) => {
                            last = usize::from(at) + 1;
                            NAMED.get(usize::from(at)).copied().unwrap_or(Named::extra)
                        }
                    };
                    match named {
                        $( Named::$field => {
                            Slot(&mut self.$field).read(&mut map, $field)?;
                            $field = true;
                        } )*
                        // Every position has its field.
                        Named::extra => {}
                    }
                }
                $(
                    if Slot::<$ty>::REQUIRED && !$field {
                        $crate::wire::record!(@missing $crate::wire::wire_name!($field $(, $wire)?) $(, $default)?);
                    }
                )*
                let _checked_all = Slot::<bool>::REQUIRED;
                Ok(())
            }

            fn put_fields<M: ::serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                use $crate::wire::ProbedField as _;
                $(
                    if !$crate::wire::Probe(&self.$field).is_absent() {
                        $crate::wire::put(map, $crate::wire::wire_name!($field $(, $wire)?), &self.$field)?;
                    }
                )*
                if !$crate::wire::Probe(&self.extra).is_absent() {
                    for (key, value) in self.extra.iter() {
                        $crate::wire::put(map, key, value)?;
                    }
                }
                Ok(())
            }

            fn extra_mut(&mut self) -> &mut $crate::wire::Extra {
                &mut self.extra
            }
        }

        impl $crate::wire::Blank for $Name {
            fn blank() -> Self {
                Self { $( $field: $crate::wire::Blank::blank(), )* extra: $crate::wire::Extra::new() }
            }
        }

        $crate::wire::record!(@serde $Name);

        impl ::schemars::JsonSchema for $Name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($Name).into()
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($Name)).into()
            }

            fn json_schema(generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                use $crate::wire::ListedField as _;
                let keeps_more = $crate::wire::Slot::<::serde_json::Value>::REQUIRED;
                $crate::wire::describe_record(generator, concat!($($doc, "\n"),*), keeps_more, &[
                    $( $crate::wire::FieldSchema::new(
                        $crate::wire::wire_name!($field $(, $wire)?),
                        concat!($($field_doc, "\n"),*),
                        $crate::wire::Slot::<$ty>::REQUIRED,
                        ::std::marker::PhantomData::<$ty>,
                    ), )*
                ])
            }
        }
    )+};
    (@missing $name:expr) => { return Err(::serde::de::Error::missing_field($name)) };
    (@missing $name:expr, default) => {};
    (@serde $Name:ident) => {
        impl ::serde::Serialize for $Name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use ::serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $crate::wire::Fields::put_fields(self, &mut map)?;
                map.end()
            }
        }

        impl $crate::wire::Wire for $Name {
            fn from_text(text: &str) -> Result<Self, ::serde_json::Error> {
                $crate::wire::read(text)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $Name {
            #[inline]
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_map($crate::wire::FieldsVisitor::<Self>::new())
            }
        }
    };
}

pub(crate) use {record, wire_name};
