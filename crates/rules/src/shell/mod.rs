//! Reading shell commands, twice over: strictly for what may be allowed, generously for what is forbidden.

pub(crate) mod deep;
mod expand;
pub(crate) mod plain;
mod tree;
pub(crate) mod word;
pub(crate) mod wrappers;

pub(crate) use self::tree::parts;
use self::{
    deep::DeepReading,
    plain::{Obstacle, PlainCommand},
    tree::Found,
};

/// Longer commands are not judged: nobody reads them, and the grammar takes long over rubbish.
const LONGEST: usize = 16 * 1024;

/// The grammar's work grows with the square of these, so a command with more of them is not judged either.
const MOST_SEPARATORS: usize = 800;

/// Whether a command is too much to be judged.
fn is_too_long(command: &str) -> bool {
    command.len() > LONGEST || command.bytes().filter(|b| b"|&;".contains(b)).count() > MOST_SEPARATORS
}

/// Both readings of a command line.
#[derive(Clone, Debug)]
pub(crate) struct Shell {
    /// The parts, if the command is plain enough to be allowed by its parts.
    pub(crate) plain: Result<Vec<PlainCommand>, Obstacle>,
    /// A plain command that sets variables of the shell.
    pub(crate) sets_variables: bool,
    /// All that it could run.
    pub(crate) deep: DeepReading,
}

impl Shell {
    /// Reads a command line.
    pub(crate) fn read(command: &str) -> Self {
        let tree = tree::read(command);
        let plain = plain::read(command).and_then(|reading| {
            let agreed = !tree.has_error && agree(&reading.parts, reading.texts, &tree.found);
            if agreed { Ok(reading) } else { Err(Obstacle::Unreadable) }
        });
        let sets_variables = plain.as_ref().is_ok_and(|reading| reading.sets_variables);
        let plain = plain.map(|reading| reading.parts);
        Self { plain, sets_variables, deep: deep::read(command, &tree) }
    }
}

/// Whether the hand-written reading and the grammar found the same commands with the same words.
/// A `cat` that only stands for a text is a command to the grammar alone.
fn agree(parts: &[PlainCommand], texts: usize, found: &[Found]) -> bool {
    let mut texts = texts;
    let mut commands = found.iter().filter_map(|found| match found {
        Found::Command(command) if texts > 0 && command.words == ["cat"] => {
            texts -= 1;
            None
        }
        Found::Command(command) => Some(&command.words),
        _ => None,
    });
    for part in parts.iter().filter(|part| !part.words.is_empty()) {
        let Some(words) = commands.next() else { return false };
        // The grammar's reading calls a test by another name, and knows no words in it.
        if part.words.first().is_some_and(|word| matches!(word.raw.as_str(), "[" | "[[")) {
            let ours = part.words.iter().flat_map(|word| word.raw.split_whitespace());
            let theirs = words.iter().skip(1).map(String::as_str);
            if words.first().is_none_or(|name| name != "test")
                || !ours.collect::<String>().eq(&theirs.collect::<String>())
            {
                return false;
            }
            continue;
        }
        // The grammar drops a lone `-` before a here-document. It means standard input and decides nothing.
        let theirs = words.iter().map(String::as_str).filter(|word| *word != "-");
        let ours = part.words.iter().map(|word| word.raw.as_str()).filter(|word| *word != "-");
        if !ours.eq(theirs) {
            return false;
        }
    }
    let assignments: usize = parts.iter().map(|part| part.assignments.len()).sum();
    let others = found.iter().filter(|found| matches!(found, Found::Assignment(..))).count();
    // `export A=1` counts its assignments as words in one reading and as assignments in the other, and an assignment
    // that stands alone is no part.
    commands.next().is_none() && assignments <= others
}
