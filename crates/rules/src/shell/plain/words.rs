//! Words: quotes, escapes, and what the shell would still make of them.

use super::{Obstacle, Reader};
use crate::shell::word::{Word, is_name};

impl Reader<'_> {
    pub(super) fn read_word(&mut self) -> Result<Word, Obstacle> {
        let start = self.rest;
        let mut word = Word::default();
        while let Some(c) = self.peek().filter(|_| !self.is_closing()) {
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' => break,
                '(' | ')' => return Err(Obstacle::ControlFlow),
                '\'' => {
                    let body = &self.rest[1..];
                    let end = body.find('\'').ok_or(Obstacle::Unreadable)?;
                    check_quoted(&body[..end])?;
                    word.text.push_str(&body[..end]);
                    word.quoted = true;
                    self.rest = &body[end + 1..];
                }
                '"' => {
                    word.quoted = true;
                    self.read_double_quoted(&mut word)?;
                }
                '\\' => {
                    let body = &self.rest[1..];
                    let escaped = body.chars().next().ok_or(Obstacle::Unreadable)?;
                    self.rest = &body[escaped.len_utf8()..];
                    if matches!(escaped, ' ' | '\t') {
                        return Err(Obstacle::EscapedBlank);
                    }
                    if escaped != '\n' {
                        word.quoted = true;
                        word.text.push(escaped);
                    }
                }
                '`' => return Err(Obstacle::NestedCommand),
                '$' => {
                    let sum = self.read_sum()?;
                    word.text.push_str(sum);
                    word.dynamic = true;
                }
                c => {
                    match c {
                        '*' | '?' | '[' => word.glob = true,
                        '{' => word.brace = true,
                        '~' if word.text.is_empty() && !word.quoted => word.tilde = true,
                        // `a=~/x` and `PATH=a:~/b` expand as well; nothing plain needs them.
                        '~' if word.text.ends_with(['=', ':']) => word.tilde = true,
                        _ => {}
                    }
                    word.text.push(c);
                    self.rest = &self.rest[c.len_utf8()..];
                }
            }
        }
        word.raw = start[..start.len() - self.rest.len()].to_owned();
        // `stash@{0}` stays as it is; only a list or a range expands.
        word.brace &= word.raw.contains(',') || word.raw.contains("..");
        if word.brace {
            return Err(Obstacle::Braces);
        }
        if word.raw.is_empty() { Err(Obstacle::Unreadable) } else { Ok(word) }
    }

    fn read_double_quoted(&mut self, word: &mut Word) -> Result<(), Obstacle> {
        self.rest = &self.rest[1..];
        // What has been looked at for lines that look like comments; a here-document may have them.
        let mut checked = word.text.len();
        loop {
            let c = self.peek().ok_or(Obstacle::Unreadable)?;
            match c {
                '"' => {
                    self.rest = &self.rest[1..];
                    return check_quoted(&word.text[checked..]);
                }
                '`' => return Err(Obstacle::NestedCommand),
                '$' if self.read_here_text(word) => checked = word.text.len(),
                '$' => {
                    self.check_quoted_dollar()?;
                    word.text.push('$');
                    self.rest = &self.rest[1..];
                }
                '\\' => {
                    let body = &self.rest[1..];
                    let escaped = body.chars().next().ok_or(Obstacle::Unreadable)?;
                    match escaped {
                        '\n' => {}
                        '$' | '`' | '"' | '\\' => word.text.push(escaped),
                        other => {
                            word.text.push('\\');
                            word.text.push(other);
                        }
                    }
                    self.rest = &body[escaped.len_utf8()..];
                }
                c => {
                    word.text.push(c);
                    self.rest = &self.rest[c.len_utf8()..];
                }
            }
        }
    }

    /// Takes `$(cat <<'EOF' … EOF)` for the text that it is. Says whether it stands here.
    fn read_here_text(&mut self, word: &mut Word) -> bool {
        let Some((text, rest)) = here_text(self.rest) else { return false };
        word.text.push_str(text);
        self.rest = rest;
        self.texts += 1;
        true
    }

    /// A `$` in quotes is literal only where nothing that could be a name or a group follows.
    fn check_quoted_dollar(&self) -> Result<(), Obstacle> {
        match self.rest[1..].chars().next() {
            Some('(') if self.rest.starts_with("$((") => Err(Obstacle::Variable),
            Some('(') => Err(Obstacle::NestedCommand),
            None
            | Some(' ' | '\t' | '\n' | '"' | '\'' | ';' | '|' | '&' | '/' | ',' | '.' | ':' | '=' | '%') => {
                Ok(())
            }
            Some(_) => Err(Obstacle::Variable),
        }
    }

    /// Outside of quotes the only plain thing that starts with `$` is a sum of numbers.
    fn read_sum(&mut self) -> Result<&str, Obstacle> {
        let Some(body) = self.rest.strip_prefix("$((") else {
            return Err(match self.rest[1..].chars().next() {
                Some('(') => Obstacle::NestedCommand,
                Some('\'' | '"') => Obstacle::EncodedText,
                _ => Obstacle::Variable,
            });
        };
        let end = body.find("))").filter(|end| is_sum(&body[..*end])).ok_or(Obstacle::Variable)?;
        let (sum, rest) = self.rest.split_at("$((".len() + end + "))".len());
        self.rest = rest;
        Ok(sum)
    }
}

/// The text of a literal here-document that `cat` turns into a word, and what follows it.
fn here_text(command: &str) -> Option<(&str, &str)> {
    let rest = command.strip_prefix("$(cat <<")?.trim_start_matches([' ', '\t']);
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (end, rest) = rest[1..].split_once(quote)?;
    let body = rest.strip_prefix('\n')?;
    if !is_name(end) {
        return None;
    }
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        if line.strip_suffix('\n') == Some(end) {
            let after = body[at + line.len()..].trim_start_matches([' ', '\t', '\n']).strip_prefix(')')?;
            return Some((body[..at].trim_end_matches('\n'), after));
        }
        at += line.len();
    }
    None
}

/// Whether text is computed without looking at any variable: a name could hold more text to compute, and that may run
/// commands.
fn is_sum(text: &str) -> bool {
    let mut in_number = false;
    let plain = |c: char| {
        let fits = match c {
            '0'..='9' => true,
            'a'..='z' | 'A'..='Z' => in_number,
            _ => "+-*/%<>=!&|^~?:, ".contains(c),
        };
        in_number = c.is_ascii_digit() || in_number && c.is_ascii_alphabetic();
        fits
    };
    !text.trim().is_empty() && text.chars().all(plain)
}

/// A quoted line that starts with `#` reads as a comment to whoever skims it.
fn check_quoted(text: &str) -> Result<(), Obstacle> {
    let hidden = text.split('\n').skip(1).any(|line| line.trim_start_matches([' ', '\t']).starts_with('#'));
    if hidden { Err(Obstacle::HiddenComment) } else { Ok(()) }
}
