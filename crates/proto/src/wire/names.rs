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
#[derive(Clone, Copy)]
pub(crate) enum Found {
    /// There is none.
    End,
    /// The name at this position.
    Named(u8),
    /// Another one, which is in its place.
    Other,
}

impl Names {
    /// Reads a key. `last` is where to look for a guess: what [`Found::Named`] gave last plus one. A key that is no name
    /// is put into `other`.
    #[inline(never)]
    pub(crate) fn next_key<'de, A: MapAccess<'de>>(
        &self,
        map: &mut A,
        last: usize,
        other: &mut Option<Key<'de>>,
    ) -> Result<Found, A::Error> {
        let guess = self.next.get(last).map_or(0, |next| next.load(Ordering::Relaxed));
        let Some(name) = self.all.get(usize::from(guess)) else { return unnamed(map, other) };
        match map.next_key_seed(Guess { name, other })? {
            None => Ok(Found::End),
            Some(true) => Ok(Found::Named(guess)),
            Some(false) => Ok(self.look_up(last, other)),
        }
    }

    /// Finds a key that was not guessed, and remembers where it was.
    #[inline(never)]
    fn look_up(&self, last: usize, other: &mut Option<Key<'_>>) -> Found {
        let key = other.as_ref().map_or("", |key| &*key.0);
        let Some(at) = position(key, self.all, self.slots) else { return Found::Other };
        if let Some(next) = self.next.get(last) {
            next.store(at, Ordering::Relaxed);
        }
        Found::Named(at)
    }
}

/// Reads a key of a record without names.
#[cold]
#[inline(never)]
fn unnamed<'de, A: MapAccess<'de>>(map: &mut A, other: &mut Option<Key<'de>>) -> Result<Found, A::Error> {
    *other = map.next_key()?;
    Ok(if other.is_some() { Found::Other } else { Found::End })
}

/// Reads a key; true if it is the one that was guessed, else it is put into its place.
///
/// Our own reader knows by the call what is meant. Others give the key.
struct Guess<'a, 'de> {
    name: &'static str,
    other: &'a mut Option<Key<'de>>,
}

impl<'de> DeserializeSeed<'de> for Guess<'_, 'de> {
    type Value = bool;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_tuple_struct(self.name, 0, self)
    }
}

impl<'de> Visitor<'de> for Guess<'_, 'de> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    #[inline]
    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(true)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<bool, E> {
        *self.other = Some(Key(text.into()));
        Ok(false)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<bool, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<bool, E> {
        *self.other = Some(Key(text.into()));
        Ok(false)
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
fn position(key: &str, names: &[&str], slots: &[u8]) -> Option<u8> {
    let mut at = spot(key.as_bytes(), slots.len());
    // There is always an empty slot to end on.
    while let Some(found) = slots.get(at).and_then(|slot| slot.checked_sub(1)) {
        if names.get(usize::from(found)) == Some(&key) {
            return Some(found);
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
