//! The tokens of a text.

use serde::de::Error as _;
use serde_json::Error;

use super::escape::unescape_one;
use super::scan::{is_plain, is_same, quote_or_escape};

/// How much room a string with escapes gets at first, at most.
const LONGEST_GUESS: usize = 4096;

/// How much one gets that needs more than that.
const LONG: usize = 64 * 1024;

/// How much of that it may leave unused without being moved.
const SPARE: usize = 256;

pub(super) struct Tokens<'de> {
    text: &'de str,
    /// How much was read.
    pub(super) at: usize,
    /// The whole text holds no control character, so no string of it needs to be looked at for one.
    plain: bool,
    /// The value that was passed over last may be unreadable although it is JSON.
    odd: bool,
}

/// A string: as it stands in the text, unless it holds an escape.
pub(super) enum Text<'de> {
    Plain(&'de str),
    Unescaped(String),
}

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Unescaped(text) => text,
        }
    }
}

/// A number, as serde_json sorts them.
pub(super) enum Number {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

impl<'de> Tokens<'de> {
    pub(super) fn new(text: &'de str) -> Self {
        Self { text, at: 0, plain: is_plain(text.as_bytes()), odd: false }
    }

    /// An error that only says that there is one.
    #[cold]
    pub(super) fn no_json(&self) -> Error {
        Error::custom("not JSON")
    }

