//! Permission modes, and the classifier that `auto` and `plan` may consult.

use std::{fmt, str::FromStr, sync::Arc};

use pilothouse_proto::PermissionMode;

use crate::call::ToolCall;

/// How calls are judged that no rule decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Asks for whatever is not plainly harmless. Also called `manual`; settings may still say `delegate`.
    #[default]
    Default,
    /// Edits inside the working directories pass.
    AcceptEdits,
    /// Reads and plans; edits are asked about.
    Plan,
    /// Passes everything but what a rule or a hook denies or asks about.
    BypassPermissions,
    /// Denies what would have to be asked.
    DontAsk,
    /// A classifier decides what is left.
    Auto,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 6] =
        [Self::Default, Self::AcceptEdits, Self::Plan, Self::BypassPermissions, Self::DontAsk, Self::Auto];

    /// The name used on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::BypassPermissions => "bypassPermissions",
            Self::DontAsk => "dontAsk",
            Self::Auto => "auto",
        }
    }

    /// Whether edits inside the working directories pass without asking.
    #[must_use]
    pub const fn accepts_edits(self) -> bool {
        matches!(self, Self::AcceptEdits | Self::Auto)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A mode that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown permission mode `{0}`: use default, acceptEdits, plan, bypassPermissions, dontAsk or auto")]
pub struct UnknownMode(pub String);

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Self, UnknownMode> {
        match name {
            "manual" | "delegate" => Ok(Self::Default),
            _ => Self::ALL
                .into_iter()
                .find(|mode| mode.name() == name)
                .ok_or_else(|| UnknownMode(name.to_owned())),
        }
    }
}

impl TryFrom<&PermissionMode> for Mode {
    type Error = UnknownMode;

    fn try_from(mode: &PermissionMode) -> Result<Self, UnknownMode> {
        mode.as_str().parse()
    }
}

impl From<Mode> for PermissionMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Default => Self::Default,
            Mode::AcceptEdits => Self::AcceptEdits,
            Mode::Plan => Self::Plan,
            Mode::BypassPermissions => Self::BypassPermissions,
            Mode::DontAsk => Self::DontAsk,
            Mode::Auto => Self::Auto,
        }
    }
}

/// Who judges in `auto` and `plan` what neither rules nor the tool itself decide.
#[derive(Clone, Debug, Default)]
pub enum Classifier {
    /// Nobody: the user is asked.
    #[default]
    None,
    /// There should be one, but it does not answer: calls that need it are refused.
    Unavailable(Outage),
    /// It answers.
    Answers(Arc<dyn Classify>),
}

/// How a classifier fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outage {
    /// For the whole session: trying again does not help.
    Session,
    /// For the moment. After two refusals in a row the user is asked instead; the caller counts them by
    /// [`BlockCount`](crate::BlockCount).
    Passing {
        /// Refusals since the last edit that passed.
        blocked_in_a_row: u32,
    },
}

/// A classifier.
pub trait Classify: fmt::Debug + Send + Sync {
    /// Judges a call.
    fn classify(&self, call: &ToolCall) -> Verdict;
}

/// What a classifier says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Harmless.
    Allow,
    /// Not to be run, and why.
    Deny(String),
    /// The user should decide, and why.
    Ask(String),
}
