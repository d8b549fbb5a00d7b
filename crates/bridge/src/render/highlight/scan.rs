//! One pass over code, a part at a time.

use super::super::escape_into;
use super::languages::{Language, Way};

/// Code with its parts in spans.
pub(super) fn html(code: &str, language: &Language) -> String {
    let mut scan = Scan { rest: code, language, out: String::with_capacity(code.len() * 2), at: At::Start };
    while !scan.rest.is_empty() {
        scan.step();
    }
    scan.out
}

struct Scan<'a> {
    rest: &'a str,
    language: &'a Language,
    out: String,
    at: At,
}

/// What was last seen, as far as it decides what a word is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// The first word of a line, or of a command, comes next.
    Start,
    /// Inside the line.
    Within,
    /// Between `<` and `>`.
    Tag,
}

impl<'a> Scan<'a> {
    fn step(&mut self) {
        if self.language.way == Way::Changes {
            return self.changed_line();
        }
        let Some(first) = self.rest.chars().next() else { return };
        if first.is_whitespace() {
            let length = self.length_while(char::is_whitespace);
            let space = self.take(length);
            if space.contains('\n') && self.at != At::Tag {
                self.at = At::Start;
            }
            return self.plain(space);
        }
        if let Some(length) = self.comment() {
            let comment = self.take(length);
            return self.span("hl-comment", comment);
        }
        if self.language.way == Way::Markup {
            return self.markup(first);
        }
        let quotes = self.language.quotes.iter();
        if let Some(quote) = quotes.copied().find(|quote| self.rest.starts_with(quote)) {
            return self.string(quote);
        }
        match first {
            '\'' if self.language.way == Way::Rust => self.quote_of_rust(),
            '$' if self.language.way == Way::Shell => self.variable(),
            _ if first.is_ascii_digit() => {
                let number = self.length_while(|char| char.is_alphanumeric() || char == '.' || char == '_');
                let number = self.take(number);
                self.at = At::Within;
                self.span("hl-number", number);
            }
            _ if starts_a_word(first) => self.word(),
            _ => {
                let mark = self.take(first.len_utf8());
                self.at = match first {
                    '|' | ';' | '&' | '(' | '{' | ',' => At::Start,
                    _ => At::Within,
                };
                self.plain(mark);
            }
        }
    }

    /// The length of the comment that begins here.
    fn comment(&self) -> Option<usize> {
        if let Some((begin, end)) = self.language.block_comment
            && let Some(inside) = self.rest.strip_prefix(begin)
        {
            let whole = inside.find(end).map(|at| begin.len() + at + end.len());
            return Some(whole.unwrap_or(self.rest.len()));
        }
        let mut marks = self.language.line_comments.iter();
        let mark = marks.find(|mark| self.rest.starts_with(**mark))?;
        // In a shell `a#b` is a word, and in YAML and such `#` stands in the middle of values.
        let needs_space = matches!(self.language.way, Way::Shell | Way::Data) && mark.len() == 1;
        if needs_space && !self.out.is_empty() && !self.out.ends_with(char::is_whitespace) {
            return None;
        }
        Some(self.rest.find('\n').unwrap_or(self.rest.len()))
    }

    fn string(&mut self, quote: &str) {
        let many_lines = quote.len() > 1 || quote == "`" || self.language.way == Way::Shell;
        let inside = self.rest.get(quote.len()..).unwrap_or_default();
        let mut end = inside.len();
        let mut escaped = false;
        for (at, char) in inside.char_indices() {
            if escaped {
                escaped = false;
            } else if char == '\\' {
                escaped = true;
            } else if inside.get(at..).is_some_and(|rest| rest.starts_with(quote)) {
                end = at + quote.len();
                break;
            } else if char == '\n' && !many_lines {
                end = at;
                break;
            }
        }
        let string = self.take(quote.len() + end);
        let is_name = self.language.way == Way::Data && self.rest.trim_start().starts_with(':');
        self.at = At::Within;
        self.span(if is_name { "hl-property" } else { "hl-string" }, string);
    }

    /// A character, or the name of a lifetime.
    fn quote_of_rust(&mut self) {
        let mut chars = self.rest.chars().skip(1);
        let (second, third) = (chars.next(), chars.next());
        let length = match (second, third) {
            (Some('\\'), _) => {
                let line = self.rest.find('\n').unwrap_or(self.rest.len());
                let end = self.rest.get(3..line).and_then(|rest| rest.find('\''));
                end.map_or(1, |at| at + 4)
            }
            (Some(char), Some('\'')) => char.len_utf8() + 2,
            _ => {
                let name = self.rest.get(1..).unwrap_or_default();
                let name = name.find(|char: char| !is_of_a_word(char)).unwrap_or(name.len());
                let lifetime = self.take(1 + name);
                return self.span("hl-variable", lifetime);
            }
        };
        let char = self.take(length);
        self.span("hl-string", char);
    }

