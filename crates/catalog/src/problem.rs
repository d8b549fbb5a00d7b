//! What was wrong with a file.

use std::fmt;
use std::path::PathBuf;

/// One thing wrong in one file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {kind}", path.display(), Line(*line))]
pub struct Problem {
    /// The file or directory.
    pub path: PathBuf,
    /// The line, counted from 1, when it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub kind: ProblemKind,
}

struct Line(Option<usize>);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// It could not be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// It is larger than a prompt has a reason to be.
    #[error("is larger than {limit} bytes and is left out")]
    TooLarge {
        /// The largest size that is read.
        limit: u64,
    },
    /// The text is not UTF-8.
    #[error("is not UTF-8 and is left out; save it as UTF-8")]
    NotUtf8,
    /// The name of the file is not UTF-8.
    #[error("has a name that is not UTF-8 and is left out; rename it")]
    NameNotUtf8,
    /// A link leads back to a directory that is already being searched.
    #[error("leads back to a directory above it and is not followed")]
    LinkLoop,
    /// The directories are nested too deeply, or there are too many files.
    #[error("{0}; the rest is left out")]
    TooMuch(&'static str),
    /// The front matter is not YAML, not even after repair. The text counts, the front matter does not.
    #[error("the front matter cannot be understood and does not count: {0}")]
    FrontMatter(String),
    /// The front matter is not YAML but was understood after quoting values.
    #[error("`{0}` is not valid YAML; put quotes around its value")]
    Repaired(String),
    /// A front matter field holds something it cannot mean.
    #[error("`{field}` must be {expected}")]
    Field {
        /// The field.
        field: &'static str,
        /// What belongs there.
        expected: &'static str,
    },
    /// The name is longer than allowed.
    #[error("the name has {0} characters; at most 64 are allowed")]
    NameTooLong(usize),
    /// The description is longer than allowed.
    #[error("the description has {0} characters; at most 1024 are allowed")]
    DescriptionTooLong(usize),
    /// A skill's name has characters that others may refuse.
    #[error("the name `{0}` should have only lower-case letters, digits and hyphens")]
    NameCharacters(String),
    /// An agent lacks what it cannot do without.
    #[error("has no `{0}` in its front matter and is left out")]
    Missing(&'static str),
    /// Another entry has the same name and comes first.
    #[error("`{name}` is hidden by {}", by.display())]
    Hidden {
        /// The name.
        name: String,
        /// The file that is used instead.
        by: PathBuf,
    },
    /// A plugin cannot be loaded.
    #[error("is not a plugin: {0}")]
    Plugin(String),
}
