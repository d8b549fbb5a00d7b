//! Which field of a record a key names.
//!
//! A CLI writes the fields of a record in the same order each time, so the key that came after this one last time is tried
//! first: one comparison, and the key need not be looked for its end. Other keys are found by a small hash table.

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use super::keys::Key;

/// The names of a record's fields.
pub(crate) struct Names {
    pub(crate) all: &'static [&'static str],
    /// They are spread over these by [`spread`].
    pub(crate) slots: &'static [u8],
    /// By the position of a name plus one, or 0 for the beginning: which name came after it last time.
    pub(crate) next: &'static [AtomicU8],
}

/// What the next key of a record is.
pub(crate) enum Found<'de> {
    /// There is none.
    End,
    /// The name at this position.
    Named(usize),
    /// Another one.
    Other(Key<'de>),
}

impl Names {
    /// Reads a key. `last` is where to look for a guess: what [`Found::Named`] gave last plus one.
    #[inline(never)]
    pub(crate) fn next_key<'de, A: MapAccess<'de>>(
        &self,
        map: &mut A,
        last: usize,
    ) -> Result<Found<'de>, A::Error> {
        let guess = self.next.get(last).map_or(0, |next| usize::from(next.load(Ordering::Relaxed)));
        let key = match self.all.get(guess) {
            Some(name) => map.next_key_seed(Guess(name))?,
            None => map.next_key()?.map(Some),
        };
        let found = match key {
            None => return Ok(Found::End),
            Some(None) => return Ok(Found::Named(guess)),
            Some(Some(key)) => key,
        };
        match position(&found.0, self.all, self.slots) {
            Some(at) => {
                if let (Some(next), Ok(at)) = (self.next.get(last), u8::try_from(at)) {
                    next.store(at, Ordering::Relaxed);
                }
                Ok(Found::Named(at))
            }
            None => Ok(Found::Other(found)),
        }
    }
}

/// Reads a key; nothing if it is this one.
///
/// Our own reader knows by the call what is meant. Others give the key.
struct Guess(&'static str);

impl<'de> DeserializeSeed<'de> for Guess {
    type Value = Option<Key<'de>>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_tuple_struct(self.0, 0, self)
    }
}

impl<'de> Visitor<'de> for Guess {
    type Value = Option<Key<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    #[inline]
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Key(text.into())))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(Some(Key(text.into())))
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
fn position(key: &str, names: &[&str], slots: &[u8]) -> Option<usize> {
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
