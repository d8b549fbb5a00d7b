//! The layers a value can come from, and the choice among them.

use std::fmt;
use std::str::FromStr;

/// Where a settings value was written. Ordered: a later layer wins over an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// `CONFIG/settings.json`: this person, everywhere.
    User,
    /// `.claude/settings.json`: checked in, shared by everyone on the project.
    Project,
    /// `.claude/settings.local.json`: this person, this project.
    Local,
    /// `--settings`, a file or JSON text.
    Flag,
    /// Managed by the organisation; nothing overrides it.
    Policy,
}

impl Layer {
    /// All layers, lowest first.
    pub const ALL: [Layer; 5] = [Layer::User, Layer::Project, Layer::Local, Layer::Flag, Layer::Policy];

    /// The name that the wire uses for this layer, such as `userSettings`.
    pub fn wire_name(self) -> &'static str {
        match self {
            Layer::User => "userSettings",
            Layer::Project => "projectSettings",
            Layer::Local => "localSettings",
            Layer::Flag => "flagSettings",
            Layer::Policy => "policySettings",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layer::User => "user",
            Layer::Project => "project",
            Layer::Local => "local",
            Layer::Flag => "flag",
            Layer::Policy => "policy",
        })
    }
}

/// Which settings *files* are read, as `--setting-sources` says. The flag and policy layers are always read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sources {
    /// Read the user's file.
    pub user: bool,
    /// Read the project's checked-in file.
    pub project: bool,
    /// Read the project's private file.
    pub local: bool,
}

impl Sources {
    /// Every file.
    pub const ALL: Sources = Sources { user: true, project: true, local: true };
    /// No file at all, as an empty `--setting-sources` says.
    pub const NONE: Sources = Sources { user: false, project: false, local: false };

    /// Whether the layer is read.
    pub fn contains(self, layer: Layer) -> bool {
        match layer {
            Layer::User => self.user,
            Layer::Project => self.project,
            Layer::Local => self.local,
            Layer::Flag | Layer::Policy => true,
        }
    }
}

impl Default for Sources {
    fn default() -> Self {
        Sources::ALL
    }
}

/// A name in `--setting-sources` that is none of the three.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown setting source `{name}`; use user, project or local, separated by commas")]
pub struct UnknownSource {
    /// The name as it was given.
    pub name: String,
}

impl FromStr for Sources {
    type Err = UnknownSource;

    /// Reads a comma separated list; blanks around names do not matter, an empty list is [`Sources::NONE`].
    fn from_str(list: &str) -> Result<Self, UnknownSource> {
        let mut sources = Sources::NONE;
        for name in list.split(',').map(str::trim) {
            match name {
                "" => {}
                "user" => sources.user = true,
                "project" => sources.project = true,
                "local" => sources.local = true,
                other => {
                    return Err(UnknownSource { name: other.to_owned() });
                }
            }
        }
        Ok(sources)
    }
}
