use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A key or a tag: borrowed from the line unless it holds an escape.
pub(crate) struct Key<'de>(pub(crate) Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Key(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Key(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(Key(Cow::Owned(text)))
    }
}

/// How many slots the names of a record are spread over: at least half of them stay empty.
pub(crate) const fn slots_for(names: usize) -> usize {
    (2 * names + 2).next_power_of_two()
}

/// Spreads the names of a record over slots, so that a key is found without comparing it with all of them: a large record
/// has sixty. A slot holds the position of a name plus one, or 0.
pub(crate) const fn spread<const SLOTS: usize>(names: &[&str]) -> [u8; SLOTS] {
    assert!(names.len() < u8::MAX as usize);
    let mut slots = [0; SLOTS];
    let mut position = 0;
    while position < names.len() {
        let mut at = spot(names[position].as_bytes(), SLOTS);
        while slots[at] != 0 {
            at = (at + 1) % SLOTS;
        }
        position += 1;
        slots[at] = position as u8;
    }
    slots
}

/// The position of a key among the names that were spread over `slots`.
pub(crate) fn position(key: &str, names: &[&str], slots: &[u8]) -> Option<usize> {
    let mut at = spot(key.as_bytes(), slots.len());
    // There is always an empty slot to end on.
    while let Some(found) = slots.get(at).and_then(|slot| slot.checked_sub(1)) {
        if names.get(found as usize) == Some(&key) {
            return Some(found as usize);
        }
        at = (at + 1) & (slots.len() - 1);
    }
    None
}

/// Where a key belongs. Its length and three of its letters tell most names of one record apart.
const fn spot(key: &[u8], slots: usize) -> usize {
    let length = key.len();
    if length == 0 {
        return 0;
    }
    let letters = key[0] as usize + 5 * key[length / 2] as usize + 17 * key[length - 1] as usize;
    (length + 3 * letters) & (slots - 1)
}
