//! The strict reading of a command line, the one that may lead to *allow*.
//!
//! It knows only simple commands joined by `;`, `&`, `&&`, `||`, `|` and newlines, with quoted words,
//! redirections and literal here-documents, and the conditions and loops that only say whether and how often those
//! run. Everything else is an [`Obstacle`], and then somebody is asked. It is
//! written by hand, apart from the grammar in [`super::tree`], on purpose: a command is allowed only when both
//! readings agree on its parts, so a trick has to fool two unrelated readers in the same way.

use super::word::Word;

/// Why a command is not plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// `$(…)`, backticks or process substitution.
    NestedCommand,
    /// `$name`, `${…}`, `$((…))`.
    Variable,
    /// Parentheses: commands grouped by the shell.
    Grouping,
    /// `{ … }`, `case`, functions, loops that are fed.
    ControlFlow,
    /// `{a,b}`: words that the shell makes.
    Braces,
    /// A blank that does not end a word.
    EscapedBlank,
    /// A here-document that the shell expands, or that shares its line with more.
    OpenText,
    /// `$'…'` and `$"…"`: text that is not what it looks like.
    EncodedText,
    /// Control, format or unusual space characters.
    HiddenCharacters,
    /// Unbalanced quotes, or the two readings disagree.
    Unreadable,
    /// More than anybody would read.
    TooLong,
}

