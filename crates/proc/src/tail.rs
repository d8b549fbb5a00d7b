use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much of a child's stderr is kept.
pub(crate) const TAIL_BYTES: usize = 64 * 1024;

/// A view of the end of what a child has written to stderr, also after the child itself was given away.
#[derive(Clone, Default)]
pub struct StderrTail(Arc<Mutex<Tail>>);

impl StderrTail {
    /// The text: at most 64 KiB.
    pub fn text(&self) -> String {
        self.lock().text()
    }

    pub(crate) fn push(&self, more: &[u8]) {
        self.lock().push(more);
    }

    fn lock(&self) -> MutexGuard<'_, Tail> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for StderrTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StderrTail").field(&self.text()).finish()
    }
}

/// The end of a byte stream: the last [`TAIL_BYTES`] of it.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    pub(crate) fn push(&mut self, more: &[u8]) {
        self.bytes.extend_from_slice(more);
        // Trimming only at twice the size makes each byte move at most once more.
        if self.bytes.len() > 2 * TAIL_BYTES {
            self.trim();
        }
    }

    /// The kept text, from the first whole character on; broken UTF-8 is replaced.
    pub(crate) fn text(&self) -> String {
        let start = self.bytes.len().saturating_sub(TAIL_BYTES);
        let mut kept = self.bytes.get(start..).unwrap_or_default();
        if start > 0 {
            while kept.first().is_some_and(|byte| byte & 0xC0 == 0x80) {
                kept = kept.get(1..).unwrap_or_default();
            }
        }
        String::from_utf8_lossy(kept).into_owned()
    }

    fn trim(&mut self) {
        let excess = self.bytes.len().saturating_sub(TAIL_BYTES);
        self.bytes.drain(..excess);
    }
}

#[cfg(test)]
#[path = "tail_tests.rs"]
mod tests;
