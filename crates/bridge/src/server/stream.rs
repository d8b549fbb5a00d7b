//! A connection, encrypted or not.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio_rustls::server::TlsStream;

/// A connection to a client.
#[derive(Debug)]
pub(super) enum Stream {
    Plain(TcpStream),
    /// One that others may write to while its task does not.
    Shared(OwnedReadHalf, WayOut),
    Tls(Box<TlsStream<TcpStream>>),
}

/// Where bytes leave, for several to use.
#[derive(Debug, Clone)]
pub(super) struct WayOut(Arc<Mutex<OwnedWriteHalf>>);

impl WayOut {
    /// Writes what the system takes at once, and tells how much that was. What is wrong with a connection shows when its
    /// task writes.
    pub(super) fn write_now(&self, bytes: &[u8]) -> usize {
        self.lock().try_write(bytes).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, OwnedWriteHalf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    /// Lets others write as well, where that can be done.
    pub(super) fn shared(self) -> (Self, Option<WayOut>) {
        match self {
            Self::Plain(stream) => {
                let (reading, writing) = stream.into_split();
                let way_out = WayOut(Arc::new(Mutex::new(writing)));
                (Self::Shared(reading, way_out.clone()), Some(way_out))
            }
            other => (other, None),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Shared(reading, _) => Pin::new(reading).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Shared(_, way_out) => Pin::new(&mut *way_out.lock()).poll_write(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Self::Shared(_, way_out) => Pin::new(&mut *way_out.lock()).poll_write_vectored(cx, bufs),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        !matches!(self, Self::Tls(_))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Shared(_, way_out) => Pin::new(&mut *way_out.lock()).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Shared(_, way_out) => Pin::new(&mut *way_out.lock()).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
