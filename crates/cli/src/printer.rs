//! The only place that writes to stdout and stderr.
//!
//! Stdout is for what was asked for, stderr for everything else. Colours are written only to a terminal, and not if
//! `NO_COLOR` is set. Text that comes from elsewhere goes through [`plain`], so that it cannot steer the terminal.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};

use crate::terminal;
use crate::visible::is_reordering;

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

/// The progress line is cut here, so that it never takes two lines.
const LONGEST_PROGRESS: usize = 76;

/// Goes back to the beginning of the line and wipes it.
const ERASE_LINE: &[u8] = b"\r\x1b[2K";

/// Writes to the terminal.
///
/// Both streams usually end up on one screen. So a text without an end is ended before a line of the other stream, and
/// the progress line is wiped before anything else is written.
pub(crate) struct Printer {
    out: AutoStream<io::Stdout>,
    err: AutoStream<io::Stderr>,
    mid_line: bool,
    progress_shown: bool,
    /// Whether stderr is a terminal that can wipe a line.
    has_progress: bool,
}

impl Printer {
    pub(crate) fn new() -> Self {
        Self {
            out: AutoStream::auto(io::stdout()),
            err: AutoStream::auto(io::stderr()),
            mid_line: false,
            progress_shown: false,
            has_progress: io::stderr().is_terminal() && !terminal::is_dumb(),
        }
    }

    /// Writes a line that was asked for.
    pub(crate) fn line(&mut self, text: impl Display) -> io::Result<()> {
        self.end_line()?;
        writeln!(self.out, "{text}")
    }

    /// Writes a line of data as it is.
    pub(crate) fn bytes(&mut self, line: &[u8]) -> io::Result<()> {
        self.end_line()?;
        let mut out = io::stdout().lock();
        out.write_all(line)?;
        out.write_all(b"\n")?;
        out.flush()
    }

    /// Writes a piece of a text that was asked for; it shows at once.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.wipe_progress()?;
        write!(self.out, "{text}")?;
        self.out.flush()?;
        if !text.is_empty() {
            self.mid_line = !text.ends_with('\n');
        }
        Ok(())
    }

    /// Ends a text that was written in pieces, if its last line has no end yet.
    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        self.wipe_progress()?;
        if std::mem::take(&mut self.mid_line) { writeln!(self.out) } else { Ok(()) }
    }

    /// Writes a line about the work itself.
    pub(crate) fn note(&mut self, text: impl Display) -> io::Result<()> {
        self.end_line()?;
        writeln!(self.err, "{text}")
    }

    /// Warns of something that does not stop the work.
    pub(crate) fn warning(&mut self, text: impl Display) -> io::Result<()> {
        self.note(format_args!("{WARN}warning:{WARN:#} {text}"))
    }

    /// Asks; the answer is typed behind it.
    pub(crate) fn prompt(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        write!(self.err, "{text}")?;
        self.err.flush()
    }

    /// Wipes the prompt at which somebody was typing, to write in its place.
    pub(crate) fn leave_prompt(&mut self) -> io::Result<()> {
        io::stderr().write_all(ERASE_LINE)
    }

    /// Shows what is going on, in place of what it showed before; only to people.
    pub(crate) fn progress(&mut self, text: &str) -> io::Result<()> {
        // Behind an unfinished line it would tear the text apart.
        if !self.has_progress || (self.mid_line && io::stdout().is_terminal()) {
            return Ok(());
        }
        self.progress_shown = true;
        // The erasing goes around the stream that filters colours: it must work without colours, too.
        io::stderr().write_all(ERASE_LINE)?;
        let width = LONGEST_PROGRESS.min(terminal::size().columns.saturating_sub(1));
        write!(self.err, "{DIM}{}{DIM:#}", one_line(text, width))?;
        self.err.flush()
    }

    fn wipe_progress(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.progress_shown) { io::stderr().write_all(ERASE_LINE) } else { Ok(()) }
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
        // If the streams are closed there is nobody to tell.
        self.end_line().ok();
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

/// The text without control characters that would move the cursor, colour the screen, ring the bell or reorder the text.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || is_reordering(c);
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
