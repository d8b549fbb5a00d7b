//! Bytes to lines.

use bytes::Bytes;
use memchr::{memchr, memchr_iter, memrchr};

/// The longest line that is delivered unless another limit is set. The real CLI writes and reads lines of 64 MiB.
pub const DEFAULT_MAX_LINE: usize = 256 << 20;

/// Room for one read while little arrives. Small, because a process may hold many idle connections.
const CALM_READ: usize = 8 * 1024;

/// Room for one read while much arrives: what a pipe holds, and below the size from which allocators ask the system
/// for fresh pages each time.
const BUSY_READ: usize = 64 * 1024;

/// Lines are copied out of the buffer while so little arrives at a time.
const COPIED: usize = CALM_READ / 2;

/// How much of a line that is too long is kept for the report.
const HEAD: usize = 1024;

/// What the decoder finds in a stream of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// One line without its newline; never blank, not necessarily UTF-8.
    Line(Bytes),
    /// A line beyond the limit. It was skipped; the stream goes on behind it.
    TooLong(TooLong),
}

/// A line that was skipped because it is longer than the limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooLong {
    /// How long the line was, without its newline.
    pub length: u64,
    /// Its first bytes: at most 1 KiB.
    pub head: Bytes,
}

/// Cuts a stream of bytes into lines.
///
/// Bytes are read straight into [`Lines::space`] and are never zeroed, and lines that arrive together share one
/// allocation. The buffer starts small, grows while the stream is busy and shrinks after a huge line.
///
/// ```
/// use pilothouse_link::line::{Item, Lines};
///
/// let mut lines = Lines::default();
/// let mut found = Vec::new();
/// lines.push(b"{\"a\":1}\n\n{\"b\"", &mut found);
/// lines.push(b":2}", &mut found);
/// lines.finish(&mut found);
/// assert_eq!(found, [Item::Line("{\"a\":1}".into()), Item::Line("{\"b\":2}".into())]);
/// ```
#[derive(Debug)]
pub struct Lines {
    buffer: Vec<u8>,
    /// So many bytes at the start of `buffer` are known to hold no newline.
    scanned: usize,
    /// How much of `buffer` was there before the last read.
    before: usize,
    room: usize,
    limit: usize,
    skipping: Option<TooLong>,
}

impl Default for Lines {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_LINE)
    }
}

