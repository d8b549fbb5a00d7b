//! Ids, each with a type of its own.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::StoreError;

/// The id of a session: a UUID, so that it is always safe as a file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(Uuid);

impl SessionId {
    pub(crate) fn random() -> Self {
        Self(Uuid::new_v4())
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl From<Uuid> for SessionId {
    fn from(id: Uuid) -> Self {
        Self(id)
    }
}

impl FromStr for SessionId {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        // `Uuid` also reads forms without hyphens and with braces, which are never file names of sessions.
        let parsed = Uuid::try_parse(text).ok().filter(|_| text.len() == 36);
        parsed.map(Self).ok_or_else(|| StoreError::BadSessionId(text.to_owned()))
    }
}

/// The id of one transcript entry, as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(pub String);

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
