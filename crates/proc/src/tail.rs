/// How much of a child's stderr is kept.
pub(crate) const TAIL_BYTES: usize = 64 * 1024;

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
