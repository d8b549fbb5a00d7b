use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::wire::Key;

/// What a router needs of a line: its type, its subtype and the request it belongs to. Nothing is copied.
///
/// It succeeds on frames whose body is malformed, so that a broken control request can still be answered.
///
/// ```
/// use pilothouse_proto::Head;
///
/// let line = r#"{"type":"control_request","request_id":"7","request":{"subtype":"can_use_tool","input":3}}"#;
/// let head = Head::peek(line.as_bytes()).expect("an object with a type");
/// assert_eq!((head.kind(), head.subtype(), head.request_id()), ("control_request", Some("can_use_tool"), Some("7")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head<'a> {
    kind: Option<Cow<'a, str>>,
    subtype: Option<Cow<'a, str>>,
    request_id: Option<Cow<'a, str>>,
}

impl<'a> Head<'a> {
    /// Looks at a line; `None` if it is no JSON object with a `type`.
    pub fn peek(line: &'a [u8]) -> Option<Self> {
        let head: Self = serde_json::from_slice(line).ok()?;
        head.kind.is_some().then_some(head)
    }

    /// The frame's `type`.
    pub fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or_default()
    }

    /// The `subtype`, of the frame itself or of the request or response in it.
    pub fn subtype(&self) -> Option<&str> {
        self.subtype.as_deref()
    }

    /// The control request this frame is, answers or cancels.
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }
}

impl<'de> Deserialize<'de> for Head<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(HeadVisitor)
    }
}

struct HeadVisitor;

impl<'de> Visitor<'de> for HeadVisitor {
    type Value = Head<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut head = Head::default();
        while let Some(Key(key)) = map.next_key()? {
            match &*key {
                "type" => head.kind = map.next_value::<Lenient<'de>>()?.0,
                "subtype" => head.subtype = map.next_value::<Lenient<'de>>()?.0,
                "request_id" => head.request_id = map.next_value::<Lenient<'de>>()?.0,
                "request" | "response" => {
                    let inner = map.next_value::<Inner<'de>>()?.0;
                    head.subtype = head.subtype.or(inner.subtype);
                    head.request_id = head.request_id.or(inner.request_id);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(head)
    }
}

/// A string, or nothing for a value of any other kind.
struct Lenient<'de>(Option<Cow<'de, str>>);

/// The head of a nested object, or nothing for a value of any other kind.
struct Inner<'de>(Head<'de>);

macro_rules! ignore_other_kinds {
    ($empty:expr) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("anything")
        }

        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($empty)
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($empty)
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($empty)
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($empty)
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($empty)
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok($empty)
        }
    };
}

impl<'de> Deserialize<'de> for Lenient<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyVisitor;
        impl<'de> Visitor<'de> for AnyVisitor {
            type Value = Lenient<'de>;
            ignore_other_kinds!(Lenient(None));

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Lenient(Some(Cow::Borrowed(text))))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Lenient(Some(Cow::Owned(text.to_owned()))))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Lenient(None))
            }
        }
        deserializer.deserialize_any(AnyVisitor)
    }
}

impl<'de> Deserialize<'de> for Inner<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyVisitor;
        impl<'de> Visitor<'de> for AnyVisitor {
            type Value = Inner<'de>;
            ignore_other_kinds!(Inner(Head::default()));

            fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
                Ok(Inner(Head::default()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut head = Head::default();
                while let Some(Key(key)) = map.next_key()? {
                    match &*key {
                        "subtype" => head.subtype = map.next_value::<Lenient<'de>>()?.0,
                        "request_id" => head.request_id = map.next_value::<Lenient<'de>>()?.0,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(Inner(head))
            }
        }
        deserializer.deserialize_any(AnyVisitor)
    }
}
