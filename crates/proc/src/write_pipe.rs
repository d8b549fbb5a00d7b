use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::io::Errno;
use tokio::io::AsyncWrite;
use tokio::net::unix::pipe;

/// The writing end of a child's stdin. Dropping it is the end of input.
///
/// The runtime watches it only from the first time on that the pipe is full, which for most children is never: to be
/// watched costs a call to the system and the waking of a thread, and a pipe that is watched takes nothing until the
/// runtime has looked at it.
#[derive(Debug)]
pub struct WritePipe(State);

#[derive(Debug)]
enum State {
    Unwatched(OwnedFd),
    Watched(pipe::Sender),
    /// It could not be watched.
    Closed,
}

impl WritePipe {
    pub(crate) fn new(end: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&end, true)?;
        Ok(Self(State::Unwatched(end)))
    }

    /// The end as the runtime knows it, to wait until there is room.
    fn watched(&mut self) -> io::Result<Pin<&mut pipe::Sender>> {
        self.0 = match std::mem::replace(&mut self.0, State::Closed) {
            State::Unwatched(end) => State::Watched(pipe::Sender::from_owned_fd(end)?),
            state => state,
        };
        match &mut self.0 {
            State::Watched(sender) => Ok(Pin::new(sender)),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl AsyncWrite for WritePipe {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        while let State::Unwatched(end) = &self.0 {
            match rustix::io::write(end, bytes) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                written => return Poll::Ready(written.map_err(io::Error::from)),
            }
        }
        self.watched()?.poll_write(cx, bytes)
    }

    /// A pipe holds nothing back.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
