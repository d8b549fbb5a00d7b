//! What goes wrong: errors end a call, problems are reported beside what was found.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::id::SessionId;

/// Why a call did nothing.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The environment has neither `CLAUDE_CONFIG_DIR` nor `HOME`.
    #[error("cannot find the configuration directory: set CLAUDE_CONFIG_DIR or HOME")]
    NoConfigHome,
    /// A session id that is not a UUID.
    #[error("{0:?} is not a session id, which is a UUID")]
    BadSessionId(String),
    /// There is no transcript of this session where it was looked for.
    #[error("no transcript of session {id} under {}", .searched.display())]
    NotFound {
        /// The session.
        id: SessionId,
        /// Where it was looked for.
        searched: PathBuf,
    },
    /// A subagent id with characters that no CLI uses.
    #[error("{0:?} is not the id of a subagent")]
    BadAgentId(String),
    /// There is no transcript of this subagent.
    #[error("session {id} has no subagent {agent}")]
    NoSubagent {
        /// The session.
        id: SessionId,
        /// The subagent.
        agent: String,
    },
    /// A fork was to end at an entry that the session does not have.
    #[error("session {id} has no message {entry} to fork at")]
    NoSuchMessage {
        /// The session.
        id: SessionId,
        /// The entry.
        entry: String,
    },
    /// A session was to go on from an entry that it does not have.
    #[error("No message found with message.uuid of: {0}")]
    NoSuchEntry(String),
    /// Going on from an earlier entry would leave out more than the one turn that was named.
    #[error("resuming at {at} would discard entries not attributable to turn {turn}: {why}")]
    DropsMore {
        /// The entry to go on from.
        at: String,
        /// The prompt of the turn.
        turn: String,
        /// What else would go.
        why: String,
    },
    /// A fork would have no messages.
    #[error("session {0} has no messages to fork")]
    NothingToFork(SessionId),
    /// A title or tag without a visible character.
    #[error("the {0} is empty: give it at least one visible character")]
    EmptyText(&'static str),
    /// The file system said no; the text has the path.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Something that was skipped or repaired while reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file or directory.
    pub path: PathBuf,
    /// The line, counted from 1, if it concerns one.
    pub line: Option<u64>,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// The kinds of problems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The file system said no.
    Unreadable(String),
    /// A line is not JSON, or not the entry that its `type` promises; it is skipped.
    Malformed(String),
    /// A line is longer than this reader takes; it is skipped.
    TooLong(u64),
    /// A line has bytes that are not UTF-8; they are replaced.
    NotUtf8,
    /// The last line breaks off, as it does while a CLI is writing it; it is skipped.
    Unfinished,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match &self.kind {
            ProblemKind::Unreadable(cause) => write!(f, ": {cause}"),
            ProblemKind::Malformed(cause) => write!(f, ": skipped, {cause}"),
            ProblemKind::TooLong(bytes) => write!(f, ": skipped, the line has {bytes} bytes"),
            ProblemKind::NotUtf8 => write!(f, ": bytes that are not UTF-8 were replaced"),
            ProblemKind::Unfinished => write!(f, ": skipped, the last line breaks off"),
        }
    }
}
