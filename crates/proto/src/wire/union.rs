use std::borrow::Cow;
use std::cell::Cell;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Error, MapAccess};
use serde_json::{Map, Value};

use super::extra::Extra;

/// A member of an open union whose tag this version does not know, kept whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    /// The tag as it came.
    pub tag: String,
    /// Every other field.
    pub fields: Extra,
}

impl JsonSchema for Unknown {
    fn schema_name() -> Cow<'static, str> {
        "Unknown".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "type": "object",
            "description": "A member whose tag this version does not know, kept whole.",
        })
    }
}

/// A union as its macro makes it: the tag was read, the rest of the object is the variant's.
pub(crate) trait Tagged: Sized {
    const TAG: &'static str;

    fn from_tagged_map<'de, A: MapAccess<'de>>(tag: &str, map: A) -> Result<Self, A::Error>;

    /// What an object without a tag is.
    fn from_untagged<'de, A: MapAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(A::Error::missing_field(Self::TAG))
    }
}

thread_local! {
    static UNKNOWN_SEEN: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Reads something and counts the members at any level that have no type here. Nothing is left to be read later.
pub(crate) fn count_unknown<T>(read: impl FnOnce() -> T) -> (T, usize) {
    let before = UNKNOWN_SEEN.replace(Some(0));
    let value = read();
    (value, UNKNOWN_SEEN.replace(before).unwrap_or_default())
}

/// Whether unknown members are being counted.
pub(crate) fn counts_unknown() -> bool {
    UNKNOWN_SEEN.get().is_some()
}

pub(crate) fn read_unknown<'de, A: MapAccess<'de>>(tag: &str, mut map: A) -> Result<Unknown, A::Error> {
    UNKNOWN_SEEN.set(UNKNOWN_SEEN.get().map(|seen| seen + 1));
    let mut fields = Extra::new();
    while let Some((key, value)) = map.next_entry::<String, Value>()? {
        fields.insert(key, value);
    }
    Ok(Unknown { tag: tag.to_owned(), fields })
}

pub(crate) fn describe_union(doc: &str, tag: &str, variants: Vec<(&'static str, Schema)>) -> Schema {
    let mut arms: Vec<Value> = variants
        .into_iter()
        .map(|(name, schema)| {
            let mut properties = Map::new();
            properties.insert(tag.to_owned(), schemars::json_schema!({ "const": name }).to_value());
            let known = schemars::json_schema!({ "properties": properties, "required": [tag] });
            schemars::json_schema!({ "allOf": [known, schema] }).to_value()
        })
        .collect();
    arms.push(schemars::json_schema!({ "type": "object", "required": [tag] }).to_value());
    schemars::json_schema!({ "description": doc.trim(), "anyOf": arms })
}

/// Declares an open union: objects told apart by one string field.
///
/// A row is `"tag" => Variant(Type)`; further tags after `|` are read but never written. A known tag with a broken body
/// is an error; only an unknown tag becomes `Unknown`. `or Variant(Type)` says what no tag means.
macro_rules! union {
    ($(
        $(#[doc = $doc:literal])*
        pub enum $Name:ident by $tag:literal $(or $Bare:ident($bare:ty))? {
            $( $(#[doc = $variant_doc:literal])* $first:literal $(| $alias:literal)* => $Variant:ident($ty:ty) ),* $(,)?
        }
    )+) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $Name {
            $(
                $(#[doc = $variant_doc])*
                #[doc = concat!("`", $tag, "`: `", $first, "`.")]
                $Variant($ty),
            )*
            $(
                /// One without the tag.
                $Bare($bare),
            )?
            /// A member that this version does not know.
            Unknown($crate::wire::Unknown),
        }

        impl $Name {
            /// Every tag that this version knows.
            pub const KNOWN: &'static [&'static str] = &[$($first),*];

            /// The tag as it is written on the wire.
            pub fn tag(&self) -> &str {
                match self {
                    $( Self::$Variant(_) => $first, )*
                    $( Self::$Bare(_) => "", )?
                    Self::Unknown(unknown) => &unknown.tag,
                }
            }
        }

        impl $crate::wire::Tagged for $Name {
            const TAG: &'static str = $tag;

            #[inline]
            fn from_tagged_map<'de, A: ::serde::de::MapAccess<'de>>(tag: &str, map: A) -> Result<Self, A::Error> {
                match tag {
                    $( $first $(| $alias)* => <$ty as $crate::wire::Fields>::from_map(map).map(Self::$Variant), )*
                    other => $crate::wire::read_unknown(other, map).map(Self::Unknown),
                }
            }

            $(
                fn from_untagged<'de, A: ::serde::de::MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
                    <$bare as $crate::wire::Fields>::from_map(map).map(Self::$Bare)
                }
            )?
        }

        impl $crate::wire::Fields for $Name {
            const NAME: &'static str = stringify!($Name);

            #[inline]
            fn from_map<'de, A: ::serde::de::MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
                use $crate::wire::First;
                let tag = match $crate::wire::first_key(&mut map, concat!("$pilothouse::tag:", $tag))? {
                    Some(First::Key(key)) if key.0 == $tag => map.next_value::<$crate::wire::Key<'de>>()?,
                    Some(First::Tag(tag)) => tag,
                    Some(First::Untagged) => return <Self as $crate::wire::Tagged>::from_untagged(map),
                    Some(First::Key(key)) => return $crate::wire::from_late_tag(key, map),
                    None => return Err(<A::Error as ::serde::de::Error>::missing_field($tag)),
                };
                let mut read = <Self as $crate::wire::Tagged>::from_tagged_map(&tag.0, map)?;
                // A second tag in the same object would be written twice.
                $crate::wire::Fields::extra_mut(&mut read).take($tag);
                Ok(read)
            }

            fn put_fields<M: ::serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                $( if let Self::$Bare(body) = self {
                    return $crate::wire::Fields::put_fields(body, map);
                } )?
                $crate::wire::put(map, $tag, self.tag())?;
                match self {
                    $( Self::$Variant(body) => $crate::wire::Fields::put_fields(body, map), )*
                    $( Self::$Bare(body) => $crate::wire::Fields::put_fields(body, map), )?
                    Self::Unknown(unknown) => {
                        unknown.fields.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))
                    }
                }
            }

            fn extra_mut(&mut self) -> &mut $crate::wire::Extra {
                match self {
                    $( Self::$Variant(body) => $crate::wire::Fields::extra_mut(body), )*
                    $( Self::$Bare(body) => $crate::wire::Fields::extra_mut(body), )?
                    Self::Unknown(unknown) => &mut unknown.fields,
                }
            }
        }

        impl $crate::wire::Blank for $Name {
            fn blank() -> Self {
                Self::Unknown($crate::wire::Unknown::default())
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
                $crate::wire::describe_union(concat!($($doc, "\n"),*), $tag, vec![
                    $( ($first, generator.subschema_for::<$ty>()), )*
                ])
            }
        }
    )+};
}

pub(crate) use union;