impl Lines {
    /// A decoder that skips and reports lines of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { buffer: Vec::new(), scanned: 0, before: 0, room: CALM_READ, limit, skipping: None }
    }

    /// Where the next bytes belong: append to this, then call [`Lines::split`]. It has spare capacity.
    pub fn space(&mut self) -> &mut Vec<u8> {
        let spare = self.buffer.capacity() - self.buffer.len();
        if spare < self.room / 2 {
            self.buffer.reserve(self.room);
        }
        self.before = self.buffer.len();
        &mut self.buffer
    }

    /// Cuts what was appended since [`Lines::space`] and adds whole lines to `found`.
    pub fn split(&mut self, found: &mut Vec<Item>) {
        self.adapt();
        if self.skipping.is_some() && !self.skip(found) {
            return;
        }
        let fresh = self.buffer.get(self.scanned..).unwrap_or_default();
        match memrchr(b'\n', fresh) {
            Some(last) => self.cut(self.scanned + last + 1, found),
            None => self.scanned = self.buffer.len(),
        }
        if self.buffer.len() > self.limit {
            self.skipping = Some(too_long(&self.buffer, self.limit));
            self.buffer = Vec::new();
            self.scanned = 0;
        }
    }

    /// Appends a copy of `bytes` and cuts it: for sources that bring their own buffers.
    pub fn push(&mut self, bytes: &[u8], found: &mut Vec<Item>) {
        self.space().extend_from_slice(bytes);
        self.split(found);
    }

    /// The stream has ended: a last line without a newline counts as a line.
    pub fn finish(&mut self, found: &mut Vec<Item>) {
        if let Some(skipped) = self.skipping.take() {
            found.push(Item::TooLong(skipped));
        }
        let last = Bytes::from(std::mem::take(&mut self.buffer));
        self.scanned = 0;
        self.emit(last, found);
    }

    /// Follows the stream: a read that used all its room asks for more of it, a tiny one for less.
    fn adapt(&mut self) {
        let read = self.buffer.len().saturating_sub(self.before);
        if self.buffer.len() == self.buffer.capacity() {
            self.room = BUSY_READ;
        } else if read < CALM_READ / 2 {
            self.room = CALM_READ;
        }
    }

    /// Passes over the rest of a line that is too long. True when its end was found.
    fn skip(&mut self, found: &mut Vec<Item>) -> bool {
        let Some(mut skipped) = self.skipping.take() else {
            return true;
        };
        match memchr(b'\n', &self.buffer) {
            Some(end) => {
                skipped.length += end as u64;
                found.push(Item::TooLong(skipped));
                self.buffer.drain(..=end);
                true
            }
            None => {
                skipped.length += self.buffer.len() as u64;
                self.skipping = Some(skipped);
                self.buffer.clear();
                false
            }
        }
    }

    /// Hands out the lines in the first `end` bytes and keeps the rest.
    fn cut(&mut self, end: usize, found: &mut Vec<Item>) {
        let from = std::mem::take(&mut self.scanned);
        if end <= COPIED.max(self.buffer.capacity() / 4) {
            return self.copy(from, end, found);
        }
        let chunk = self.take(end);
        let mut start = 0;
        let fresh = chunk.get(from..).unwrap_or_default();
        for newline in memchr_iter(b'\n', fresh) {
            self.emit(chunk.slice(start..from + newline), found);
            start = from + newline + 1;
        }
        self.scanned = self.buffer.len();
    }

    /// Copies the lines in the first `end` bytes. The few lines of a calm conversation cost less that way than a buffer
    /// that they share, and one small line never keeps a large buffer alive.
    fn copy(&mut self, from: usize, end: usize, found: &mut Vec<Item>) {
        let mut start = 0;
        for newline in memchr_iter(b'\n', self.buffer.get(from..end).unwrap_or_default()) {
            let line = self.buffer.get(start..from + newline).unwrap_or_default();
            self.emit(Bytes::copy_from_slice(line), found);
            start = from + newline + 1;
        }
        self.buffer.drain(..end);
        self.scanned = self.buffer.len();
        self.shrink();
    }

    /// Gives the buffer away with its first `end` bytes, and keeps the rest in a new one.
    fn take(&mut self, end: usize) -> Bytes {
        let rest = self.buffer.get(end..).unwrap_or_default();
        let mut next = Vec::with_capacity(rest.len() + self.room);
        next.extend_from_slice(rest);
        let mut full = std::mem::replace(&mut self.buffer, next);
        full.truncate(end);
        Bytes::from(full)
    }

    /// Gives back the memory of a huge line once it is not needed.
    fn shrink(&mut self) {
        let wanted = self.buffer.len() + self.room;
        if self.buffer.is_empty() && self.buffer.capacity() > 2 * wanted {
            self.buffer = Vec::new();
        } else if self.buffer.capacity() > 2 * wanted {
            self.buffer.shrink_to(wanted);
        }
    }

    fn emit(&self, line: Bytes, found: &mut Vec<Item>) {
        if line.len() > self.limit {
            found.push(Item::TooLong(too_long(&line, self.limit)));
        } else if line.first() == Some(&b'{') || !line.trim_ascii().is_empty() {
            found.push(Item::Line(line));
        }
    }
}

/// The head never exceeds the limit, so that it is the same wherever the reads happened to end.
fn too_long(line: &[u8], limit: usize) -> TooLong {
    let head = line.get(..HEAD.min(limit)).unwrap_or(line);
    TooLong { length: line.len() as u64, head: Bytes::copy_from_slice(head) }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
