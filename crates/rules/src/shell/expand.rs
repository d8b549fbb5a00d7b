//! The generous reading of one word, for deny rules: quotes removed, escapes decoded, known variables and braces
//! expanded, and what cannot be known left out, so that `r$(true)m` still reads `rm`.

use std::collections::HashMap;

use super::word::{Word, is_name};

/// Values of the variables assigned in the command itself.
pub(crate) type Variables = HashMap<String, String>;

/// More words than this are not made of one.
const MOST_WORDS: usize = 64;

/// Expands a word as written into the words a program would get.
pub(crate) fn expand(raw: &str, variables: &Variables) -> Vec<Word> {
    let mut words = Vec::new();
    for text in braces(raw) {
        let mut decoder =
            Decoder { variables, words: Vec::new(), word: Word::default(), open: false, depth: 0 };
        decoder.decode(&text);
        decoder.finish();
        words.append(&mut decoder.words);
        if words.len() >= MOST_WORDS {
            words.truncate(MOST_WORDS);
            break;
        }
    }
    for word in &mut words {
        raw.clone_into(&mut word.raw);
    }
    words
}

struct Decoder<'a> {
    variables: &'a Variables,
    words: Vec<Word>,
    word: Word,
    /// The current word exists even if it is empty.
    open: bool,
    /// How many defaults of `${x:-…}` enclose the text at hand.
    depth: usize,
}

/// Defaults nested more deeply are not known.
const DEEPEST: usize = 8;

impl Decoder<'_> {
    fn finish(&mut self) {
        let word = std::mem::take(&mut self.word);
        if self.open || !word.text.is_empty() || word.dynamic {
            self.words.push(word);
        }
        self.open = false;
    }

    fn decode(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            rest = match c {
                '\'' => {
                    self.open = true;
                    self.word.quoted = true;
                    let (body, after) = after.split_once('\'').unwrap_or((after, ""));
                    self.word.text.push_str(body);
                    after
                }
                '"' => self.double_quoted(after),
                '\\' => {
                    let escaped = after.chars().next();
                    self.word.quoted = true;
                    if let Some(escaped) = escaped.filter(|c| *c != '\n') {
                        self.word.text.push(escaped);
                    }
                    escaped.map_or("", |c| &after[c.len_utf8()..])
                }
                '$' => self.dollar(after, false),
                '`' => self.skip_until(after, '`'),
                c => {
                    match c {
                        '*' | '?' | '[' => self.word.glob = true,
                        '~' if self.word.text.is_empty() => self.word.tilde = true,
                        _ => {}
                    }
                    self.word.text.push(c);
                    after
                }
            };
        }
    }

    fn double_quoted<'t>(&mut self, text: &'t str) -> &'t str {
        self.open = true;
        self.word.quoted = true;
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            rest = match c {
                '"' => return after,
                '\\' => {
                    let escaped = after.chars().next();
                    match escaped {
                        Some('\n') | None => {}
                        Some(e @ ('$' | '`' | '"' | '\\')) => self.word.text.push(e),
                        Some(other) => {
                            self.word.text.push('\\');
                            self.word.text.push(other);
                        }
                    }
                    escaped.map_or("", |c| &after[c.len_utf8()..])
                }
                '$' => self.dollar(after, true),
                '`' => self.skip_until(after, '`'),
                c => {
                    self.word.text.push(c);
                    after
                }
            };
        }
        rest
    }

    /// What follows a `$`.
    fn dollar<'t>(&mut self, text: &'t str, quoted: bool) -> &'t str {
        match text.chars().next() {
            Some('\'') if !quoted => {
                let (decoded, after) = ansi_c(&text[1..]);
                self.open = true;
                self.word.quoted = true;
                self.word.text.push_str(&decoded);
                after
            }
            Some('"') if !quoted => self.double_quoted(&text[1..]),
            Some('(') => {
                self.word.dynamic = true;
                skip_group(&text[1..], '(', ')')
            }
            Some('{') => {
                let after = skip_group(&text[1..], '{', '}');
                let inner = &text[1..text.len() - after.len()];
                self.parameter(inner.strip_suffix('}').unwrap_or(inner), quoted);
                after
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
                self.variable(&text[..end], quoted);
                &text[end..]
            }
            Some(c @ ('@' | '*' | '#' | '?' | '-' | '$' | '!' | '0'..='9')) => {
                self.word.dynamic = true;
                &text[c.len_utf8()..]
            }
            _ => {
                self.word.text.push('$');
                text
            }
        }
    }

    fn variable(&mut self, name: &str, quoted: bool) {
        match self.variables.get(name) {
            Some(value) => {
                let value = value.clone();
                self.insert(&value, quoted);
            }
            // The usual separators, unless the command changed them.
            None if name == "IFS" => self.insert(" ", quoted),
            None => self.word.dynamic = true,
        }
    }

    /// `${…}` without the braces: a plain name or one with a default.
    fn parameter(&mut self, inner: &str, quoted: bool) {
        let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
        let (name, operation) = inner.split_at(end);
        if !is_name(name) {
            self.word.dynamic = true;
            return;
        }
        if operation.is_empty() {
            self.variable(name, quoted);
            return;
        }
        let default = [":-", ":=", ":+", "-", "=", "+"].iter().find_map(|op| operation.strip_prefix(op));
        match default {
            Some(default) if self.depth < DEEPEST => {
                self.word.dynamic = true;
                self.depth += 1;
                self.decode(default);
                self.depth -= 1;
            }
            _ => self.word.dynamic = true,
        }
    }

    /// Puts a value in; unquoted, its white space separates words.
    fn insert(&mut self, value: &str, quoted: bool) {
        if quoted {
            self.word.text.push_str(value);
            return;
        }
        for c in value.chars() {
            if matches!(c, ' ' | '\t' | '\n') {
                self.finish();
            } else {
                if matches!(c, '*' | '?' | '[') {
                    self.word.glob = true;
                }
                self.word.text.push(c);
            }
        }
    }

    fn skip_until<'t>(&mut self, text: &'t str, end: char) -> &'t str {
        self.word.dynamic = true;
        text.split_once(end).map_or("", |(_, after)| after)
    }
}

