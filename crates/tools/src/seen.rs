use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

    /// The model knows the file as it was at this time, in whole milliseconds since 1970.
    pub(crate) fn seed(&mut self, path: &Path, millis: u64) {
        let then = UNIX_EPOCH.checked_add(Duration::from_millis(millis)).unwrap_or(UNIX_EPOCH);
        let now = std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
        // Disks count finer than hosts do.
        let same = now.filter(|now| whole_millis(*now) == whole_millis(then));
        self.0.insert(path.to_owned(), same.unwrap_or(then));
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

fn whole_millis(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH).map(|since| since.as_millis()).unwrap_or_default()
}
