//! A reader of JSON made for short lines of many strings.
//!
//! It spares a tenth of the work of decoding: strings are scanned in long steps, and keys are found without a copy. It
//! takes what serde_json takes and gives the same values; what is wrong with a text that is no JSON is still serde_json's
//! to say, see [`crate::decode`].

mod escape;
mod scan;
mod token;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Error;

use super::late::TAG;
use super::lazy;
use super::reading::note_column;
use super::union::counts_unknown;
use crate::lenient;
use token::{Number, Text, Tokens};

/// How many objects and lists may lie inside each other; serde_json's own limit.
const DEEPEST: u8 = 128;

/// By this name serde_json asks for the text of a value instead of the value.
const RAW: &str = "$serde_json::private::RawValue";

/// Reads JSON text: what `serde_json::from_str` does, for types that are made of objects with text
/// keys, lists, texts, numbers and raw values, as those of the wire are; serde's own enums are not among them. Half of a
/// surrogate pair, which JavaScript writes when it cuts a string, becomes U+FFFD.
///
/// ```
/// let numbers: Vec<u8> = pilothouse_proto::read_json("[1,2,3]")?;
/// assert_eq!(numbers, [1, 2, 3]);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// When the text is no JSON, or not of that type. The error does not say where; serde_json's does.
pub fn read<'de, T: serde::Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    read_seed(text, std::marker::PhantomData)
}

/// [`read`] for a value that needs help to be read.
pub(crate) fn read_seed<'de, S: DeserializeSeed<'de>>(text: &'de str, seed: S) -> Result<S::Value, Error> {
    let mut reader = Reader { tokens: Tokens::new(text), depth: 0, failed_at: None, again: None };
    let read = seed.deserialize(&mut reader).and_then(|value| match reader.tokens.peek() {
        None => Ok(value),
        Some(_) => Err(reader.tokens.no_json()),
    });
    if read.is_err() {
        note_column(text, reader.failed_at.unwrap_or(reader.tokens.at));
    }
    read
}

struct Reader<'de> {
    tokens: Tokens<'de>,
    depth: u8,
    /// How much was read when the first error was made: where it says it is.
    failed_at: Option<usize>,
    /// A tag was looked for from this key of the innermost object on, so there it goes on.
    again: Option<Again>,
}

#[derive(Clone, Copy)]
struct Again {
    at: usize,
    /// The tag, which is not told again.
    tag: &'static str,
}

impl<'de> Reader<'de> {
    /// Keeps the place of an error that a visitor made.
    #[inline]
    fn placed<T>(&mut self, read: Result<T, Error>) -> Result<T, Error> {
        if read.is_err() {
            self.keep_place();
        }
        read
    }

    #[cold]
    #[inline(never)]
    fn keep_place(&mut self) {
        self.failed_at.get_or_insert(self.tokens.at);
    }

    /// Steps into an object or a list.
    fn enter(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth >= DEEPEST {
            self.failed_at.get_or_insert(self.tokens.at + 1);
            return Err(Error::custom("recursion limit exceeded"));
        }
        self.tokens.at += 1;
        Ok(())
    }

    /// Steps out of it, also after an error inside: the place of that is behind what was wrong.
    fn leave<T>(&mut self, read: Result<T, Error>, end: u8) -> Result<T, Error> {
        self.depth -= 1;
        match (read, self.tokens.expect(end)) {
            (Ok(value), Ok(())) => Ok(value),
            (Err(error), _) | (Ok(_), Err(error)) => self.placed(Err(error)),
        }
    }

    /// An error about a value of the wrong kind, which is read as far as it is simple.
    #[cold]
    fn wrong_kind(&mut self, expected: &dyn serde::de::Expected) -> Error {
        use serde::de::Unexpected;
        let error = match self.tokens.peek() {
            Some(b'{') => Error::invalid_type(Unexpected::Map, expected),
            Some(b'[') => Error::invalid_type(Unexpected::Seq, expected),
            Some(b'"') => match self.tokens.string() {
                Ok(text) => Error::invalid_type(Unexpected::Str(text.as_str()), expected),
                Err(error) => error,
            },
            Some(b't' | b'f') => match self.tokens.boolean() {
                Ok(value) => Error::invalid_type(Unexpected::Bool(value), expected),
                Err(error) => error,
            },
            Some(b'n') => match self.tokens.word("null") {
                Ok(()) => Error::invalid_type(Unexpected::Unit, expected),
                Err(error) => error,
            },
            Some(b'-' | b'0'..=b'9') => match self.tokens.number() {
                Ok(Number::Unsigned(value)) => Error::invalid_type(Unexpected::Unsigned(value), expected),
                Ok(Number::Signed(value)) => Error::invalid_type(Unexpected::Signed(value), expected),
                Ok(Number::Float(value)) => Error::invalid_type(Unexpected::Float(value), expected),
                Err(error) => error,
            },
            _ => self.tokens.no_json(),
        };
        self.failed_at.get_or_insert(self.tokens.at);
        error
    }

