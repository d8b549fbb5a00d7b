//! What was wrong with a file, in words a person can act on.

use std::fmt;

use crate::load::Origin;

/// One thing wrong in one place. Problems never stop the other files from counting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{origin}: {kind}")]
pub struct Problem {
    /// The file, and the line and column when they are known.
    pub origin: Origin,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What can be wrong with settings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The file exists but could not be read.
    Unreadable(String),
    /// The file is larger than any settings file has a reason to be.
    TooLarge {
        /// Its size in bytes.
        bytes: u64,
        /// The largest size that is read.
        limit: u64,
    },
    /// The bytes are not UTF-8.
    NotUtf8,
    /// The text is not JSON.
    Syntax(String),
    /// A known key holds a value of the wrong kind; the whole file is set aside, as the agent CLI does.
    WrongType {
        /// The key, dotted.
        key: String,
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// A known key holds a word that is none of the allowed ones; the whole file is set aside.
    WrongWord {
        /// The key, dotted.
        key: String,
        /// The allowed words.
        expected: &'static str,
        /// The word found.
        found: String,
    },
    /// A value in a list is not usable and was left out; the rest of the file counts.
    Skipped {
        /// The key, dotted.
        key: String,
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// The same key twice in one object: the last one counts.
    DuplicateKey(String),
    /// A key that nobody reads, and that is most likely a slip for one that holds rules.
    MistakenKey {
        /// The key, dotted.
        key: String,
        /// What was most likely meant.
        meant: &'static str,
    },
    /// Entries of the project's checked-in file that need a trusted workspace.
    Untrusted {
        /// The key, dotted.
        key: &'static str,
        /// How many entries were left out.
        count: usize,
    },
    /// A project may not switch this mode on.
    ModeNotAllowed(String),
}

impl ProblemKind {
    /// Whether the file as a whole was set aside because of this.
    pub fn sets_file_aside(&self) -> bool {
        match self {
            ProblemKind::Unreadable(_)
            | ProblemKind::TooLarge { .. }
            | ProblemKind::NotUtf8
            | ProblemKind::Syntax(_)
            | ProblemKind::WrongType { .. }
            | ProblemKind::WrongWord { .. } => true,
            ProblemKind::Skipped { .. }
            | ProblemKind::DuplicateKey(_)
            | ProblemKind::MistakenKey { .. }
            | ProblemKind::Untrusted { .. }
            | ProblemKind::ModeNotAllowed(_) => false,
        }
    }
}

impl ProblemKind {
    /// Whether a rule that denies or asks may have been left out because of this, although the file counts.
    pub fn may_lose_a_deny(&self) -> bool {
        match self {
            ProblemKind::Skipped { key, .. } => {
                key.starts_with("permissions.deny") || key.starts_with("permissions.ask")
            }
            ProblemKind::DuplicateKey(key) => matches!(key.as_str(), "permissions" | "deny" | "ask"),
            ProblemKind::MistakenKey { .. } => true,
            _ => false,
        }
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProblemKind::Unreadable(cause) => write!(f, "cannot be read: {cause}"),
            ProblemKind::TooLarge { bytes, limit } => {
                write!(f, "is {bytes} bytes long; at most {limit} are read")
            }
            ProblemKind::NotUtf8 => f.write_str("is not UTF-8 here; save the file as UTF-8"),
            ProblemKind::Syntax(message) => {
                write!(f, "{message}; the file cannot be used until this is fixed")
            }
            ProblemKind::WrongType { key, expected, found } => {
                write!(
                    f,
                    "`{key}` must be {expected}, not {found}; the file cannot be used until this is fixed"
                )
            }
            ProblemKind::WrongWord { key, expected, found } => write!(
                f,
                "`{key}` is `{found}`, but must be {expected}; the file cannot be used until this is fixed"
            ),
            ProblemKind::Skipped { key, expected, found } => {
                write!(f, "`{key}` must be {expected}, not {found}; it is left out")
            }
            ProblemKind::DuplicateKey(key) => {
                write!(f, "`{key}` appears twice in one object; the last one counts")
            }
            ProblemKind::MistakenKey { key, meant } => {
                write!(f, "`{key}` means nothing, so what it holds does not count; write `{meant}`")
            }
            ProblemKind::Untrusted { key, count } => write!(
                f,
                "{count} {} of `{key}` left out: a project's own file may not widen permissions until you trust this workspace",
                if *count == 1 { "entry" } else { "entries" }
            ),
            ProblemKind::ModeNotAllowed(mode) => write!(
                f,
                "`permissions.defaultMode` `{mode}` is left out: a project may not switch it on, set it in your user settings"
            ),
        }
    }
}
