//! What keeps this crate's compile time, and that of the crates above it, in bounds.
//!
//! Some four hundred records are read and written by generic code. Left to itself the compiler expands the JSON parser
//! into every field of every record, and does so again in each crate that decodes a frame. So the steps that all records
//! share are calls that are never inlined, and whole types are read here, where that is compiled once.

use serde::de::DeserializeOwned;
use serde::ser::{Serialize, SerializeMap};
use serde_json::{Map, Value};

/// A type of the wire.
///
/// Its method is what [`decode`](crate::decode) calls. It does what `serde_json::from_str` does, but other crates only
/// link to it.
pub trait Wire: Serialize + Sized {
    /// Reads the whole text as one value.
    fn from_text(text: &str) -> Result<Self, serde_json::Error>;
}

impl Wire for Value {
    fn from_text(text: &str) -> Result<Self, serde_json::Error> {
        super::read(text)
    }
}

impl Wire for Map<String, Value> {
    fn from_text(text: &str) -> Result<Self, serde_json::Error> {
        super::read(text)
    }
}

impl<T: Serialize + DeserializeOwned> Wire for Vec<T> {
    fn from_text(text: &str) -> Result<Self, serde_json::Error> {
        super::read(text)
    }
}

#[inline(never)]
pub(crate) fn put<M: SerializeMap, T: Serialize + ?Sized>(
    map: &mut M,
    name: &str,
    value: &T,
) -> Result<(), M::Error> {
    map.serialize_entry(name, value)
}
