//! The end that the connection writes to.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncWrite, DuplexStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// What a transport writes to.
pub(super) type Sink = Pin<Box<dyn AsyncWrite + Send>>;

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
