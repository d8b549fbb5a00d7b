//! Lines that a person types, read so that waiting for one can be given up.

use std::collections::VecDeque;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{FlushArg, tcflush};
use tokio_util::sync::CancellationToken;

use crate::printer::Printer;

/// How often a wait looks whether it was given up, in milliseconds.
const LOOK: u16 = 50;
/// How long a question is displayed before it takes an answer. The second `y` of a double keypress comes 50 to 500 ms after
/// the first one, and belongs to the question before.
const SETTLE: Duration = Duration::from_millis(600);
/// Longer lines than this are cut: nobody types them.
const LONGEST_LINE: usize = 64 * 1024;

/// Whether there is somebody to ask: questions go to stderr, answers come from stdin.
pub(crate) fn somebody_is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// What was typed before anybody asked for it. It is kept for the next prompt of a chat.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypedAhead(Arc<Mutex<VecDeque<String>>>);

impl TypedAhead {
    /// Takes all lines off the terminal that are complete by now.
    pub(crate) fn collect(&self) -> io::Result<()> {
        while let Some(typed) = typed_ahead()? {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(typed);
        }
        Ok(())
    }

    /// Empties the terminal's input, so that nothing typed before a question can answer it. The beginning of a line that
    /// has no end yet is lost: with what is typed next it would become an answer that nobody meant.
    pub(crate) fn clear_the_way(&self) -> io::Result<()> {
        self.collect()?;
        drop_typed()
    }

    /// The oldest piece that was not used yet.
    pub(crate) fn pop(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// What a terminal puts before and after a pasted text when it is asked to.
const PASTE: (&str, &str) = ("\u{1b}[200~", "\u{1b}[201~");

/// The text without the marks around a pasted part.
pub(crate) fn unbracketed(text: &str) -> String {
    text.replace(PASTE.0, "").replace(PASTE.1, "")
}

/// Whether the text ends within a pasted part, if `inside` says whether it began in one.
pub(crate) fn ends_within_paste(text: &str, inside: bool) -> bool {
    match (text.rfind(PASTE.0), text.rfind(PASTE.1)) {
        (None, None) => inside,
        (start, end) => start > end,
    }
}

/// What was typed while nobody read, in a terminal that hands over whole lines: a line, the start of one that was pushed
/// with Ctrl-D, or nothing for Ctrl-D alone. `None` if nothing was typed.
///
/// Ask before a line editor takes over: for it, the terminal turns a Ctrl-D from before into a byte that means nothing.
fn typed_ahead() -> io::Result<Option<String>> {
    let stdin = io::stdin();
    let mut watched = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    match poll(&mut watched, PollTimeout::ZERO) {
        Ok(0) | Err(Errno::EINTR) => return Ok(None),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    // A terminal gives one line at a time, and none longer than 4 KiB.
    let mut line = [0; 4096];
    let length = nix::unistd::read(stdin.as_fd(), &mut line)?;
    // A terminal that has hung up gives empty reads for ever, which are not a Ctrl-D each.
    if length == 0 && watched.iter().any(has_hung_up) {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(line.get(..length).unwrap_or_default()).into_owned()))
}

/// Reads a line from stdin; `None` at its end, and when `given_up` fires.
///
/// A plain read could not be stopped: it would hold up the end of the program, and take the next line from whoever asks
/// next.
pub(crate) async fn read_line(given_up: &CancellationToken) -> io::Result<Option<String>> {
    let given_up = given_up.clone();
    tokio::task::spawn_blocking(move || read_line_blocking(&given_up))
        .await
        .unwrap_or_else(|cause| Err(io::Error::other(cause)))
}

fn has_hung_up(watched: &PollFd<'_>) -> bool {
    watched.revents().is_some_and(|events| events.contains(PollFlags::POLLHUP))
}

/// Waits until a question has been displayed for [`SETTLE`], and drops what was typed until then. Ends early when `stop`
/// fires.
pub(crate) async fn settle(stop: &CancellationToken) -> io::Result<()> {
    tokio::select! {
        () = tokio::time::sleep(SETTLE) => {}
        () = stop.cancelled() => {}
    }
    drop_typed()
}

/// Reads the answer to a question; `None` as in [`read_line`]. A pasted text, and a line that brings further lines with it,
/// count as an empty line: a `y` among pasted lines is not an answer.
pub(crate) async fn read_answer(given_up: &CancellationToken) -> io::Result<Option<String>> {
    let Some(line) = read_line(given_up).await? else { return Ok(None) };
    let mut is_pasting = ends_within_paste(&line, false);
    while is_pasting {
        let Some(line) = read_line(given_up).await? else { return Ok(None) };
        is_pasting = ends_within_paste(&line, true);
    }
    if line.contains(PASTE.0) || has_input()? {
        settle(given_up).await?;
        return Ok(Some(String::new()));
    }
    Ok(Some(line))
}

/// Asks until the answer is yes or no; the end of input is no. Drops what was typed before the question.
pub(crate) fn confirm(question: &str, printer: &mut Printer) -> io::Result<bool> {
    drop_typed()?;
    loop {
        printer.prompt(question)?;
        let Some(answer) = read_line_blocking(&CancellationToken::new())? else { return Ok(false) };
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" if !has_input()? => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => drop_typed()?,
        }
    }
}

fn drop_typed() -> io::Result<()> {
    tcflush(io::stdin(), FlushArg::TCIFLUSH).map_err(io::Error::from)
}

/// True if a line is there that nobody has read.
fn has_input() -> io::Result<bool> {
    let stdin = io::stdin();
    let mut watched = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    match poll(&mut watched, PollTimeout::ZERO) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Reads a line on this thread, as [`read_line`] does.
pub(crate) fn read_line_blocking(given_up: &CancellationToken) -> io::Result<Option<String>> {
    let stdin = io::stdin();
    let mut line = Vec::new();
    while !given_up.is_cancelled() {
        let mut watched = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
        match poll(&mut watched, PollTimeout::from(LOOK)) {
            Ok(0) | Err(Errno::EINTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        // One byte at a time, so that nothing after the line is taken: it belongs to the next question.
        let mut byte = [0];
        match nix::unistd::read(stdin.as_fd(), &mut byte) {
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
            Ok(0) if line.is_empty() => return Ok(None),
            // Even if it is given up by now: nobody else would get this line.
            Ok(0) => return Ok(Some(String::from_utf8_lossy(&line).into_owned())),
            Ok(_) if byte == *b"\n" => return Ok(Some(String::from_utf8_lossy(&line).into_owned())),
            Ok(_) if line.len() < LONGEST_LINE => line.extend(byte),
            Ok(_) => {}
        }
    }
    Ok(None)
}