    fn string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        if self.tokens.peek() != Some(b'"') {
            return Err(self.wrong_kind(&visitor));
        }
        let read = match self.tokens.plain_string() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => match self.tokens.escaped_string() {
                Some(text) => visitor.visit_string(text),
                None => Err(self.tokens.no_json()),
            },
        };
        self.placed(read)
    }

    /// A key that was not guessed. Out of the way of those that were, which are nearly all.
    #[cold]
    #[inline(never)]
    fn other_key<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        self.string(visitor)
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        if !matches!(self.tokens.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.wrong_kind(&visitor));
        }
        let read = match self.tokens.number() {
            Ok(Number::Unsigned(value)) => visitor.visit_u64(value),
            Ok(Number::Signed(value)) => visitor.visit_i64(value),
            Ok(Number::Float(value)) => visitor.visit_f64(value),
            Err(error) => Err(error),
        };
        self.placed(read)
    }

    fn boolean<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        if !matches!(self.tokens.peek(), Some(b't' | b'f')) {
            return Err(self.wrong_kind(&visitor));
        }
        let read = self.tokens.boolean().and_then(|value| visitor.visit_bool(value));
        self.placed(read)
    }

    fn null<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        if self.tokens.peek() != Some(b'n') {
            return Err(self.wrong_kind(&visitor));
        }
        let read = self.tokens.word("null").and_then(|()| visitor.visit_unit());
        self.placed(read)
    }

    fn object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        if self.tokens.peek() != Some(b'{') {
            return Err(self.wrong_kind(&visitor));
        }
        self.enter()?;
        let read = visitor.visit_map(Inside::new(self));
        self.leave(read, b'}')
    }

    fn list<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        if self.tokens.peek() != Some(b'[') {
            return Err(self.wrong_kind(&visitor));
        }
        self.enter()?;
        let read = visitor.visit_seq(Inside::new(self));
        self.leave(read, b']')
    }

    /// A list of strings, as it is written if it can be used so.
    fn texts<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        self.tokens.peek();
        match self.tokens.plain_texts() {
            Some(list) => visitor.visit_borrowed_str(list),
            None => visitor.visit_newtype_struct(self),
        }
    }

    /// A value that wants to be read later: its text, if that is sure to be readable then.
    fn kept<V: Visitor<'de>>(&mut self, begins: Option<u8>, visitor: V) -> Result<V::Value, Error> {
        let first = self.tokens.peek();
        if (begins.is_none() || begins == first) && !counts_unknown() {
            let start = self.tokens.at;
            if let Some(text) = self.tokens.readable() {
                let read = visitor.visit_map(AsRaw(Some(text)));
                return self.placed(read);
            }
            self.tokens.at = start;
        }
        visitor.visit_newtype_struct(self)
    }

    /// The first key of an object if that is its tag; else the tag, if it is among those that follow.
    fn tag<V: Visitor<'de>>(&mut self, tag: &'static str, visitor: V) -> Result<V::Value, Error> {
        if self.tokens.key_is(tag) {
            self.tokens.at += tag.len() + 2;
            return visitor.visit_borrowed_str(tag);
        }
        self.again = Some(Again { at: self.tokens.at, tag });
        if !self.tokens.seek(tag)? {
            return visitor.visit_unit();
        }
        if self.tokens.peek() != Some(b'"') {
            return Err(self.wrong_kind(&visitor));
        }
        match self.tokens.string()? {
            Text::Plain(tag) => visitor.visit_borrowed_bytes(tag.as_bytes()),
            Text::Unescaped(tag) => visitor.visit_bytes(tag.as_bytes()),
        }
    }
}

