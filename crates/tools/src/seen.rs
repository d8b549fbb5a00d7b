use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Which files the model has seen, and in which state: an edit of anything else would be blind.
#[derive(Debug, Default)]
pub(crate) struct Seen(HashMap<PathBuf, SystemTime>);

/// How a file on disk relates to what the model saw of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// Never read or written in this session.
    Never,
    /// As it was then.
    Current,
    /// Changed by somebody else since.
    Stale,
}

impl Seen {
    /// The model now knows the file as it is on disk.
    pub(crate) fn note(&mut self, path: &Path) {
        if let Ok(modified) = std::fs::metadata(path).and_then(|meta| meta.modified()) {
            self.0.insert(path.to_owned(), modified);
        }
    }

    pub(crate) fn sight(&self, path: &Path) -> Sight {
        let now = std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
        match self.0.get(path) {
            None => Sight::Never,
            Some(then) if Some(*then) == now => Sight::Current,
            Some(_) => Sight::Stale,
        }
    }
}
