use std::fmt;
use std::marker::PhantomData;

use schemars::{Schema, SchemaGenerator};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde_json::{Map, Value};

use super::extra::Extra;
use super::slot::FieldSchema;

/// What records and unions share: they are read from and written to an object that someone else opened.
///
/// This is what lets a union hand its object over to the variant after it has read the tag, in the same pass.
pub(crate) trait Fields: Sized {
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error>;

    fn put_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// The fields this value does not name.
    fn extra_mut(&mut self) -> &mut Extra;
}

impl<T: Fields> Fields for Box<T> {
    #[inline]
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        T::from_map(map).map(Box::new)
    }

    fn put_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        T::put_fields(self, map)
    }

    fn extra_mut(&mut self) -> &mut Extra {
        T::extra_mut(self)
    }
}

pub(crate) struct FieldsVisitor<T>(&'static str, PhantomData<T>);

impl<T> FieldsVisitor<T> {
    pub(crate) const fn new(expecting: &'static str) -> Self {
        Self(expecting, PhantomData)
    }
}

impl<'de, T: Fields> Visitor<'de> for FieldsVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object ({})", self.0)
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::from_map(map)
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
            fn from_map<'de, A: ::serde::de::MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
                use $crate::wire::{ListedField as _, Slot};
                let mut read = <Self as $crate::wire::Blank>::blank();
                $( let mut $field = false; )*
                while let Some($crate::wire::Key(key)) = $crate::wire::next_key(&mut map)? {
                    match &*key {
                        $( $crate::wire::wire_name!($field $(, $wire)?) $(| $alias)* => {
                            Slot(&mut read.$field).read(&mut map)?;
                            $field = true;
                        } )*
                        _ => Slot(&mut read.extra).read_unnamed(&key, &mut map)?,
                    }
                }
                $(
                    if Slot::<$ty>::REQUIRED && !$field {
                        $crate::wire::record!(@missing $crate::wire::wire_name!($field $(, $wire)?) $(, $default)?);
                    }
                )*
                let _checked_all = Slot::<bool>::REQUIRED;
                Ok(read)
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
                ::serde_json::from_str(text)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $Name {
            #[inline]
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_map($crate::wire::FieldsVisitor::<Self>::new(stringify!($Name)))
            }
        }
    };
}

pub(crate) use {record, wire_name};
