use std::fmt;
use std::hash::{Hash, Hasher};

/// Room for a UUID and for every other id that a CLI writes.
const IN_PLACE: usize = 38;

/// A text that needs no memory of its own while it is short. Every frame has two ids or more, and most of them are never
/// looked at.
#[derive(Clone)]
pub(super) enum Short {
    InPlace { length: u8, bytes: [u8; IN_PLACE] },
    Long(Box<str>),
}

impl Short {
    pub(super) fn as_str(&self) -> &str {
        match self {
            // It was cut out of a text as a whole, so it always is one.
            Self::InPlace { length, bytes } => bytes
                .get(..usize::from(*length))
                .and_then(|text| str::from_utf8(text).ok())
                .unwrap_or_default(),
            Self::Long(text) => text,
        }
    }

    pub(super) fn into_string(self) -> String {
        match self {
            Self::InPlace { .. } => self.as_str().to_owned(),
            Self::Long(text) => text.into_string(),
        }
    }
}

impl Default for Short {
    #[inline]
    fn default() -> Self {
        Self::InPlace { length: 0, bytes: [0; IN_PLACE] }
    }
}

impl From<&str> for Short {
    fn from(text: &str) -> Self {
        let mut bytes = [0; IN_PLACE];
        match (bytes.get_mut(..text.len()), u8::try_from(text.len())) {
            (Some(room), Ok(length)) => {
                room.copy_from_slice(text.as_bytes());
                Self::InPlace { length, bytes }
            }
            _ => Self::Long(text.into()),
        }
    }
}

impl From<String> for Short {
    fn from(text: String) -> Self {
        if text.len() <= IN_PLACE { Self::from(text.as_str()) } else { Self::Long(text.into()) }
    }
}

impl fmt::Debug for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl PartialEq for Short {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Short {}

impl PartialOrd for Short {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Short {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

/// As the text itself: ids are looked up by it.
impl Hash for Short {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

#[cfg(test)]
#[path = "short_tests.rs"]
mod tests;