    fn variable(&mut self) {
        let name = self.rest.get(1..).unwrap_or_default();
        let length = match name.strip_prefix('{') {
            Some(inside) => inside.find(['}', '\n']).map_or(name.len(), |at| at + 2),
            None => name.find(|char: char| !is_of_a_word(char)).unwrap_or(name.len()),
        };
        let variable = self.take(1 + length);
        self.at = At::Within;
        self.span("hl-variable", variable);
    }

    fn word(&mut self) {
        let joins = |char: char| match self.language.way {
            Way::Shell => is_of_a_word(char) || matches!(char, '-' | '.' | '/' | '+' | ':' | '@'),
            Way::Data => is_of_a_word(char) || matches!(char, '-' | '.'),
            _ => is_of_a_word(char),
        };
        let length = self.length_while(joins);
        let word = self.take(length);
        let at = std::mem::replace(&mut self.at, At::Within);
        let language = self.language;
        let listed = |list: &str| match language.way {
            Way::AnyCase => list.split_ascii_whitespace().any(|entry| entry.eq_ignore_ascii_case(word)),
            _ => list.split_ascii_whitespace().any(|entry| entry == word),
        };
        let next = self.rest.trim_start_matches([' ', '\t']).chars().next();
        let class = if listed(language.keywords) {
            // What follows `if` or `do` is a command again.
            self.at = if language.way == Way::Shell { At::Start } else { At::Within };
            Some("hl-keyword")
        } else if listed(language.constants) {
            Some("hl-constant")
        } else {
            match language.way {
                Way::Data if matches!(next, Some(':' | '=')) => Some("hl-property"),
                Way::Shell if next == Some('=') && self.rest.starts_with('=') => Some("hl-variable"),
                Way::Shell if at == At::Start => Some("hl-function"),
                Way::Data | Way::Shell => None,
                Way::Types | Way::Rust if word.chars().next().is_some_and(char::is_uppercase) => {
                    Some("hl-type")
                }
                _ if next == Some('(') => Some("hl-function"),
                Way::Rust if self.rest.starts_with('!') => Some("hl-function"),
                _ => None,
            }
        };
        match class {
            Some(class) => self.span(class, word),
            None => self.plain(word),
        }
    }

    fn markup(&mut self, first: char) {
        if self.at != At::Tag {
            if first == '<' {
                let name = self.rest.get(1..).unwrap_or_default();
                let ends = |char: char| !(is_of_a_word(char) || matches!(char, '-' | ':' | '/' | '!' | '?'));
                let length = 1 + name.find(ends).unwrap_or(name.len());
                let tag = self.take(length);
                self.at = At::Tag;
                return self.span("hl-tag", tag);
            }
            let length = self.rest.find('<').unwrap_or(self.rest.len());
            let text = self.take(length);
            return self.plain(text);
        }
        match first {
            '>' => {
                let end = self.take(1);
                self.at = At::Within;
                self.span("hl-tag", end);
            }
            '"' | '\'' => {
                let inside = self.rest.get(1..).unwrap_or_default();
                let length = inside.find(first).map_or(self.rest.len(), |at| at + 2);
                let value = self.take(length);
                self.span("hl-string", value);
            }
            _ if starts_a_word(first) => {
                let length = self.length_while(|char| is_of_a_word(char) || matches!(char, '-' | ':' | '.'));
                let name = self.take(length);
                self.span("hl-attribute", name);
            }
            _ => {
                let mark = self.take(first.len_utf8());
                self.plain(mark);
            }
        }
    }

    fn changed_line(&mut self) {
        let length = self.rest.find('\n').map_or(self.rest.len(), |at| at + 1);
        let line = self.take(length);
        let class = match line.chars().next() {
            Some('+') => Some("hl-inserted"),
            Some('-') => Some("hl-deleted"),
            Some('@') => Some("hl-meta"),
            _ => None,
        };
        match class {
            Some(class) => self.span(class, line),
            None => self.plain(line),
        }
    }

    fn length_while(&self, belongs: impl Fn(char) -> bool) -> usize {
        self.rest.find(|char| !belongs(char)).unwrap_or(self.rest.len())
    }

    /// So many bytes; all of the rest if they end inside a character, which they do not.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn plain(&mut self, text: &str) {
        escape_into(text, &mut self.out);
    }

    fn span(&mut self, class: &str, text: &str) {
        self.out.push_str("<span class=\"");
        self.out.push_str(class);
        self.out.push_str("\">");
        escape_into(text, &mut self.out);
        self.out.push_str("</span>");
    }
}

fn starts_a_word(char: char) -> bool {
    char.is_alphabetic() || char == '_'
}

fn is_of_a_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}
