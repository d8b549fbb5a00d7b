//! What a device may do.

use serde::{Deserialize, Serialize};

/// One kind of thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// See sessions and what is said in them.
    Observe,
    /// Start, stop and resume sessions, and say something in them.
    Input,
    /// Decide about tool calls, questions and plans.
    Approve,
    /// Change mode, model and title.
    Configure,
    /// Let a session run everything without asking, once an owner has confirmed it.
    Bypass,
    /// Confirm what only an owner may allow, and manage other owners' devices.
    Owner,
}

impl Scope {
    const ALL: [Self; 6] =
        [Self::Observe, Self::Input, Self::Approve, Self::Configure, Self::Bypass, Self::Owner];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Input => "input",
            Self::Approve => "approve",
            Self::Configure => "configure",
            Self::Bypass => "bypass",
            Self::Owner => "owner",
        }
    }
}

/// What a device may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Scope>", into = "Vec<Scope>")]
pub struct Scopes(u8);

impl Scopes {
    /// Everything but `bypass` and `owner`, which are granted on their own.
    pub fn usual() -> Self {
        [Scope::Observe, Scope::Input, Scope::Approve, Scope::Configure].into_iter().collect()
    }

    /// What an owner's device may do: the usual, and to be the owner.
    pub fn owner() -> Self {
        Self::usual().with(Scope::Owner)
    }

    /// What a program of the user at this machine may do: everything but to be an owner.
    pub fn program() -> Self {
        Self::usual().with(Scope::Bypass)
    }

    /// These and one more.
    #[must_use]
    pub fn with(self, scope: Scope) -> Self {
        Self(self.0 | 1 << scope as u8)
    }

    /// Everything.
    pub fn all() -> Self {
        Scope::ALL.into_iter().collect()
    }

    /// Whether it may do this.
    pub fn has(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }

    /// The names of all that it may do.
    pub fn names(self) -> Vec<String> {
        Vec::from(self).into_iter().map(|scope| scope.as_str().to_owned()).collect()
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | 1 << scope as u8))
    }
}

impl From<Vec<Scope>> for Scopes {
    fn from(scopes: Vec<Scope>) -> Self {
        scopes.into_iter().collect()
    }
}

impl From<Scopes> for Vec<Scope> {
    fn from(scopes: Scopes) -> Self {
        Scope::ALL.into_iter().filter(|scope| scopes.has(*scope)).collect()
    }
}
