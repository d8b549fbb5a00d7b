//! The content of a `Bash(…)` rule: an exact command, a prefix of words, or text with wildcards.

/// A compiled command pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BashPattern {
    /// The command and nothing else.
    Exact(String),
    /// `git:*` and `git *`: these words, and then anything.
    Prefix(String),
    /// `*` anywhere else stands for any text.
    Wild(Wild),
}

/// Literal pieces with any text between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wild {
    pieces: Vec<String>,
}

impl BashPattern {
    pub(crate) fn compile(content: &str) -> Self {
        let content = squeeze(content);
        if let Some(prefix) = content.strip_suffix(":*")
            && !has_star(prefix)
        {
            return Self::Prefix(unescape(prefix));
        }
        if let Some(prefix) = content.strip_suffix(" *")
            && !has_star(prefix)
        {
            return Self::Prefix(unescape(prefix));
        }
        if has_star(&content) { Self::Wild(Wild::compile(&content)) } else { Self::Exact(unescape(&content)) }
    }
}

impl Wild {
    fn compile(content: &str) -> Self {
        let mut pieces = vec![String::new()];
        let mut chars = content.chars();
        while let Some(c) = chars.next() {
            match c {
                '*' => pieces.push(String::new()),
                '\\' => {
                    let next = chars.next();
                    if next != Some('*') {
                        push(&mut pieces, '\\');
                    }
                    if let Some(next) = next {
                        push(&mut pieces, next);
                    }
                }
                c => push(&mut pieces, c),
            }
        }
        // `a * b *` ends in an optional rest, like a prefix.
        Self { pieces }
    }

    /// Whether the text matches. Each piece is taken where it first fits, which is enough when only `*` varies.
    pub(crate) fn matches(&self, text: &str) -> bool {
        if self.matches_pieces(text) {
            return true;
        }
        // A final ` *` may stand for no words at all.
        match self.pieces.as_slice() {
            [.., last, end] if end.is_empty() && last.ends_with(' ') => {
                self.matches_pieces(&format!("{text} "))
            }
            _ => false,
        }
    }

    fn matches_pieces(&self, text: &str) -> bool {
        let [first, middle @ .., last] = self.pieces.as_slice() else { return false };
        let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
        for piece in middle {
            let Some((_, after)) = rest.split_once(piece.as_str()) else { return false };
            rest = after;
        }
        rest.ends_with(last.as_str())
    }

    /// The texts between the `*`.
    pub(crate) fn pieces(&self) -> &[String] {
        &self.pieces
    }

    /// The text before the first `*`.
    pub(crate) fn start(&self) -> &str {
        self.pieces.first().map_or("", String::as_str)
    }

    /// Whether nothing fixes which program runs.
    pub(crate) fn is_open_at_start(&self) -> bool {
        self.pieces.first().is_some_and(String::is_empty)
    }
}

fn push(pieces: &mut [String], c: char) {
    if let Some(last) = pieces.last_mut() {
        last.push(c);
    }
}

fn has_star(text: &str) -> bool {
    let mut escaped = false;
    text.chars().any(|c| {
        let star = c == '*' && !escaped;
        escaped = c == '\\' && !escaped;
        star
    })
}

fn unescape(text: &str) -> String {
    text.replace("\\*", "*")
}

/// Runs of blanks outside quotes become one space, as in the commands that rules are compared with.
pub(crate) fn squeeze(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    let mut quote: Option<char> = None;
    let mut blank = false;
    for c in text.chars() {
        match (quote, c) {
            (None, ' ' | '\t') => {
                blank = true;
                continue;
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
        if blank {
            squeezed.push(' ');
            blank = false;
        }
        squeezed.push(c);
    }
    if blank {
        squeezed.push(' ');
    }
    squeezed
}

#[cfg(test)]
#[path = "bash_pattern_tests.rs"]
mod tests;
