use std::fmt;

use pilothouse_proc::Exit;

/// How much of a child's stderr is worth a place in an error message.
const SHOWN_STDERR: usize = 2000;

/// Why a connection ended. Every request that was open then, and every use of the connection since, fails with it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// What happened.
    pub kind: EndKind,
    /// How the child exited, when the connection was to a child and that is known.
    pub exit: Option<Exit>,
    /// The end of what the child wrote to stderr.
    pub stderr_tail: String,
    /// The text of the last error result, when no good result came after it. A CLI exits with 1 after such a
    /// result, so this is what really went wrong.
    pub last_failure: Option<String>,
}

/// What ended a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndKind {
    /// This end closed it.
    Closed,
    /// The other end closed its output.
    EndOfStream,
    /// The child exited.
    Exited,
    /// Reading failed.
    ReadFailed(String),
}

impl Ended {
    /// The cause when nobody is left to say more: this end closed the connection, or its runtime went away.
    pub fn closed() -> Self {
        Self { kind: EndKind::Closed, exit: None, stderr_tail: String::new(), last_failure: None }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            EndKind::Closed => f.write_str("the connection was closed")?,
            EndKind::EndOfStream => f.write_str("the other end closed the connection")?,
            EndKind::Exited => f.write_str("the program exited")?,
            EndKind::ReadFailed(error) => write!(f, "reading from the other end failed: {error}")?,
        }
        if let Some(exit) = self.exit {
            write!(f, " ({exit})")?;
        }
        if let Some(failure) = &self.last_failure {
            write!(f, ": {failure}")?;
        }
        let stderr = end_of(self.stderr_tail.trim(), SHOWN_STDERR);
        if !stderr.is_empty() {
            write!(f, "; its stderr ends with: {stderr}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Ended {}

/// The last `length` bytes of `text`, from a character boundary on.
fn end_of(text: &str, length: usize) -> &str {
    let mut start = text.len().saturating_sub(length);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}
