/// Declares a set of strings that may grow: a value we do not know is kept in `Other`.
macro_rules! open_enum {
    ($(
        $(#[doc = $doc:literal])*
        pub enum $Name:ident {
            $( $(#[doc = $variant_doc:literal])* $Variant:ident = $wire:literal $(or $alias:literal)* ),* $(,)?
        }
    )+) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $Name {
            $(
                $(#[doc = $variant_doc])*
                #[doc = concat!("On the wire: `", $wire, "`.")]
                $Variant,
            )*
            /// A value that this version does not know, as it came.
            Other(String),
        }

        impl $Name {
            /// Every value that this version knows.
            pub const KNOWN: &'static [&'static str] = &[$($wire),*];

            /// The string on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$Variant => $wire, )*
                    Self::Other(other) => other,
                }
            }
        }

        impl From<&str> for $Name {
            fn from(text: &str) -> Self {
                match text {
                    $( $wire $(| $alias)* => Self::$Variant, )*
                    other => Self::Other(other.to_owned()),
                }
            }
        }

        /// Refuses a value that this version does not know, which `From<&str>` keeps in `Other`.
        impl ::std::str::FromStr for $Name {
            type Err = $crate::UnknownValue;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match Self::from(text) {
                    Self::Other(value) => Err($crate::UnknownValue { value, known: Self::KNOWN }),
                    known => Ok(known),
                }
            }
        }

        impl $crate::wire::Blank for $Name {
            fn blank() -> Self {
                Self::Other(String::new())
            }
        }

        impl ::std::fmt::Display for $Name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::serde::Serialize for $Name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $Name {
            #[inline]
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::wire::Key::deserialize(deserializer).map(|text| Self::from(&*text.0))
            }
        }

        impl ::schemars::JsonSchema for $Name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($Name).into()
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($Name)).into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!({
                    "description": concat!($($doc, "\n"),*).trim(),
                    "anyOf": [{ "enum": Self::KNOWN }, { "type": "string" }],
                })
            }
        }
    )+};
}

pub(crate) use open_enum;
