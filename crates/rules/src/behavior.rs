//! What a rule or a decision says.

use std::fmt;

use pilothouse_proto::PermissionBehavior;

/// Allow, ask or deny, from lenient to strict: of several opinions the greatest holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Behavior {
    /// Runs without asking.
    Allow,
    /// Somebody is asked.
    Ask,
    /// Refused without asking.
    Deny,
}

impl Behavior {
    /// All three, from lenient to strict.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// The word used in settings files and on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// The behaviour with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|behavior| behavior.name() == name)
    }
}

impl fmt::Display for Behavior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Behavior> for PermissionBehavior {
    fn from(behavior: Behavior) -> Self {
        match behavior {
            Behavior::Allow => Self::Allow,
            Behavior::Ask => Self::Ask,
            Behavior::Deny => Self::Deny,
        }
    }
}

impl TryFrom<&PermissionBehavior> for Behavior {
    type Error = UnknownBehavior;

    fn try_from(behavior: &PermissionBehavior) -> Result<Self, UnknownBehavior> {
        let name = behavior.as_str();
        Self::from_name(name).ok_or_else(|| UnknownBehavior(name.to_owned()))
    }
}

/// A behaviour that is neither allow, ask nor deny.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown behavior `{0}`: use allow, ask or deny")]
pub struct UnknownBehavior(pub String);
