//! `/help` in a chat: its own commands, and those of the agent.

use std::io;

use pilothouse::proto::SlashCommand;

use crate::printer::{BOLD, DIM, NAME, Printer, one_line};
use crate::{terminal, visible};

/// What a line means to the chat itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    Help,
    Exit,
}

/// The commands that the chat handles itself, whatever the agent has under these names.
const OWN: [(&str, Own, &str); 3] = [
    ("/help", Own::Help, "List the commands"),
    ("/exit", Own::Exit, "End the chat"),
    ("/quit", Own::Exit, "End the chat"),
];

/// The command of the chat that a line is, if it is one.
pub(crate) fn own(line: &str) -> Option<Own> {
    OWN.iter().find(|(name, ..)| *name == line.trim()).map(|(_, own, _)| *own)
}

/// All names that a line may begin with.
pub(crate) fn names(commands: &[SlashCommand]) -> Vec<String> {
    let own = OWN.iter().map(|(name, ..)| (*name).to_owned());
    own.chain(commands.iter().map(|command| format!("/{}", command.name)).filter(|name| is_free(name)))
        .collect()
}

/// Whether a name is not taken by a command of the chat.
fn is_free(name: &str) -> bool {
    OWN.iter().all(|(own, ..)| *own != name)
}

/// Lists the commands of the agent, and then those of the chat: they stay on the screen when the list is long.
pub(crate) fn show(commands: &[SlashCommand], printer: &mut Printer) -> io::Result<()> {
    let mut theirs = commands.iter().filter(|command| is_free(&format!("/{}", command.name))).peekable();
    if theirs.peek().is_some() {
        printer.line(format_args!("{BOLD}Commands of the agent{BOLD:#}"))?;
    }
    for command in theirs {
        row(&format!("/{}", command.name), &command.argument_hint, &command.description, printer)?;
    }
    printer.line(format_args!("{BOLD}Commands of the chat{BOLD:#}"))?;
    for (name, _, about) in OWN {
        row(name, "", about, printer)?;
    }
    printer.line(format_args!("{BOLD}Keys{BOLD:#}"))?;
    for (key, about) in [
        ("Tab", "Complete a command"),
        ("Ctrl-C", "Clear the line, stop a turn, or end the chat"),
        ("Ctrl-D", "End the chat"),
    ] {
        row(key, "", about, printer)?;
    }
    Ok(())
}

/// One command, cut to one line of the terminal.
fn row(name: &str, hint: &str, about: &str, printer: &mut Printer) -> io::Result<()> {
    const NAMES: usize = 16;
    let name = visible::line(&one_line(name, 60));
    let hint = visible::line(&one_line(hint, 30));
    let first = if hint.is_empty() { name.clone() } else { format!("{name} {hint}") };
    let used = first.chars().count().max(NAMES) + 4;
    let room = terminal::size().columns.saturating_sub(used).max(20);
    let gap = " ".repeat(NAMES.saturating_sub(first.chars().count()));
    let hint = if hint.is_empty() { hint } else { format!(" {hint}") };
    printer.line(format_args!(
        "  {NAME}{name}{NAME:#}{DIM}{hint}{DIM:#}{gap} {}",
        visible::line(&one_line(about, room))
    ))
}
