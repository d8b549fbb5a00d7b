//! The bytes that arrive, as lines.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::line::{Item, Lines};

/// What a read came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    Lines,
    End,
}

/// The reading half of a transport.
pub(super) struct Input {
    /// `None` after the end of the stream.
    reader: Option<Box<dyn AsyncRead + Send + Unpin>>,
    lines: Lines,
    /// The lines that were read and not routed yet.
    pub(super) items: Vec<Item>,
    /// How many more bytes are read; `usize::MAX` is no limit.
    left: usize,
}

impl Input {
    pub(super) fn new(reader: Box<dyn AsyncRead + Send + Unpin>, max_line: usize) -> Self {
        Self { reader: Some(reader), lines: Lines::new(max_line), items: Vec::new(), left: usize::MAX }
    }

    pub(super) fn is_open(&self) -> bool {
        self.reader.is_some()
    }

    /// Reads at most so many bytes more.
    pub(super) fn limit(&mut self, bytes: usize) {
        self.left = self.left.min(bytes);
    }

    pub(super) fn is_limited(&self) -> bool {
        self.left < usize::MAX
    }

    /// Reads until there is at least one line in `items`, or to the end of the stream.
    ///
    /// Cancel-safe: `read_buf` either appends to `lines` and returns, or has read nothing, and no await stands between its
    /// return and the cutting of what it read.
    pub(super) async fn read(&mut self) -> io::Result<Read> {
        let Some(reader) = &mut self.reader else { return Ok(Read::End) };
        while self.left > 0 {
            match reader.read_buf(self.lines.space()).await {
                Ok(0) => return Ok(Read::End),
                Ok(bytes) => {
                    if self.left < usize::MAX {
                        self.left = self.left.saturating_sub(bytes);
                    }
                    self.lines.split(&mut self.items);
                    if !self.items.is_empty() {
                        return Ok(Read::Lines);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Read::End)
    }

    /// Nothing more is read; a last line without its newline counts.
    pub(super) fn close(&mut self) {
        self.reader = None;
        self.lines.finish(&mut self.items);
    }
}
