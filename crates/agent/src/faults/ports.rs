//! The two ends that the connection sees.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// What a transport writes to.
pub(super) type Sink = Pin<Box<dyn AsyncWrite + Send>>;

/// The input, which may be made to never end.
pub(super) struct Input {
    reader: Box<dyn AsyncRead + Send + Unpin>,
    ignores_end: bool,
}

impl Input {
    pub(super) fn new(reader: Box<dyn AsyncRead + Send + Unpin>, ignores_end: bool) -> Self {
        Self { reader, ignores_end }
    }
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let wanted = into.remaining() > 0;
        ready!(Pin::new(&mut self.reader).poll_read(cx, into))?;
        if self.ignores_end && wanted && into.filled().len() == before {
            // Nobody will wake this task: the input has ended, and is not to be seen ending.
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

/// The output: bytes go to the task that carries them on, and shutting down waits for it.
pub(super) struct Output {
    near: DuplexStream,
    carrying: JoinHandle<()>,
    closing: CancellationToken,
    is_near_closed: bool,
}

impl Output {
    pub(super) fn new(near: DuplexStream, carrying: JoinHandle<()>, closing: CancellationToken) -> Self {
        Self { near, carrying, closing, is_near_closed: false }
    }
}

impl AsyncWrite for Output {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.near).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.near).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_near_closed {
            ready!(Pin::new(&mut self.near).poll_shutdown(cx))?;
            self.is_near_closed = true;
            // An agent that ends does not stay because it was told to stall.
            self.closing.cancel();
        }
        Pin::new(&mut self.carrying).poll(cx).map(|_| Ok(()))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}
