//! Lines that a person types, read so that waiting for one can be given up.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tokio_util::sync::CancellationToken;

/// How often a wait looks whether it was given up, in milliseconds.
const LOOK: u16 = 50;
/// Longer lines than this are cut: nobody types them.
const LONGEST_LINE: usize = 64 * 1024;

/// Whether there is somebody to ask: questions go to stderr, answers come from stdin.
pub(crate) fn somebody_is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// What was typed while nobody read, in a terminal that hands over whole lines: a line, the start of one that was pushed
/// with Ctrl-D, or nothing for Ctrl-D alone. `None` if nothing was typed.
///
/// Ask before a line editor takes over: for it, the terminal turns a Ctrl-D from before into a byte that means nothing.
pub(crate) fn typed_ahead() -> io::Result<Option<String>> {
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
