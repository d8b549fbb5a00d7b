//! Scripts of `sed`, as far as to say that they neither run a program nor open another file. What is not understood counts
//! as one that does.

use crate::shell::word::Word;

/// The argument of `sed` that runs a program or opens a file that is not among its operands, for all that is known.
pub(crate) fn danger(arguments: &[Word]) -> Option<&str> {
    let mut given = false;
    let mut operand = None;
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let text = word.text.as_str();
        if text == "--" {
            operand = operand.or(rest.first());
            break;
        }
        let (letters, value) = match text.strip_prefix("--") {
            Some(long) => {
                let (name, value) =
                    long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                match name {
                    "sandbox" => return None,
                    name if name.is_empty() || "file".starts_with(name) => return Some(text),
                    name if "expression".starts_with(name) => ("e", value),
                    name if "line-length".starts_with(name) => ("l", value),
                    _ => ("", None),
                }
            }
            None if text.starts_with('-') && text.len() > 1 => {
                // What follows one of these letters is its value.
                let at = text.find(['e', 'f', 'i', 'l']);
                match at {
                    Some(at) => (&text[at..=at], Some(&text[at + 1..]).filter(|value| !value.is_empty())),
                    None => ("", None),
                }
            }
            None => {
                // An empty one is the ending of a backup's name to some versions, and the script comes after it.
                operand = operand.filter(|first: &&Word| !first.text.is_empty()).or(Some(word));
                continue;
            }
        };
        match letters {
            "f" => return Some(text),
            "e" => {
                given = true;
                let script = match value {
                    Some(value) => Some((word, value)),
                    None => rest.split_first().map(|(next, after)| {
                        rest = after;
                        (next, next.text.as_str())
                    }),
                };
                if let Some((word, script)) = script
                    && !is_harmless(word, script)
                {
                    return Some(script);
                }
            }
            "l" if value.is_none() => rest = rest.get(1..).unwrap_or_default(),
            _ => {}
        }
    }
    let script = operand.filter(|_| !given)?;
    (!is_harmless(script, &script.text)).then_some(script.text.as_str())
}

fn is_harmless(word: &Word, script: &str) -> bool {
    !word.dynamic && !word.brace && (!word.glob || word.quoted) && Script { rest: script }.passes()
}

struct Script<'s> {
    rest: &'s str,
}

impl Script<'_> {
    fn passes(mut self) -> bool {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
            if self.rest.is_empty() {
                return true;
            }
            if self.command().is_none() {
                return false;
            }
        }
    }

    /// Goes past one command with its addresses, if it is a known one.
    fn command(&mut self) -> Option<()> {
        self.address()?;
        self.blanks();
        if let Some(rest) = self.rest.strip_prefix(',') {
            self.rest = rest;
            self.blanks();
            self.rest = self.rest.trim_start_matches(['+', '~']);
            self.address()?;
            self.blanks();
        }
        self.rest = self.rest.trim_start_matches(['!', ' ', '\t']);
        let command = self.take()?;
        match command {
            '{' | '}' => Some(()),
            'p' | 'P' | 'd' | 'D' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'z' | 'F' => self.end(),
            'q' | 'Q' | 'l' | 'L' => {
                self.blanks();
                self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
                self.end()
            }
            'b' | 't' | 'T' | ':' => {
                self.blanks();
                self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
                self.end()
            }
            // Text to the end of its line; a line that is continued ends the looking.
            'a' | 'i' | 'c' => {
                let text = self.rest.trim_start_matches([' ', '\t']);
                let text =
                    text.strip_prefix('\\').map_or(text, |text| text.strip_prefix('\n').unwrap_or(text));
                let end = text.find('\n').unwrap_or(text.len());
                self.rest = &text[end..];
                (!text[..end].ends_with('\\')).then_some(())
            }
            's' | 'y' => {
                let mark = self.take().filter(|mark| !matches!(mark, '\\' | '\n'))?;
                self.past(mark, command == 's')?;
                self.past(mark, false)?;
                if command == 's' {
                    let flag = |c: char| matches!(c, 'g' | 'i' | 'I' | 'p' | 'm' | 'M' | '0'..='9');
                    self.rest = self.rest.trim_start_matches(flag);
                }
                self.end()
            }
            _ => None,
        }
    }

    fn address(&mut self) -> Option<()> {
        match self.rest.chars().next()? {
            '0'..='9' | '$' => {
                let number = |c: char| c.is_ascii_digit() || matches!(c, '~' | '$');
                self.rest = self.rest.trim_start_matches(number);
            }
            '/' => {
                self.take();
                self.past('/', true)?;
                self.rest = self.rest.trim_start_matches(['I', 'M']);
            }
            '\\' => {
                self.take();
                let mark = self.take().filter(|mark| !matches!(mark, '\\' | '\n'))?;
                self.past(mark, true)?;
                self.rest = self.rest.trim_start_matches(['I', 'M']);
            }
            _ => {}
        }
        Some(())
    }

    /// Goes past the next mark that is not escaped. Versions differ about a mark in a set of characters, so that is not
    /// understood.
    fn past(&mut self, mark: char, has_sets: bool) -> Option<()> {
        loop {
            match self.take()? {
                '\\' => {
                    self.take()?;
                }
                c if c == mark => return Some(()),
                '[' if has_sets => self.set(mark)?,
                _ => {}
            }
        }
    }

    /// Goes past the rest of a set of characters such as `[^a-z[:digit:]]`.
    fn set(&mut self, mark: char) -> Option<()> {
        self.rest = self.rest.strip_prefix('^').unwrap_or(self.rest);
        if self.rest.starts_with(']') {
            return None;
        }
        loop {
            match self.take()? {
                c if c == mark => return None,
                ']' => return Some(()),
                '\\' => {
                    self.take().filter(|next| *next != ']')?;
                }
                '[' => {
                    let class = self.rest.strip_prefix(':')?;
                    let (name, rest) = class.split_once(":]")?;
                    name.bytes().all(|b| b.is_ascii_lowercase()).then_some(())?;
                    self.rest = rest;
                }
                _ => {}
            }
        }
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// Nothing but what separates commands may follow.
    fn end(&mut self) -> Option<()> {
        self.blanks();
        (self.rest.is_empty() || self.rest.starts_with([';', '\n', '}'])).then_some(())
    }

    fn take(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let first = chars.next();
        self.rest = chars.as_str();
        first
    }
}
