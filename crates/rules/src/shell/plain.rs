//! The strict reading of a command line, the one that may lead to *allow*.
//!
//! It knows only simple commands joined by `;`, `&`, `&&`, `||`, `|` and newlines, with quoted words,
//! redirections and literal here-documents, the conditions and loops that only say whether and how often those
//! run, and commands whose output is assigned. Everything else is an [`Obstacle`], and then somebody is asked. It is
//! written by hand, apart from the grammar in [`super::tree`], on purpose: a command is allowed only when both
//! readings agree on its parts, so a trick has to fool two unrelated readers in the same way.

mod compound;
mod words;

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
    /// `{ … }`, `case`, functions, groups and loops with redirections.
    ControlFlow,
    /// A loop in a pipe: what is fed to it is fed to every command in it.
    FedLoop,
    /// A loop over the output of a command, a pipe in an assignment, a pipe that a continued line is split at.
    Entangled,
    /// Several assignments at once, or one that steers other programs.
    Assignment,
    /// A word that some shells take for the path of a program: `=name`.
    ProgramPath,
    /// A continued line in the middle of a word.
    SplitWord,
    /// A quoted line that looks like a comment.
    HiddenComment,
    /// `>&-`: a file that is closed.
    Closed,
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
    /// `2>&1`, `<&0`
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
    /// As written, blanks and all: what exact rules are compared with.
    pub(crate) source: String,
}

impl PlainCommand {
    /// The words as written, with single spaces, assignments first: what rules that leave room are compared with.
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

/// The strict reading of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlainReading {
    pub(crate) parts: Vec<PlainCommand>,
    /// It sets variables of the shell that runs it, by an assignment or as a loop does.
    pub(crate) sets_variables: bool,
    /// How many `cat` only stand for text in quotes.
    pub(crate) texts: usize,
}

/// Reads a command line strictly.
pub(crate) fn read(command: &str) -> Result<PlainReading, Obstacle> {
    if super::is_too_long(command) {
        return Err(Obstacle::TooLong);
    }
    if command.chars().any(is_hidden) {
        return Err(Obstacle::HiddenCharacters);
    }
    if splits_a_word(command) {
        return Err(Obstacle::SplitWord);
    }
    let mut reader = Reader::new(command, None);
    reader.read_all()?;
    match reader.late {
        Some(obstacle) => Err(obstacle),
        None if reader.loops && reader.piped => Err(Obstacle::FedLoop),
        None => {
            let Reader { commands: parts, sets_variables, texts, .. } = reader;
            Ok(PlainReading { parts, sets_variables, texts })
        }
    }
}

/// Whether a line is continued right after something that is no blank.
fn splits_a_word(command: &str) -> bool {
    command.match_indices("\\\n").any(|(at, _)| !command[..at].ends_with([' ', '\t']))
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

const RESERVED: &[&str] = &["case", "esac", "select", "function", "coproc", "in", "]]", "{", "}"];

struct Reader<'a> {
    rest: &'a str,
    commands: Vec<PlainCommand>,
    /// Here-documents announced on the current line: their end words, whether literal, whether tabs are cut.
    here_documents: Vec<(String, bool, bool)>,
    /// There is a loop.
    loops: bool,
    /// There is an assignment that stands alone, or a loop over words.
    sets_variables: bool,
    /// Here-documents that are words.
    texts: usize,
    /// There is a pipe.
    piped: bool,
    /// There is a `;`.
    sequenced: bool,
    /// The last separator was one that a command must follow.
    chained: bool,
    /// What ends the text, if it is nested in another.
    closing: Option<char>,
    /// Nested texts that enclose this one.
    depth: usize,
    /// An obstacle that gives way to any other that is found later.
    late: Option<Obstacle>,
}

/// Commands nested more deeply are not read.
const DEEPEST: usize = 8;

impl<'a> Reader<'a> {
    fn new(rest: &'a str, closing: Option<char>) -> Self {
        Self {
            rest,
            commands: Vec::new(),
            here_documents: Vec::new(),
            loops: false,
            sets_variables: false,
            texts: 0,
            piped: false,
            sequenced: false,
            chained: false,
            closing,
            depth: 0,
            late: None,
        }
    }

