//! `*`, `?` and `[…]` within one path segment or word.

/// A pattern for one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glob {
    tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Char(char),
    AnyChar,
    AnyRun,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl Token {
    fn matches(&self, c: char) -> bool {
        match self {
            Self::Char(own) => *own == c,
            Self::AnyChar => true,
            Self::AnyRun => false,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated
            }
        }
    }
}

impl Glob {
    /// Whether what it matches starts with this character.
    pub(crate) fn starts_with(&self, first: char) -> bool {
        self.tokens.first() == Some(&Token::Char(first))
    }

    /// Compiles text that has a glob character; plain text gives nothing.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut tokens = Vec::new();
        let mut is_glob = false;
        let mut rest = text;
        // Once a `[` has no `]` after it, none that follows has.
        let mut may_close = true;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '\\' => {
                    let escaped = rest.chars().next().unwrap_or('\\');
                    rest = rest.strip_prefix(escaped).unwrap_or(rest);
                    tokens.push(Token::Char(escaped));
                }
                '*' => {
                    is_glob = true;
                    if tokens.last() != Some(&Token::AnyRun) {
                        tokens.push(Token::AnyRun);
                    }
                }
                '?' => {
                    is_glob = true;
                    tokens.push(Token::AnyChar);
                }
                '[' if !may_close => tokens.push(Token::Char('[')),
                '[' => match parse_class(rest) {
                    Some((class, after)) => {
                        is_glob = true;
                        tokens.push(class);
                        rest = after;
                    }
                    None => {
                        may_close = false;
                        tokens.push(Token::Char('['));
                    }
                },
                c => tokens.push(Token::Char(c)),
            }
        }
        is_glob.then_some(Self { tokens })
    }

    /// Whether the whole name matches: greedy, going back to the last `*` only, so the work stays quadratic.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let (mut rest, mut own) = (name, 0);
        let mut retry: Option<(&str, usize)> = None;
        loop {
            let next = rest.chars().next();
            match (self.tokens.get(own), next) {
                (None, None) => return true,
                (Some(Token::AnyRun), _) => {
                    retry = Some((rest, own + 1));
                    own += 1;
                    continue;
                }
                (Some(token), Some(c)) if token.matches(c) => {
                    rest = &rest[c.len_utf8()..];
                    own += 1;
                    continue;
                }
                _ => {}
            }
            let Some((from, resume)) = retry else { return false };
            let Some(skipped) = from.chars().next() else { return false };
            rest = &from[skipped.len_utf8()..];
            retry = Some((rest, resume));
            own = resume;
        }
    }

    /// As [`Glob::matches`], with the shell's rule that a leading dot must be written out.
    pub(crate) fn matches_file(&self, name: &str) -> bool {
        (!name.starts_with('.') || self.tokens.first() == Some(&Token::Char('.'))) && self.matches(name)
    }
}

/// Reads what follows `[` up to its `]`.
fn parse_class(text: &str) -> Option<(Token, &str)> {
    let (negated, body) = match text.strip_prefix(['!', '^']) {
        Some(body) => (true, body),
        None => (false, text),
    };
    // A `]` right at the start stands for itself.
    let first = body.chars().next()?;
    let end = first.len_utf8() + body[first.len_utf8()..].find(']')?;
    let chars: Vec<char> = body[..end].chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(&from) = chars.get(at) {
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(&to)) => {
                ranges.push((from, to));
                at += 3;
            }
            _ => {
                ranges.push((from, from));
                at += 1;
            }
        }
    }
    Some((Token::Class { negated, ranges }, &body[end + 1..]))
}

/// Removes the backslashes of a pattern without globs.
pub(crate) fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        plain.push(if c == '\\' { chars.next().unwrap_or('\\') } else { c });
    }
    plain
}
