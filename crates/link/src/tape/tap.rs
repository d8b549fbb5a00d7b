use std::fmt;
use std::sync::Arc;

use pilothouse_proc::{Exit, Spawn};

use crate::panics::contain;

/// Which way a line went, told from the CLI's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// To the CLI: what a host writes.
    In,
    /// From the CLI: what a host reads.
    Out,
}

impl Direction {
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::In => Self::Out,
            Self::Out => Self::In,
        }
    }
}

/// Sees every line of a connection as it stands on the wire, in both directions. It must not block.
pub trait Tap: Send + Sync + 'static {
    /// A line went by, without its newline.
    fn line(&self, direction: Direction, line: &[u8]);

    /// A child is about to be started.
    fn started(&self, _spawn: &Spawn) {}

    /// The child wrote a line to stderr.
    fn stderr(&self, _line: &str) {}

    /// No more will be written to the CLI.
    fn input_closed(&self) {}

    /// The connection has ended; so has the child, if there was one.
    fn ended(&self, _exit: Option<Exit>) {}
}

/// All taps of a connection.
#[derive(Clone, Default)]
pub(crate) struct Taps(pub(crate) Vec<Arc<dyn Tap>>);

impl Taps {
    pub(crate) fn line(&self, direction: Direction, line: &[u8]) {
        tracing::debug!(?direction, line = %String::from_utf8_lossy(line), "frame");
        self.each(|tap| tap.line(direction, line));
    }

    pub(crate) fn started(&self, spawn: &Spawn) {
        self.each(|tap| tap.started(spawn));
    }

    pub(crate) fn input_closed(&self) {
        self.each(|tap| tap.input_closed());
    }

    pub(crate) fn ended(&self, exit: Option<Exit>) {
        self.each(|tap| tap.ended(exit));
    }

    fn each(&self, call: impl Fn(&dyn Tap)) {
        for tap in &self.0 {
            contain("a tap", || call(&**tap));
        }
    }
}

impl fmt::Debug for Taps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} taps", self.0.len())
    }
}