    fn read_all(&mut self) -> Result<(), Obstacle> {
        let mut joint = Joint::First;
        loop {
            let (mut command, is_flow) = self.read_command(joint)?;
            let empty =
                command.words.is_empty() && command.assignments.is_empty() && command.redirects.is_empty();
            command.background = self.rest.starts_with('&') && !self.rest.starts_with("&&");
            self.sequenced |= self.rest.starts_with(';');
            let separator = self.read_separator()?;
            self.piped |= separator == Separator::Pipe;
            match (empty, separator) {
                // The head and the end of a loop stand for no command.
                (true, _) if is_flow => {
                    if let Some(last) = self.commands.last_mut().filter(|_| command.background) {
                        last.background = true;
                    }
                }
                (true, Separator::Newline | Separator::End) => {}
                // `;;`, `| |`, a leading `&&`: not a command line.
                (true, _) => return Err(Obstacle::Unreadable),
                // Nothing runs; what the variable then holds is no part of a plain command.
                (false, _) if command.words.is_empty() && command.redirects.is_empty() => {
                    self.check_lone(&command.assignments)?;
                    self.sets_variables = true;
                    self.commands.extend(command.background.then_some(command));
                }
                (false, _) => self.commands.push(command),
            }
            joint = match separator {
                Separator::End => break,
                Separator::Pipe => Joint::Pipe,
                // A newline after a pipe does not end the pipeline.
                Separator::Newline if empty => joint,
                Separator::Newline | Separator::Sequence | Separator::Chain => Joint::Sequence,
            };
            self.chained = matches!(separator, Separator::Chain | Separator::Pipe)
                || self.chained && empty && separator == Separator::Newline;
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

    /// Skips blanks, and says whether a line was continued among them.
    fn skip_blank(&mut self) -> bool {
        let mut continued = false;
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t']);
            if !self.take("\\\n") {
                return continued;
            }
            continued = true;
        }
    }

    fn is_closing(&self) -> bool {
        self.closing.is_some() && self.peek() == self.closing
    }

    /// Reads a command, and says whether it is the head or the end of a loop, a condition or a group instead.
    fn read_command(&mut self, joint: Joint) -> Result<(PlainCommand, bool), Obstacle> {
        let mut command = PlainCommand {
            joint,
            assignments: Vec::new(),
            words: Vec::new(),
            redirects: Vec::new(),
            background: false,
            source: String::new(),
        };
        let mut source = Source::default();
        // Nothing but a separator may follow `done`, `)` or `]]`.
        let (mut is_flow, mut ended) = (false, false);
        loop {
            let continued = self.skip_blank();
            let is_first = command.words.is_empty() && command.assignments.is_empty();
            let at_start = is_first && command.redirects.is_empty() && !ended;
            let next = self.peek().filter(|_| !self.is_closing());
            if continued
                && (next == Some('|') && !self.rest.starts_with("||") || at_start && joint == Joint::Pipe)
            {
                self.late.get_or_insert(Obstacle::Entangled);
            }
            match next {
                None | Some('\n' | ';' | '|') => break,
                // Where a command is due, a comment is not followed to the next line.
                Some('#') if at_start && self.chained => return Err(Obstacle::Unreadable),
                Some('#') => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                }
                Some('&') if !self.rest.starts_with("&>") => break,
                Some('(') if at_start => {
                    self.read_group()?;
                    (is_flow, ended) = (true, true);
                }
                Some('(' | ')') => return Err(Obstacle::ControlFlow),
                Some(_) if ended => return Err(Obstacle::ControlFlow),
                Some('<' | '>' | '&') => {
                    let redirect = self.read_redirect()?;
                    command.redirects.push(redirect);
                    source.interrupt();
                }
                Some(_) => {
                    let before = self.rest;
                    if command.words.is_empty()
                        && let Some(assignment) = self.read_assigned_output(joint)?
                    {
                        source.add(before, self.rest);
                        command.assignments.push(assignment);
                        continue;
                    }
                    let word = self.read_word()?;
                    let number = !word.quoted && word.raw.bytes().all(|b| b.is_ascii_digit());
                    if number && self.rest.starts_with(['<', '>']) {
                        continue;
                    }
                    if command.words.is_empty() {
                        check_position(&word)?;
                        if at_start && self.read_flow(&word, joint)? {
                            ended = !FLOW.contains(&word.raw.as_str());
                            is_flow |= ended;
                            continue;
                        }
                        if word.is_assignment() {
                            source.add(before, self.rest);
                            command.assignments.push(word);
                            continue;
                        }
                    }
                    let is_test = command.words.first().is_some_and(|first| first.raw == "[");
                    if word.raw.starts_with('=') && !word.raw.starts_with("==") && !is_test {
                        return Err(Obstacle::ProgramPath);
                    }
                    let opens_test = command.words.is_empty() && word.raw == "[[";
                    command.words.push(word);
                    if opens_test {
                        self.read_test(&mut command.words)?;
                        ended = true;
                    }
                    source.add(before, self.rest);
                }
            }
        }
        command.source = source.text().map_or_else(|| command.text(), ToOwned::to_owned);
        Ok((command, is_flow))
    }

    fn read_separator(&mut self) -> Result<Separator, Obstacle> {
        if self.rest.is_empty() || self.is_closing() {
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
        if target.dynamic {
            return Err(Obstacle::Variable);
        }
        if kind == RedirectKind::Duplicate && target.raw == "-" {
            return Err(Obstacle::Closed);
        }
        // `>&file` writes a file; only numbers duplicate.
        let number = target.raw.bytes().all(|b| b.is_ascii_digit());
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
}

/// The text of a command from its first word to its last, as long as nothing else stands between them.
#[derive(Default)]
struct Source<'a> {
    start: Option<&'a str>,
    /// How much of the text is left after it.
    end: usize,
    interrupted: bool,
    broken: bool,
}

impl<'a> Source<'a> {
    fn add(&mut self, before: &'a str, after: &str) {
        self.broken |= self.interrupted && self.start.is_some();
        self.start.get_or_insert(before);
        self.end = after.len();
    }

    fn interrupt(&mut self) {
        self.interrupted = self.start.is_some();
    }

    fn text(&self) -> Option<&'a str> {
        let start = self.start.filter(|_| !self.broken)?;
        start.get(..start.len() - self.end).filter(|text| !text.contains("\\\n"))
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
        raw if raw.starts_with('-') => Err(Obstacle::Unreadable),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