macro_rules! kinds {
    ($($method:ident => $kind:ident),* $(,)?) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.$kind(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.tokens.peek() {
            Some(b'"') => self.string(visitor),
            Some(b'{') => self.object(visitor),
            Some(b'[') => self.list(visitor),
            Some(b't' | b'f') => self.boolean(visitor),
            Some(b'n') => self.null(visitor),
            _ => self.number(visitor),
        }
    }

    kinds! {
        deserialize_bool => boolean,
        deserialize_i8 => number, deserialize_i16 => number, deserialize_i32 => number, deserialize_i64 => number,
        deserialize_u8 => number, deserialize_u16 => number, deserialize_u32 => number, deserialize_u64 => number,
        deserialize_f32 => number, deserialize_f64 => number,
        deserialize_char => string, deserialize_str => string, deserialize_string => string,
        deserialize_identifier => string,
        deserialize_unit => null,
        deserialize_seq => list,
        deserialize_map => object,
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.tokens.peek() == Some(b'n') {
            let read = self.tokens.word("null").and_then(|()| visitor.visit_none());
            return self.placed(read);
        }
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == RAW {
            let read = self.tokens.raw().and_then(|text| visitor.visit_map(AsRaw(Some(text))));
            return self.placed(read);
        }
        match name {
            lazy::ANY => self.kept(None, visitor),
            lazy::OBJECT => self.kept(Some(b'{'), visitor),
            lazy::LIST => self.kept(Some(b'['), visitor),
            lenient::TEXTS => self.texts(visitor),
            _ => match name.strip_prefix(TAG) {
                Some(tag) => self.tag(tag, visitor),
                None => visitor.visit_newtype_struct(self),
            },
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.object(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let read = self.tokens.raw().and_then(|_| visitor.visit_unit());
        self.placed(read)
    }

    /// A key of which there is a guess, see [`super::names`].
    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        guess: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if self.tokens.key_is(guess) {
            self.tokens.at += guess.len() + 2;
            return visitor.visit_unit();
        }
        self.other_key(visitor)
    }

    // The wire has none of these: no type of it asks for them.
    serde::forward_to_deserialize_any! { bytes byte_buf unit_struct tuple enum }
}

/// The members of an object or of a list.
struct Inside<'a, 'de> {
    reader: &'a mut Reader<'de>,
    first: bool,
    /// The tag, if it was told before its turn.
    told: Option<&'static str>,
}

impl<'a, 'de> Inside<'a, 'de> {
    fn new(reader: &'a mut Reader<'de>) -> Self {
        Self { reader, first: true, told: None }
    }

    /// Whether another key follows, where it is not an ordinary one: the first, one among blanks, or after a tag that
    /// was told before its turn.
    #[inline(never)]
    fn odd_key(&mut self) -> Result<bool, Error> {
        if let Some(again) = self.reader.again.take() {
            self.reader.tokens.at = again.at;
            self.first = true;
            self.told = Some(again.tag);
        }
        loop {
            let first = std::mem::replace(&mut self.first, false);
            if !self.reader.tokens.another_key(first)? {
                return Ok(false);
            }
            match self.told {
                Some(tag) if self.reader.tokens.key_is(tag) => self.reader.tokens.skip_member()?,
                _ => return Ok(true),
            }
        }
    }
}

impl<'de> MapAccess<'de> for Inside<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let is_ordinary = !self.first && self.told.is_none() && self.reader.again.is_none();
        if is_ordinary && self.reader.tokens.byte() == Some(b'}') {
            return Ok(None);
        }
        let follows = (is_ordinary && self.reader.tokens.next_key()) || self.odd_key()?;
        if !follows {
            return Ok(None);
        }
        seed.deserialize(&mut *self.reader).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        self.reader.tokens.expect(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

impl<'de> SeqAccess<'de> for Inside<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let first = std::mem::replace(&mut self.first, false);
        if !self.reader.tokens.another(b']', first)? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.reader).map(Some)
    }

    /// Most lists of the wire have one member or none, and room for four large ones is more than an allocator has at hand.
    #[inline]
    fn size_hint(&self) -> Option<usize> {
        Some(usize::from(self.reader.tokens.byte() != Some(b']')))
    }
}

/// A value as its text, in the form in which serde_json takes it.
struct AsRaw<'de>(Option<&'de str>);

impl<'de> MapAccess<'de> for AsRaw<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        match self.0 {
            Some(_) => seed.deserialize(BorrowedStrDeserializer::new(RAW)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(BorrowedStrDeserializer::new(self.0.take().unwrap_or("null")))
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
