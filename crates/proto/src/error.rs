use std::fmt;

/// Why a line could not be read as a frame. The line itself stays with whoever has it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}{} at column {column}: {message}", At(.path))]
pub struct DecodeError {
    /// What kind of failure it is, and so what a reader can do about it.
    pub kind: DecodeErrorKind,
    /// Where in the JSON, such as `message.content[2].text`; empty for the line as a whole.
    pub path: String,
    /// The 1-based byte column in the line where reading stopped; 0 if unknown.
    pub column: usize,
    /// What was expected and what was found.
    pub message: String,
}

/// A text that is none of the values a type knows.
///
/// ```
/// use pilothouse_proto::PermissionMode;
///
/// let error = "plam".parse::<PermissionMode>().unwrap_err();
/// assert!(error.to_string().starts_with("`plam` is not one of default, acceptEdits"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not one of {}", known.join(", "))]
pub struct UnknownValue {
    /// The text.
    pub value: String,
    /// Every value that there is.
    pub known: &'static [&'static str],
}

/// The kinds of [`DecodeError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The line is no JSON: noise that a host skips.
    NotJson,
    /// The line is not UTF-8.
    NotUtf8,
    /// Arrays and objects nest deeper than 127 levels.
    TooDeep,
    /// Good JSON whose known type has a missing or broken field.
    Malformed,
}

impl fmt::Display for DecodeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotJson => "not JSON",
            Self::NotUtf8 => "not UTF-8",
            Self::TooDeep => "nested too deeply",
            Self::Malformed => "malformed",
        })
    }
}

struct At<'a>(&'a str);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " `{}`", self.0) }
    }
}
