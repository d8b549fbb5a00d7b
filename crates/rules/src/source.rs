//! Where a rule comes from: the scope that holds it and, for files, the place in the file.

use std::{fmt, sync::Arc};

use pilothouse_proto::PermissionUpdateDestination;

/// The scope that holds a rule or a directory. The order is the order in which they are reported: of two rules
/// that decide alike, the one from the earlier scope is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// Managed policy; nobody but the administrator changes it.
    PolicySettings,
    /// `--settings`, a file or JSON on the command line.
    FlagSettings,
    /// `--allowed-tools`, `--disallowed-tools`, `--add-dir`.
    CliArg,
    /// A slash command's `allowed-tools`.
    Command,
    /// Approved during this session; held in memory.
    Session,
    /// `.claude/settings.local.json`.
    LocalSettings,
    /// `.claude/settings.json`, checked in with the project.
    ProjectSettings,
    /// `settings.json` in the user's configuration directory.
    UserSettings,
}

impl Source {
    /// Every scope, in reporting order.
    pub const ALL: [Self; 8] = [
        Self::PolicySettings,
        Self::FlagSettings,
        Self::CliArg,
        Self::Command,
        Self::Session,
        Self::LocalSettings,
        Self::ProjectSettings,
        Self::UserSettings,
    ];

    /// The name used on the wire and in the permission context.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PolicySettings => "policySettings",
            Self::FlagSettings => "flagSettings",
            Self::CliArg => "cliArg",
            Self::Command => "command",
            Self::Session => "session",
            Self::LocalSettings => "localSettings",
            Self::ProjectSettings => "projectSettings",
            Self::UserSettings => "userSettings",
        }
    }

    /// The scope with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }

    /// Whether rules of this scope live in a file that can be rewritten.
    #[must_use]
    pub const fn is_file(self) -> bool {
        matches!(self, Self::LocalSettings | Self::ProjectSettings | Self::UserSettings)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl TryFrom<&PermissionUpdateDestination> for Source {
    type Error = UnknownDestination;

    fn try_from(destination: &PermissionUpdateDestination) -> Result<Self, UnknownDestination> {
        let name = destination.as_str();
        let updatable = |source: &Self| source.is_file() || matches!(source, Self::Session | Self::CliArg);
        Self::from_name(name).filter(updatable).ok_or_else(|| UnknownDestination(name.to_owned()))
    }
}

/// A destination that no update may name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown destination `{0}`: use session, cliArg, localSettings, projectSettings or userSettings")]
pub struct UnknownDestination(pub String);

/// The place in a settings file where a rule is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub file: Arc<str>,
    /// Its line, counted from 1.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
