mod stdio;

use std::fmt;
use std::io;
use std::pin::Pin;

use pilothouse_proc::{Child, Spawn, SpawnError};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::writer::Sink;

/// How much one end of a memory transport may write ahead of the other.
const MEMORY_BUFFER: usize = 64 * 1024;

/// What a connection runs over: bytes in, bytes out, and perhaps a child to end.
pub struct Transport {
    pub(crate) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) writer: Sink,
    pub(crate) child: Option<Child>,
}

impl Transport {
    /// Any pair of byte streams.
    pub fn from_io(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> Self {
        Self { reader: Box::new(reader), writer: Box::pin(writer), child: None }
    }

    /// The same transport with something around what it reads from and what it writes to.
    pub fn wrapped<R, W>(
        self,
        reader: impl FnOnce(Box<dyn AsyncRead + Send + Unpin>) -> R,
        writer: impl FnOnce(Pin<Box<dyn AsyncWrite + Send>>) -> W,
    ) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + 'static,
    {
        Self {
            reader: Box::new(reader(self.reader)),
            writer: Box::pin(writer(self.writer)),
            child: self.child,
        }
    }

    /// Two ends that are connected to each other inside this process.
    pub fn memory() -> (Self, Self) {
        // One stream for each direction, so that each can end on its own.
        let (to_there, from_here) = tokio::io::duplex(MEMORY_BUFFER);
        let (to_here, from_there) = tokio::io::duplex(MEMORY_BUFFER);
        (Self::from_io(from_there, to_there), Self::from_io(from_here, to_here))
    }

    /// The stdin and stdout of this process: what an agent is driven by.
    ///
    /// Two threads do the reading and writing, because a runtime cannot be shut down while it waits for stdin, and
    /// because setting an inherited stdout to non-blocking would change it for other processes too.
    ///
    /// # Errors
    /// When the threads cannot be started.
    pub fn stdio() -> io::Result<Self> {
        Ok(Self::from_io(stdio::Input::start(io::stdin())?, stdio::Output::start(io::stdout())?))
    }

    /// The stdout of this process alone, for an agent that is told everything when it starts: its input is at its end.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn stdout() -> io::Result<Self> {
        Ok(Self::from_io(tokio::io::empty(), stdio::Output::start(io::stdout())?))
    }

    /// A child's stdin and stdout. Prefer [`crate::Connect::child`], which also lets tapes know about the child.
    ///
    /// # Errors
    /// [`SpawnError`] says what to do.
    pub async fn child(spawn: Spawn) -> Result<Self, SpawnError> {
        let program = spawn.program().to_owned();
        let mut child = spawn.start().await?;
        let (Some(stdin), Some(stdout)) = (child.take_stdin(), child.take_stdout()) else {
            let cause =
                io::Error::new(io::ErrorKind::InvalidInput, "a connection needs stdin and stdout as pipes");
            return Err(SpawnError::Io { program: program.into(), cause });
        };
        Ok(Self { reader: Box::new(stdout), writer: Box::pin(stdin), child: Some(child) })
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("child", &self.child).finish_non_exhaustive()
    }
}
