//! An invocation to the prompt that reaches the model.

use std::path::PathBuf;

use crate::arguments::split_arguments;
use crate::entry::{Entry, EntryKind, Scope};
use crate::read::ReadError;
use crate::substitute::{Values, substitute};

/// A user message that calls a command: `/name` and what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invocation<'t> {
    /// The name without its slash.
    pub name: &'t str,
    /// What follows, blanks around it taken off.
    pub arguments: &'t str,
}

impl<'t> Invocation<'t> {
    /// Reads a user message; none if it does not call anything. The slash must be the very first character.
    pub fn parse(text: &'t str) -> Option<Self> {
        let text = text.strip_prefix('/')?;
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (name, arguments) = text.split_at_checked(end)?;
        (!name.is_empty()).then(|| Invocation { name, arguments: arguments.trim() })
    }
}

/// What a text may refer to as `${NAME}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables {
    /// `${CLAUDE_SESSION_ID}`.
    pub session_id: Option<String>,
    /// The folder of the user's configuration, in which plugins keep their data: `${CLAUDE_PLUGIN_DATA}`.
    pub config: Option<PathBuf>,
}

/// Runs the shell commands that a text contains. Whether a command may run is the runner's to decide.
pub trait RunShell {
    /// Runs a command and gives its output.
    ///
    /// # Errors
    /// Why it may not run, or how it failed.
    fn run(&mut self, command: &str) -> Result<String, String>;
}

/// A command inside a prompt that failed; the prompt cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the shell command in `{written}` was not run: {cause}")]
pub struct ShellFailed {
    /// The command with its marks.
    pub written: String,
    /// Why.
    pub cause: String,
}

/// A prompt, its arguments put in, its shell commands not yet run. References to files (`@path`) stay in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expansion {
    pieces: Vec<Piece>,
}

/// A shell command inside a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellCall {
    /// The command.
    pub command: String,
    /// The command with its marks, as it stands in the text.
    pub written: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Shell(ShellCall),
}

impl Entry {
    /// The prompt for these arguments. The text is read now.
    ///
    /// # Errors
    /// When the file is gone or cannot be used any more.
    pub fn expand(&self, arguments: &str, variables: &Variables) -> Result<Expansion, ReadError> {
        let body = self.read_body()?;
        let base = self.base_directory().map(|path| path.display().to_string());
        let mut known = Vec::new();
        if let Some(base) = &base {
            known.push(("CLAUDE_SKILL_DIR", base.clone()));
        }
        if let Scope::Plugin(plugin) = &self.scope {
            known.push(("CLAUDE_PLUGIN_ROOT", plugin.directory.display().to_string()));
            let data = variables.config.as_deref().map(|config| plugin.data_folder(config));
            known.extend(data.map(|data| ("CLAUDE_PLUGIN_DATA", data.display().to_string())));
        }
        if let Some(id) = &variables.session_id {
            known.push(("CLAUDE_SESSION_ID", id.clone()));
        }
        let mut expansion = Expansion::new(&body, arguments, &self.argument_names, &known);
        if let (EntryKind::Skill, Some(base)) = (self.kind, base) {
            let heading = format!("Base directory for this skill: {base}\n\n");
            expansion.pieces.insert(0, Piece::Text(heading));
        }
        Ok(expansion)
    }
}

impl Expansion {
    /// The prompt for a text that is not in a file: its arguments put in, the names of their positions given.
    pub fn of_text(body: &str, arguments: &str, names: &[String]) -> Self {
        Self::new(body, arguments, names, &[])
    }

    /// Shell commands are looked for before the arguments are put in, so that an argument cannot become one.
    fn new(body: &str, arguments: &str, names: &[String], variables: &[(&'static str, String)]) -> Self {
        let arguments = arguments.trim();
        let positional = split_arguments(arguments);
        let values = Values { all: arguments, positional: &positional, names, variables };
        let mut any_used = false;
        let mut put_in = |text: &str| {
            let (text, used) = substitute(text, &values);
            any_used |= used;
            text
        };
        let mut pieces: Vec<Piece> = Vec::new();
        for part in split_shell(body) {
            pieces.push(match part {
                Part::Text(text) => Piece::Text(put_in(text)),
                Part::Shell { written, command } => {
                    Piece::Shell(ShellCall { command: put_in(command), written: put_in(written) })
                }
            });
        }
        if !any_used && !arguments.is_empty() {
            pieces.push(Piece::Text(format!("\n\nARGUMENTS: {arguments}")));
        }
        Expansion { pieces }
    }

    /// The shell commands, in order.
    pub fn shell_calls(&self) -> impl Iterator<Item = &ShellCall> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Shell(call) => Some(call),
            Piece::Text(_) => None,
        })
    }

    /// The prompt with its shell commands left in as written.
    pub fn literal(&self) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                Piece::Shell(call) => call.written.as_str(),
            })
            .collect()
    }

    /// The prompt with the output of its shell commands in their place.
    ///
    /// # Errors
    /// When a command was not run; the later ones are not tried.
    pub fn run(&self, runner: &mut dyn RunShell) -> Result<String, ShellFailed> {
        let mut prompt = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => prompt.push_str(text),
                Piece::Shell(call) => {
                    let output = runner
                        .run(&call.command)
                        .map_err(|cause| ShellFailed { written: call.written.clone(), cause })?;
                    prompt.push_str(output.trim_end_matches('\n'));
                }
            }
        }
        Ok(prompt)
    }
}

enum Part<'t> {
    Text(&'t str),
    Shell { written: &'t str, command: &'t str },
}

/// Finds `` !`command` `` at the start of a line or after a blank, and blocks fenced by ```` ```! ````.
fn split_shell(body: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut text_from = 0;
    let mut at = 0;
    while let Some(mark) = body.get(at..).and_then(|rest| rest.find('!')).map(|found| at + found) {
        at = mark + 1;
        let Some((start, end, command)) = inline(body, mark).or_else(|| block(body, mark)) else {
            continue;
        };
        if let (Some(text), Some(written)) = (body.get(text_from..start), body.get(start..end)) {
            parts.push(Part::Text(text));
            parts.push(Part::Shell { written, command });
            text_from = end;
            at = end;
        }
    }
    parts.push(Part::Text(body.get(text_from..).unwrap_or_default()));
    parts
}

fn inline(body: &str, mark: usize) -> Option<(usize, usize, &str)> {
    let before = body.get(..mark)?.chars().next_back();
    if before.is_some_and(|c| !c.is_whitespace()) {
        return None;
    }
    let inner = body.get(mark + 1..)?.strip_prefix('`')?;
    let length = inner.find(['`', '\n'])?;
    let command = inner.get(..length)?;
    let closed = inner.get(length..)?.starts_with('`');
    (closed && !command.trim().is_empty()).then_some((mark, mark + 3 + length, command))
}

fn block(body: &str, mark: usize) -> Option<(usize, usize, &str)> {
    const FENCE: &str = "```";
    let start = mark.checked_sub(FENCE.len())?;
    let at_line_start = start == 0 || body.get(..start)?.ends_with('\n');
    if !at_line_start || body.get(start..mark)? != FENCE {
        return None;
    }
    let inner = body.get(mark + 1..)?;
    let first = inner.find('\n')?;
    if !inner.get(..first)?.trim().is_empty() {
        return None;
    }
    let inner = inner.get(first + 1..)?;
    let end = if inner.starts_with(FENCE) { 0 } else { inner.find("\n```")? + 1 };
    let command = inner.get(..end)?;
    let whole = mark + 1 + first + 1 + end + FENCE.len();
    Some((start, whole, command.trim_end_matches('\n')))
}
