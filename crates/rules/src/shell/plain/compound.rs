//! What holds other commands: loops and conditions, groups, tests, and assignments of a command's output.

use super::{DEEPEST, FLOW, FLOW_ENDS, Joint, Obstacle, Reader};
use crate::shell::word::{Word, is_name};

impl<'a> Reader<'a> {
    /// Reads the commands up to a closing character, and takes that as well.
    fn read_nested(&mut self, closing: char) -> Result<Reader<'a>, Obstacle> {
        if self.depth >= DEEPEST {
            return Err(Obstacle::ControlFlow);
        }
        let mut inner = Reader::new(self.rest, Some(closing));
        inner.depth = self.depth + 1;
        inner.read_all()?;
        self.rest = inner.rest.strip_prefix(closing).ok_or(Obstacle::Unreadable)?;
        self.late = self.late.or(inner.late);
        self.sets_variables |= inner.sets_variables;
        self.texts += inner.texts;
        if inner.loops && inner.piped {
            return Err(Obstacle::FedLoop);
        }
        // What is nested is one thing to be asked about; several in a row are a program.
        if inner.sequenced { Err(Obstacle::ControlFlow) } else { Ok(inner) }
    }

    /// `$(…)` or backticks, if they stand here.
    fn read_substitution(&mut self) -> Result<Option<Reader<'a>>, Obstacle> {
        if self.closing != Some('`') && self.take("`") {
            return self.read_nested('`').map(Some);
        }
        if !self.rest.starts_with("$((") && self.take("$(") {
            return self.read_nested(')').map(Some);
        }
        Ok(None)
    }

    /// `( … )`: whoever allows the commands has not yet allowed them in a shell of their own.
    pub(super) fn read_group(&mut self) -> Result<(), Obstacle> {
        if self.rest.starts_with("((") {
            return Err(Obstacle::ControlFlow);
        }
        self.rest = &self.rest[1..];
        let inner = self.read_nested(')')?;
        self.commands.extend(inner.commands);
        self.late.get_or_insert(Obstacle::Grouping);
        Ok(())
    }

    /// Whether a word belongs to a loop or a condition; the head of a `for` is read to its end.
    pub(super) fn read_flow(&mut self, word: &Word, joint: Joint) -> Result<bool, Obstacle> {
        match word.raw.as_str() {
            "for" => {
                (self.loops, self.sets_variables) = (true, true);
                self.read_for()?;
            }
            "while" | "until" => self.loops = true,
            // What is fed to a condition is fed to every command in it.
            "if" if joint == Joint::Pipe => return Err(Obstacle::FedLoop),
            raw => return Ok(FLOW.contains(&raw) || FLOW_ENDS.contains(&raw)),
        }
        Ok(true)
    }

    fn read_for(&mut self) -> Result<(), Obstacle> {
        let mut words = 0;
        loop {
            self.skip_blank();
            if self.is_closing() || matches!(self.peek(), None | Some('\n' | ';')) {
                break;
            }
            if words > 1
                && let Some(inner) = self.read_substitution()?
            {
                self.check_end_of_word()?;
                let obstacle = if inner.piped { Obstacle::FedLoop } else { Obstacle::Entangled };
                self.late.get_or_insert(obstacle);
                self.commands.extend(inner.commands);
                words += 1;
                continue;
            }
            // Names and words; a variable, a group or a redirection among them is an obstacle as anywhere.
            let word = self.read_word()?;
            let expected = match words {
                0 => is_name(&word.raw),
                1 => word.raw == "in",
                _ => true,
            };
            if !expected {
                return Err(Obstacle::ControlFlow);
            }
            words += 1;
        }
        if words == 0 { Err(Obstacle::ControlFlow) } else { Ok(()) }
    }

    /// `NAME=$(…)`: the nested commands are parts of the whole. Nothing for any other word.
    pub(super) fn read_assigned_output(&mut self, joint: Joint) -> Result<Option<Word>, Obstacle> {
        let start = self.rest;
        let Some((name, value)) = start.split_once('=').filter(|(name, _)| is_name(name)) else {
            return Ok(None);
        };
        if !value.starts_with(['$', '`']) {
            return Ok(None);
        }
        self.rest = value;
        let Some(inner) = self.read_substitution()? else {
            self.rest = start;
            return Ok(None);
        };
        self.check_end_of_word()?;
        // What is fed to the assignment would be fed to the commands in it.
        if joint == Joint::Pipe {
            return Err(Obstacle::NestedCommand);
        }
        if inner.piped {
            self.late.get_or_insert(Obstacle::Entangled);
        }
        let only_reads_a_file = inner.commands.iter().any(|command| command.words.is_empty());
        if only_reads_a_file {
            return Err(Obstacle::NestedCommand);
        }
        self.commands.extend(inner.commands);
        let raw = start[..start.len() - self.rest.len()].to_owned();
        Ok(Some(Word { raw, text: format!("{name}="), dynamic: true, ..Word::default() }))
    }

    fn check_end_of_word(&self) -> Result<(), Obstacle> {
        match self.peek() {
            None | Some(' ' | '\t' | '\n' | ';' | '|' | '&') => Ok(()),
            Some(_) if self.is_closing() => Ok(()),
            Some(_) => Err(Obstacle::NestedCommand),
        }
    }

    /// Whether an assignment that stands alone is one, and to a variable that nothing else obeys.
    pub(super) fn check_lone(&self, assignments: &[Word]) -> Result<(), Obstacle> {
        let harmless = |word: &Word| {
            let name = word.raw.split_once('=').map_or("", |(name, _)| name);
            let name = name.strip_suffix('+').unwrap_or(name);
            is_name(name) && !word.tilde && !steers(name)
        };
        match assignments {
            [only] if harmless(only) => Ok(()),
            _ => Err(Obstacle::Assignment),
        }
    }

    /// The words of `[[ … ]]` after the first.
    pub(super) fn read_test(&mut self, words: &mut Vec<Word>) -> Result<(), Obstacle> {
        loop {
            self.skip_blank();
            let is_pattern = words.last().is_some_and(|word| word.raw == "=~");
            let operators: &[&str] = if is_pattern { &[] } else { &["&&", "||", "(", ")", "<", ">"] };
            let operator = operators.iter().copied().find(|operator| self.take(operator));
            if let Some(operator) = operator {
                words.push(Word { raw: operator.to_owned(), text: operator.to_owned(), ..Word::default() });
                continue;
            }
            if matches!(self.peek(), None | Some('\n' | ';' | '|' | '&')) {
                return Err(Obstacle::ControlFlow);
            }
            let word = if is_pattern { self.read_pattern()? } else { self.read_word()? };
            let ends = word.raw == "]]";
            words.push(word);
            if ends {
                return Ok(());
            }
        }
    }

    /// A regular expression, which has brackets and bars of its own.
    fn read_pattern(&mut self) -> Result<Word, Obstacle> {
        let end = self.rest.find([' ', '\t', '\n']).unwrap_or(self.rest.len());
        let (raw, rest) = self.rest.split_at(end);
        let body = raw.strip_suffix('$').unwrap_or(raw);
        if body.is_empty() || body.contains(['$', '`', '\'', '"', '\\', '<', '>', ';', '&']) {
            return Err(Obstacle::Variable);
        }
        self.rest = rest;
        let glob = raw.contains(['*', '?', '[', '$']);
        Ok(Word { raw: raw.to_owned(), text: raw.to_owned(), glob, ..Word::default() })
    }
}

/// Variables that programs and the shell itself obey, often without anybody looking.
const STEERING: &[&str] = &[
    "BROWSER",
    "CDPATH",
    "EDITOR",
    "ENV",
    "GLOBIGNORE",
    "HOME",
    "IFS",
    "LANG",
    "LANGUAGE",
    "LESS",
    "LESSOPEN",
    "MANPAGER",
    "OLDPWD",
    "PAGER",
    "PROMPT_COMMAND",
    "PS4",
    "PWD",
    "SHELL",
    "SHELLOPTS",
    "TMPDIR",
    "VISUAL",
    "_",
];

fn steers(name: &str) -> bool {
    let starts = ["BASH", "DYLD_", "GIT_", "LC_", "LD_", "NODE_OPTIONS", "PERL", "PYTHON", "RUBY"];
    STEERING.contains(&name) || name.ends_with("PATH") || starts.iter().any(|start| name.starts_with(start))
}
