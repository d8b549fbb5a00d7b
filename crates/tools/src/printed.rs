//! What a command has printed, of which no more than so much is kept.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, Write};

/// What is kept from the beginning on; the rest is read, so that the command does not stall, and dropped but for its end.
pub(crate) const MOST: usize = 32 << 20;
/// What is kept of the end: what went wrong tends to be said last.
const TAIL: usize = 64 << 10;

#[derive(Clone, Debug, Default)]
pub(crate) struct Printed {
    head: Vec<u8>,
    /// The last of what came after the head.
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Printed {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(MOST.saturating_sub(self.head.len())));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let dropped = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..dropped);
        self.dropped += dropped as u64;
    }

    /// The beginning, which mostly is all.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// The end, where the beginning is not all.
    pub(crate) fn tail(&self) -> Option<Cow<'_, [u8]>> {
        let (first, second) = self.tail.as_slices();
        match (first, second) {
            ([], []) => None,
            (whole, []) => Some(whole.into()),
            _ => Some([first, second].concat().into()),
        }
    }

    /// How many bytes were printed.
    pub(crate) fn size(&self) -> u64 {
        self.head.len() as u64 + self.dropped + self.tail.len() as u64
    }

    /// Writes what is kept, and says what is not.
    pub(crate) fn write_to(&self, mut file: impl Write) -> io::Result<()> {
        file.write_all(&self.head)?;
        if self.dropped > 0 {
            write!(file, "\n… [{} bytes are left out here] …\n", self.dropped)?;
        }
        file.write_all(&self.tail().unwrap_or_default())
    }
}

#[cfg(test)]
#[path = "printed_tests.rs"]
mod tests;