/// A redirection of a plain command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Redirect {
    pub(crate) kind: RedirectKind,
    pub(crate) target: Word,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>>`, `>|`, `&>`, `&>>`, `<>`
    Write,
    /// `2>&1`, `<&0`, `>&-`
    Duplicate,
    /// `<<<` and `<<`: the text is in the command itself.
    Here,
}

/// How a command is joined to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joint {
    First,
    Sequence,
    Pipe,
}

/// A command with its words, as the strict reading sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlainCommand {
    pub(crate) joint: Joint,
    /// `NAME=value` before the command.
    pub(crate) assignments: Vec<Word>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    /// Nobody waits for it.
    pub(crate) background: bool,
}

impl PlainCommand {
    /// The words as written, with single spaces, assignments first: what rules are compared with.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for word in self.assignments.iter().chain(&self.words) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&word.raw);
        }
        text
    }

    /// Whether something is fed to its standard input.
    pub(crate) fn is_fed(&self) -> bool {
        self.joint == Joint::Pipe
            || self.redirects.iter().any(|r| matches!(r.kind, RedirectKind::Read | RedirectKind::Here))
    }
}

/// Reads a command line strictly.
pub(crate) fn read(command: &str) -> Result<Vec<PlainCommand>, Obstacle> {
    if super::is_too_long(command) {
        return Err(Obstacle::TooLong);
    }
    if command.chars().any(is_hidden) {
        return Err(Obstacle::HiddenCharacters);
    }
    let mut reader = Reader {
        rest: command,
        commands: Vec::new(),
        here_documents: Vec::new(),
        flows: false,
        piped: false,
    };
    reader.read_all()?;
    // What is fed to a loop is fed to every command in it.
    if reader.flows && reader.piped { Err(Obstacle::ControlFlow) } else { Ok(reader.commands) }
}

/// Characters that do not show, or show as something else.
fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' | ' ' => false,
        c if c.is_control() || c.is_whitespace() => true,
        '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e0fff}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        _ => false,
    }
}

/// Words before which, or after which, a command stands as usual.
const FLOW: &[&str] = &["if", "then", "else", "elif", "while", "until", "do", "!"];

/// Words that end such a command.
const FLOW_ENDS: &[&str] = &["fi", "done"];

const RESERVED: &[&str] = &["case", "esac", "select", "function", "coproc", "in", "[[", "]]", "{", "}"];

struct Reader<'a> {
    rest: &'a str,
    commands: Vec<PlainCommand>,
    /// Here-documents announced on the current line: their end words, whether literal, whether tabs are cut.
    here_documents: Vec<(String, bool, bool)>,
    /// There is a loop or a condition.
    flows: bool,
    /// There is a pipe.
    piped: bool,
}

impl Reader<'_> {
    fn read_all(&mut self) -> Result<(), Obstacle> {
        let mut joint = Joint::First;
        loop {
            let (mut command, is_flow) = self.read_command(joint)?;
            let empty =
                command.words.is_empty() && command.assignments.is_empty() && command.redirects.is_empty();
            command.background = self.rest.starts_with('&') && !self.rest.starts_with("&&");
            let separator = self.read_separator()?;
            self.piped |= separator == Separator::Pipe;
            match (empty, separator) {
                (true, Separator::Newline | Separator::End) => {}
                // The head and the end of a loop stand for no command.
                (true, Separator::Sequence | Separator::Chain) if is_flow => {}
                // `;;`, `| |`, a leading `&&`: not a command line.
                (true, _) => return Err(Obstacle::Unreadable),
                (false, _) => self.commands.push(command),
            }
            joint = match separator {
                Separator::End => break,
                Separator::Pipe => Joint::Pipe,
                // A newline after a pipe does not end the pipeline.
                Separator::Newline if empty => joint,
                Separator::Newline | Separator::Sequence | Separator::Chain => Joint::Sequence,
            };
        }
        if self.here_documents.is_empty() { Ok(()) } else { Err(Obstacle::Unreadable) }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn skip_blank(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t']);
            if !self.take("\\\n") {
                break;
            }
        }
    }

    /// Reads a command, and says whether it is the head or the end of a loop or a condition instead.
    fn read_command(&mut self, joint: Joint) -> Result<(PlainCommand, bool), Obstacle> {
        let mut command = PlainCommand {
            joint,
            assignments: Vec::new(),
            words: Vec::new(),
            redirects: Vec::new(),
            background: false,
        };
        let mut ended = false;
        loop {
            self.skip_blank();
            match self.peek() {
                None | Some('\n' | ';' | '|') => break,
                Some('#') => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                }
                Some('&') if !self.rest.starts_with("&>") => break,
                Some('(' | ')') => return Err(Obstacle::Grouping),
                // Nothing but a separator may follow `done`.
                Some(_) if ended => return Err(Obstacle::ControlFlow),
                Some('<' | '>' | '&') => {
                    let redirect = self.read_redirect()?;
                    command.redirects.push(redirect);
                }
                Some(_) => {
                    let word = self.read_word()?;
                    let number = !word.quoted && word.raw.bytes().all(|b| b.is_ascii_digit());
                    if number && self.rest.starts_with(['<', '>']) {
                        continue;
                    }
                    if command.words.is_empty() {
                        check_position(&word)?;
                        let is_first = command.assignments.is_empty() && command.redirects.is_empty();
                        if is_first && self.read_flow(&word)? {
                            ended |= !FLOW.contains(&word.raw.as_str());
                            continue;
                        }
                        if word.is_assignment() {
                            command.assignments.push(word);
                            continue;
                        }
                    }
                    command.words.push(word);
                }
            }
        }
        Ok((command, ended))
    }

    /// Whether a word belongs to a loop or a condition; the head of a `for` is read to its end.
    fn read_flow(&mut self, word: &Word) -> Result<bool, Obstacle> {
        let raw = word.raw.as_str();
        if raw == "for" {
            let mut words = 0;
            loop {
                self.skip_blank();
                if matches!(self.peek(), None | Some('\n' | ';')) {
                    break;
                }
                // Names and words; a variable, a group or a redirection among them is an obstacle as anywhere.
                let word = self.read_word()?;
                let expected = match words {
                    0 => super::word::is_name(&word.raw),
                    1 => word.raw == "in",
                    _ => true,
                };
                if !expected {
                    return Err(Obstacle::ControlFlow);
                }
                words += 1;
            }
            if words < 2 {
                return Err(Obstacle::ControlFlow);
            }
        } else if !FLOW.contains(&raw) && !FLOW_ENDS.contains(&raw) {
            return Ok(false);
        }
        self.flows |= raw != "!";
        Ok(true)
    }

    fn read_separator(&mut self) -> Result<Separator, Obstacle> {
        if self.rest.is_empty() {
            return Ok(Separator::End);
        }
        if self.take("\n") {
            self.read_here_documents()?;
            return Ok(Separator::Newline);
        }
        if self.rest.starts_with(";;") || self.rest.starts_with(";&") {
            return Err(Obstacle::ControlFlow);
        }
        if self.take("&&") || self.take("||") {
            return Ok(Separator::Chain);
        }
        if self.take("|&") || self.take("|") {
            return Ok(Separator::Pipe);
        }
        if self.take(";") || self.take("&") {
            // A final `;` or `&` ends the line.
            return Ok(Separator::Sequence).map(|separator| {
                if self.rest.trim().is_empty() && self.here_documents.is_empty() {
                    self.rest = "";
                    Separator::End
                } else {
                    separator
                }
            });
        }
        Err(Obstacle::Unreadable)
    }

    fn read_redirect(&mut self) -> Result<Redirect, Obstacle> {
        if self.rest.starts_with("<(") || self.rest.starts_with(">(") {
            return Err(Obstacle::NestedCommand);
        }
        if self.take("<<<") {
            self.skip_blank();
            return Ok(Redirect { kind: RedirectKind::Here, target: self.read_word()? });
        }
        if self.rest.starts_with("<<") {
            return self.read_here_announcement();
        }
        let kind =
            if self.take("&>>") || self.take("&>") || self.take(">>") || self.take(">|") || self.take("<>") {
                RedirectKind::Write
            } else if self.take(">&") || self.take("<&") {
                RedirectKind::Duplicate
            } else if self.take(">") {
                RedirectKind::Write
            } else if self.take("<") {
                RedirectKind::Read
            } else {
                return Err(Obstacle::Unreadable);
            };
        self.skip_blank();
        if self.rest.starts_with(['(', '<', '>']) {
            return Err(Obstacle::NestedCommand);
        }
        let target = self.read_word()?;
        // `>&file` writes a file; only numbers and `-` duplicate.
        let number = target.raw.trim_end_matches('-').bytes().all(|b| b.is_ascii_digit());
        let kind = if kind == RedirectKind::Duplicate && !number { RedirectKind::Write } else { kind };
        Ok(Redirect { kind, target })
    }

    fn read_here_announcement(&mut self) -> Result<Redirect, Obstacle> {
        let cut_tabs = self.take("<<-");
        if !cut_tabs {
            self.take("<<");
        }
        self.skip_blank();
        let end = self.read_word()?;
        if end.text.contains('\n') {
            return Err(Obstacle::Unreadable);
        }
        let line = self.rest.split('\n').next().unwrap_or_default();
        if !end.quoted || !line.trim().is_empty() {
            return Err(Obstacle::OpenText);
        }
        self.here_documents.push((end.text.clone(), end.quoted, cut_tabs));
        Ok(Redirect { kind: RedirectKind::Here, target: end })
    }

    fn read_here_documents(&mut self) -> Result<(), Obstacle> {
        for (end, literal, cut_tabs) in std::mem::take(&mut self.here_documents) {
            loop {
                if self.rest.is_empty() {
                    return Err(Obstacle::Unreadable);
                }
                let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                self.rest = rest;
                let shown = if cut_tabs { line.trim_start_matches('\t') } else { line };
                if shown == end {
                    break;
                }
                // A backslash can join lines and so hide the end word; such a text is left to the reader.
                if !literal && line.contains(['$', '`', '\\']) {
                    return Err(if line.contains('`') || line.contains("$(") {
                        Obstacle::NestedCommand
                    } else {
                        Obstacle::Variable
                    });
                }
            }
        }
        Ok(())
    }

    fn read_word(&mut self) -> Result<Word, Obstacle> {
        let start = self.rest;
        let mut word = Word::default();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' => break,
                '(' | ')' => return Err(Obstacle::Grouping),
                '\'' => {
                    let body = &self.rest[1..];
                    let end = body.find('\'').ok_or(Obstacle::Unreadable)?;
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
                    self.check_dollar(true)?;
                    word.text.push('$');
                    self.rest = &self.rest[1..];
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
        loop {
            let c = self.peek().ok_or(Obstacle::Unreadable)?;
            match c {
                '"' => {
                    self.rest = &self.rest[1..];
                    return Ok(());
                }
                '`' => return Err(Obstacle::NestedCommand),
                '$' => {
                    self.check_dollar(false)?;
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

    /// A `$` is literal only where nothing that could be a name, a group or a quote follows.
    fn check_dollar(&self, unquoted: bool) -> Result<(), Obstacle> {
        match self.rest[1..].chars().next() {
            Some('(') if self.rest.starts_with("$((") => Err(Obstacle::Variable),
            Some('(') => Err(Obstacle::NestedCommand),
            Some('\'' | '"') if unquoted => Err(Obstacle::EncodedText),
            None
            | Some(' ' | '\t' | '\n' | '"' | '\'' | ';' | '|' | '&' | '/' | ',' | '.' | ':' | '=' | '%') => {
                Ok(())
            }
            Some(_) => Err(Obstacle::Variable),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    End,
    Newline,
    Sequence,
    Chain,
    Pipe,
}

/// Words that mean something else where a command is expected.
fn check_position(word: &Word) -> Result<(), Obstacle> {
    match word.raw.as_str() {
        raw if RESERVED.contains(&raw) => Err(Obstacle::ControlFlow),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