/// Skips to the end of a group whose opening is already read. Quotes are not looked into: the tree has found the
/// commands inside, this only has to get past them.
fn skip_group(text: &str, open: char, close: char) -> &str {
    let mut depth = 1_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return &text[at + c.len_utf8()..];
            }
        }
    }
    ""
}

/// Decodes `$'…'` up to its closing quote.
fn ansi_c(text: &str) -> (String, &str) {
    let mut bytes: Vec<u8> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == '\'' {
            return (String::from_utf8_lossy(&bytes).into_owned(), rest);
        }
        if c != '\\' {
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let Some(kind) = rest.chars().next() else { break };
        rest = &rest[kind.len_utf8()..];
        let (radix, most) = match kind {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => (8, 3),
            _ => (0, 0),
        };
        if radix == 0 {
            let plain = match kind {
                'a' => '\u{7}',
                'b' => '\u{8}',
                'e' | 'E' => '\u{1b}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\u{b}',
                other => other,
            };
            bytes.extend_from_slice(plain.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let digits_from = if radix == 8 { kind.to_string() } else { String::new() };
        let mut digits = digits_from;
        while digits.len() < most {
            let Some(digit) = rest.chars().next().filter(|c| c.is_digit(radix)) else { break };
            digits.push(digit);
            rest = &rest[1..];
        }
        let code = u32::from_str_radix(&digits, radix).unwrap_or_default();
        match (kind, u8::try_from(code)) {
            ('x' | '0'..='7', Ok(byte)) => bytes.push(byte),
            _ => {
                let decoded = char::from_u32(code).unwrap_or('\u{fffd}');
                bytes.extend_from_slice(decoded.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
    (String::from_utf8_lossy(&bytes).into_owned(), rest)
}

/// Expands `{a,b}` outside quotes; ranges are left as they are, for no program is called `{a..b}`.
fn braces(raw: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![raw.to_owned()];
    while let Some(text) = open.pop() {
        if done.len() + open.len() >= MOST_WORDS {
            done.push(text);
            continue;
        }
        match first_brace(&text) {
            Some((start, end, parts)) => {
                for part in parts.into_iter().rev() {
                    open.push(format!("{}{part}{}", &text[..start], &text[end..]));
                }
            }
            None => done.push(text),
        }
    }
    done
}

/// The first brace list outside quotes: where it starts and ends, and its parts.
fn first_brace(text: &str) -> Option<(usize, usize, Vec<String>)> {
    let mut starts: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut quote: Option<char> = None;
    let mut escaped = false;
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        let before = previous;
        previous = c;
        if escaped {
            escaped = false;
            continue;
        }
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('"') | None, '\\') => escaped = true,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(c),
            // `${name}` is no list.
            (None, '{') if before != '$' => starts.push((at, Vec::new())),
            (None, '{') => starts.push((usize::MAX, Vec::new())),
            (None, ',') => {
                if let Some((_, commas)) = starts.last_mut() {
                    commas.push(at);
                }
            }
            (None, '}') => {
                let Some((start, commas)) = starts.pop() else { continue };
                if start == usize::MAX || commas.is_empty() {
                    continue;
                }
                let mut parts = Vec::new();
                let mut from = start + 1;
                for comma in commas.into_iter().chain([at]) {
                    parts.push(text[from..comma].to_owned());
                    from = comma + 1;
                }
                return Some((start, at + 1, parts));
            }
            _ => {}
        }
    }
    None
}