    /// The next byte that is not white space. CLIs write none, so looking for it is a call: this is part of every field.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        match self.byte() {
            Some(byte) if byte > b' ' => Some(byte),
            _ => self.peek_beyond_blanks(),
        }
    }

    #[cold]
    #[inline(never)]
    fn peek_beyond_blanks(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                byte => return byte,
            }
        }
    }

    /// Steps over this byte.
    #[inline]
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Error> {
        if self.byte() != Some(byte) {
            return self.expect_beyond_blanks(byte);
        }
        self.at += 1;
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn expect_beyond_blanks(&mut self, byte: u8) -> Result<(), Error> {
        if self.peek_beyond_blanks() != Some(byte) {
            return Err(self.no_json());
        }
        self.at += 1;
        Ok(())
    }

    /// Whether an object or list that ends with `end` goes on; steps over the comma.
    #[inline]
    pub(super) fn another(&mut self, end: u8, first: bool) -> Result<bool, Error> {
        match self.peek() {
            Some(byte) if byte == end => Ok(false),
            Some(b',') if !first => {
                self.at += 1;
                // A comma promises a member.
                if self.peek() == Some(end) { Err(self.no_json()) } else { Ok(true) }
            }
            Some(_) if first => Ok(true),
            _ => Err(self.no_json()),
        }
    }

    /// Steps over a comma that is followed by a key, with no blanks about.
    #[inline]
    pub(super) fn next_key(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let follows = bytes.get(self.at) == Some(&b',') && bytes.get(self.at + 1) == Some(&b'"');
        self.at += usize::from(follows);
        follows
    }

    /// Whether an object goes on, with a key; steps over the comma.
    pub(super) fn another_key(&mut self, first: bool) -> Result<bool, Error> {
        if !self.another(b'}', first)? {
            return Ok(false);
        }
        if self.peek() == Some(b'"') { Ok(true) } else { Err(self.no_json()) }
    }

    /// A string, whose quote was seen, if it stands in the text as it is. Nothing is read otherwise.
    #[inline(never)]
    pub(super) fn plain_string(&mut self) -> Option<&'de str> {
        let start = self.at + 1;
        let end = quote_or_escape(self.text.as_bytes(), start)?;
        let text = self.text.get(start..end)?;
        if self.text.as_bytes().get(end) != Some(&b'"') || !(self.plain || is_plain(text.as_bytes())) {
            return None;
        }
        self.at = end + 1;
        Some(text)
    }

    /// A string, whose quote was seen.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Text<'de>, Error> {
        match self.plain_string() {
            Some(text) => Ok(Text::Plain(text)),
            None => self.escaped_string().map(Text::Unescaped).ok_or_else(|| self.no_json()),
        }
    }

    /// A string that holds an escape.
    #[inline(never)]
    pub(super) fn escaped_string(&mut self) -> Option<String> {
        let start = self.at + 1;
        self.at = quote_or_escape(self.text.as_bytes(), start)?;
        // Unescaping only shortens.
        let mut text = String::with_capacity((self.text.len() - start).min(LONGEST_GUESS));
        let mut piece = start;
        loop {
            if text.capacity() - text.len() <= self.at - piece {
                self.make_room(&mut text, piece);
            }
            text.push_str(
                self.text.get(piece..self.at).filter(|piece| self.plain || is_plain(piece.as_bytes()))?,
            );
            let bytes = self.text.as_bytes();
            if self.byte() == Some(b'"') {
                self.at += 1;
                if text.capacity() > 2 * text.len() + SPARE {
                    text.shrink_to_fit();
                }
                return Some(text);
            }
            // Nearly all are line breaks and quotes.
            match bytes.get(self.at + 1)? {
                b'n' => text.push('\n'),
                b'"' => text.push('"'),
                b'\\' => text.push('\\'),
                _ => {
                    let (escaped, rest) = unescape_one(self.text.get(self.at + 1..)?)?;
                    text.push(escaped);
                    self.at = self.text.len() - rest.len() - 2;
                }
            }
            piece = self.at + 2;
            self.at = quote_or_escape(bytes, piece)?;
        }
    }

    /// A long string soon gets all the room that it can need: growing by doubling would take three times a line of 50 MiB.
    /// Pages that stay unused are never touched.
    #[cold]
    fn make_room(&self, text: &mut String, piece: usize) {
        let most = self.text.len() - piece;
        let step = if text.capacity() < LONG { LONG.max(self.at - piece + 1) } else { most };
        text.reserve_exact(step.min(most));
    }

    pub(super) fn word(&mut self, word: &str) -> Result<(), Error> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(self.no_json());
        }
        self.at += word.len();
        Ok(())
    }

    pub(super) fn boolean(&mut self) -> Result<bool, Error> {
        if self.byte() == Some(b't') {
            self.word("true").map(|()| true)
        } else {
            self.word("false").map(|()| false)
        }
    }

    #[inline(never)]
    pub(super) fn number(&mut self) -> Result<Number, Error> {
        let start = self.at;
        let negative = self.byte() == Some(b'-');
        if negative {
            self.at += 1;
        }
        let leading_zero = self.byte() == Some(b'0');
        let digits_start = self.at;
        let mut value = 0_u64;
        while let Some(byte @ b'0'..=b'9') = self.byte() {
            value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            self.at += 1;
        }
        let digits = self.at - digits_start;
        // Of more digits than these some are too large.
        let whole = match digits {
            ..=19 => Some(value),
            _ => self.text.get(digits_start..self.at).and_then(|digits| digits.parse().ok()),
        };
        if digits == 0 || (leading_zero && digits > 1) {
            return Err(self.no_json());
        }
        match (whole, self.byte()) {
            (_, Some(b'.' | b'e' | b'E')) | (None, _) => self.float(start),
            (Some(whole), _) if !negative => Ok(Number::Unsigned(whole)),
            // Minus zero, and what is below the least integer, are floats.
            (Some(whole), _) => match 0_i64.checked_sub_unsigned(whole) {
                Some(signed) if signed < 0 => Ok(Number::Signed(signed)),
                _ => self.float(start),
            },
        }
    }

    /// The rest of a number that is no integer, or too large for one.
    fn float(&mut self, start: usize) -> Result<Number, Error> {
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            self.some_digits()?;
        }
        let value: Option<f64> = self.text.get(start..self.at).and_then(|text| text.parse().ok());
        match value {
            Some(value) if value.is_finite() => Ok(Number::Float(value)),
            _ => Err(Error::custom("number out of range")),
        }
    }

    fn some_digits(&mut self) -> Result<(), Error> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
        if self.at == start { Err(self.no_json()) } else { Ok(()) }
    }

    /// Whether the key that begins here is this one, written plainly.
    #[inline]
    pub(super) fn key_is(&self, name: &str) -> bool {
        let start = self.at + 1;
        let end = start + name.len();
        let bytes = self.text.as_bytes();
        bytes.get(end) == Some(&b'"')
            && bytes.get(start..end).is_some_and(|key| is_same(key, name.as_bytes()))
    }

    /// The same for one that may hold escapes.
    fn string_is(&self, name: &str) -> bool {
        let mut ahead = Self { ..*self };
        matches!(ahead.string(), Ok(Text::Unescaped(text)) if text == name)
    }

    /// Goes to the value of this key, from a key of the same object on. False at the end of the object.
    pub(super) fn seek(&mut self, name: &str) -> Result<bool, Error> {
        loop {
            let found = self.key_is(name) || self.string_is(name);
            self.skip_key()?;
            if found {
                return Ok(true);
            }
            self.raw()?;
            if !self.another_key(false)? {
                return Ok(false);
            }
        }
    }

    /// Passes over a key and its value.
    pub(super) fn skip_member(&mut self) -> Result<(), Error> {
        self.skip_key()?;
        self.raw().map(|_| ())
    }

    /// What is between the brackets of a list of strings, if they stand in the text as they are, with no blanks between
    /// them. Nothing is read otherwise.
    pub(super) fn plain_texts(&mut self) -> Option<&'de str> {
        let bytes = self.text.as_bytes();
        if !self.plain || self.byte() != Some(b'[') {
            return None;
        }
        let start = self.at + 1;
        let mut at = start;
        loop {
            if bytes.get(at) != Some(&b'"') {
                return None;
            }
            let end = quote_or_escape(bytes, at + 1)?;
            match bytes.get(end..end + 2)? {
                b"\"," => at = end + 2,
                b"\"]" => {
                    self.at = end + 2;
                    return self.text.get(start..=end);
                }
                _ => return None,
            }
        }
    }

    /// The text of the next value if it can be read and written later as well: it has no line break, no number that is
    /// too large, and is not nested too deeply.
    pub(super) fn readable(&mut self) -> Option<&'de str> {
        self.odd = !self.plain;
        let text = self.raw().ok()?;
        (!self.odd).then_some(text)
    }

    /// The text of the next value, whatever it is. Needs no stack however deep it goes.
    #[inline(never)]
    pub(super) fn raw(&mut self) -> Result<&'de str, Error> {
        self.peek();
        let start = self.at;
        let mut open = Nesting::default();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.skip_string()?;
                }
                Some(b't' | b'f') => {
                    self.boolean()?;
                }
                Some(b'n') => self.word("null")?,
                Some(b'-' | b'0'..=b'9') => self.skip_number()?,
                Some(byte @ (b'{' | b'[')) => {
                    self.at += 1;
                    let end = byte + 2;
                    if self.peek() == Some(end) {
                        self.at += 1;
                    } else {
                        self.odd |= open.push(byte == b'{');
                        if byte == b'{' {
                            self.skip_key()?;
                        }
                        continue;
                    }
                }
                _ => return Err(self.no_json()),
            }
            // A value has ended, and with it perhaps what it is in.
            loop {
                let Some(is_object) = open.last() else {
                    return self.text.get(start..self.at).ok_or_else(|| self.no_json());
                };
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if is_object {
                            self.skip_key()?;
                        }
                        break;
                    }
                    Some(b'}') if is_object => open.pop(),
                    Some(b']') if !is_object => open.pop(),
                    _ => return Err(self.no_json()),
                }
                self.at += 1;
            }
        }
    }

    fn skip_key(&mut self) -> Result<(), Error> {
        if self.peek() != Some(b'"') {
            return Err(self.no_json());
        }
        self.skip_string()?;
        self.expect(b':')
    }

    /// Steps over a string, and makes sure that it is one.
    fn skip_string(&mut self) -> Result<(), Error> {
        let start = self.at + 1;
        let Some(end) = quote_or_escape(self.text.as_bytes(), start) else { return Err(self.no_json()) };
        self.at = end;
        if self.plain && self.byte() == Some(b'"') {
            self.at = end + 1;
            return Ok(());
        }
        self.skip_odd_string(start)
    }

    /// The same for one that holds an escape at `at`, or perhaps a control character.
    fn skip_odd_string(&mut self, start: usize) -> Result<(), Error> {
        while self.byte() == Some(b'\\') {
            self.at = quote_or_escape(self.text.as_bytes(), self.at + 2).ok_or_else(|| self.no_json())?;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        self.at += 1;
        let good = (self.plain || is_plain(text.as_bytes())) && has_good_escapes(text);
        if good { Ok(()) } else { Err(self.no_json()) }
    }

    fn skip_number(&mut self) -> Result<(), Error> {
        match self.number() {
            // How large it is does not matter to who only passes it on.
            Err(error) if error.to_string() != "number out of range" => Err(error),
            read => {
                self.odd |= read.is_err();
                Ok(())
            }
        }
    }

    #[inline]
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

/// Whether every backslash of a string begins an escape that JSON knows.
fn has_good_escapes(text: &str) -> bool {
    let mut rest = text.as_bytes();
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let after = rest.get(at + 1..).unwrap_or_default();
        rest = match after {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', after @ ..] => after,
            [b'u', a, b, c, d, after @ ..] if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) => {
                after
            }
            _ => return false,
        };
    }
    true
}

/// Which of the things that are open are objects: bits while there are few.
#[derive(Default)]
struct Nesting {
    bits: u64,
    depth: usize,
    deeper: Vec<bool>,
}

impl Nesting {
    /// True when that is deep.
    fn push(&mut self, is_object: bool) -> bool {
        let deep = self.depth >= 64;
        if deep {
            self.deeper.push(is_object);
        } else {
            self.bits = (self.bits << 1) | u64::from(is_object);
        }
        self.depth += 1;
        deep
    }

    fn last(&self) -> Option<bool> {
        match self.depth {
            0 => None,
            1..=64 => Some(self.bits & 1 == 1),
            _ => self.deeper.last().copied(),
        }
    }

    fn pop(&mut self) {
        if self.depth > 64 {
            self.deeper.pop();
        } else {
            self.bits >>= 1;
        }
        self.depth = self.depth.saturating_sub(1);
    }
}
