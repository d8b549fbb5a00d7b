//! The only place that writes to stdout and stderr.
//!
//! Stdout is for what was asked for, stderr for everything else. Colours are written only to a terminal, and not if
//! `NO_COLOR` is set. Text that comes from elsewhere goes through [`plain`], so that it cannot steer the terminal.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};

/// For what matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// For names and headings.
pub(crate) const BOLD: Style = Style::new().bold();
/// For what went wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// For what went well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// For what needs attention.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// For what can be copied and used: ids, paths, commands.
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();

/// Writes to the terminal.
pub(crate) struct Printer {
    out: AutoStream<io::Stdout>,
    err: AutoStream<io::Stderr>,
}

impl Printer {
    pub(crate) fn new() -> Self {
        Self { out: AutoStream::auto(io::stdout()), err: AutoStream::auto(io::stderr()) }
    }

    /// Writes a line that was asked for.
    pub(crate) fn line(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    /// Writes a line about the work itself.
    pub(crate) fn note(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.err, "{text}")
    }

    /// Warns of something that does not stop the work.
    pub(crate) fn warning(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.err, "{WARN}warning:{WARN:#} {text}")
    }

    /// Says why the command failed, and gives the exit code that goes with it.
    pub(crate) fn failure(&mut self, error: &anyhow::Error) -> ExitCode {
        // Whoever reads us has seen enough, as `head` does. That is no failure.
        let reader_left = |cause: &(dyn std::error::Error + 'static)| {
            cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
        };
        if error.chain().any(reader_left) {
            return ExitCode::SUCCESS;
        }
        // If stderr is closed there is nobody to tell.
        let causes: Vec<String> = error.chain().map(|cause| plain(&cause.to_string()).into_owned()).collect();
        writeln!(self.err, "{BAD}error:{BAD:#} {}", causes.join(": ")).ok();
        ExitCode::FAILURE
    }

    /// Shows help, the version, or what is wrong with the command line.
    pub(crate) fn usage(&mut self, error: &clap::Error) -> ExitCode {
        let text = error.render();
        let text = text.ansi();
        let written =
            if error.use_stderr() { write!(self.err, "{text}") } else { write!(self.out, "{text}") };
        // A closed stream is nothing that could be reported.
        written.ok();
        u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
    }
}

/// The text without control characters that would move the cursor, colour the screen or ring the bell.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    text.chars()
        .filter(|c| *c != '\r')
        .map(|c| if harmful(c) { '\u{fffd}' } else { c })
        .collect::<String>()
        .into()
}

/// One line of at most `width` characters.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let line = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(width) {
        None => line,
        Some(_) => line.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
    }
}
