//! What a server sends, as far as it stays within reason.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

/// The longest message that is taken. rmcp drops a longer line without a word, and whoever waits for it waits for ever.
pub(crate) const LONGEST: usize = 16 << 20;

/// Whether a server was cut off for what it sent. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CutOff(Arc<AtomicBool>);

impl CutOff {
    pub(crate) fn happened(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Where a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With its line.
    Line,
    /// At an empty line.
    EmptyLine,
}

/// Measures messages as their bytes come in.
#[derive(Debug)]
pub(crate) struct Meter {
    end: End,
    length: usize,
    line_is_empty: bool,
    cut_off: CutOff,
}

impl Meter {
    pub(crate) fn new(end: End, cut_off: CutOff) -> Self {
        Self { end, length: 0, line_is_empty: true, cut_off }
    }

    /// Takes bytes in; false once a message is too long.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            self.length += 1;
            match byte {
                b'\n' => {
                    if self.end == End::Line || self.line_is_empty {
                        self.length = 0;
                    }
                    self.line_is_empty = true;
                }
                b'\r' => {}
                _ => self.line_is_empty = false,
            }
            if self.length > LONGEST {
                self.cut_off.0.store(true, Ordering::Relaxed);
                return false;
            }
        }
        true
    }
}

/// Reads lines, and ends at one that is too long.
#[derive(Debug)]
pub(crate) struct Bounded<R> {
    inner: R,
    meter: Meter,
}

impl<R> Bounded<R> {
    pub(crate) fn new(inner: R, cut_off: CutOff) -> Self {
        Self { inner, meter: Meter::new(End::Line, cut_off) }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.meter.cut_off.happened() {
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        let fresh = buf.filled().get(before..).unwrap_or_default();
        if !self.meter.take(fresh) {
            // As if it had ended there.
            buf.set_filled(before);
        }
        read
    }
}

#[cfg(test)]
#[path = "bounded_tests.rs"]
mod tests;
