use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Which files the model has seen, and in which state: an edit of anything else would be blind.
#[derive(Debug, Default)]
pub(crate) struct Seen(HashMap<PathBuf, Glimpse>);

/// What the model knows of a file.
#[derive(Debug)]
struct Glimpse {
    modified: SystemTime,
    /// What its text was, so that a file which was only touched counts as the same; none if only its time is known.
    text: Option<u64>,
    extent: Extent,
}

/// How much of a file the model has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    Part,
}

/// How a file on disk relates to what the model saw of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// Never read or written in this session.
    Never,
    /// As it was then, which the model has seen as far as this.
    Current(Extent),
    /// Changed by somebody else since.
    Stale,
}

impl Seen {
    /// The model now knows the file as it is on disk, with this text.
    pub(crate) fn note(&mut self, path: &Path, text: &str, extent: Extent) {
        self.insert(path, Some(digest(text)), extent);
    }

    /// The model now knows the file as it is on disk, which is no text.
    pub(crate) fn note_shown(&mut self, path: &Path) {
        self.insert(path, None, Extent::Whole);
    }

    fn insert(&mut self, path: &Path, text: Option<u64>, extent: Extent) {
        if let Ok(modified) = std::fs::metadata(path).and_then(|meta| meta.modified()) {
            self.0.insert(path.to_owned(), Glimpse { modified, text, extent });
        }
    }

    /// The model knows the file as it was at this time, in whole milliseconds since 1970.
    pub(crate) fn seed(&mut self, path: &Path, millis: u64) {
        let then = UNIX_EPOCH.checked_add(Duration::from_millis(millis)).unwrap_or(UNIX_EPOCH);
        let now = std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
        // Disks count finer than hosts do.
        let same = now.filter(|now| whole_millis(*now) == whole_millis(then));
        let modified = same.unwrap_or(then);
        self.0.insert(path.to_owned(), Glimpse { modified, text: None, extent: Extent::Whole });
    }

    /// What the model knows of a file whose text is `text` now, if it is a text.
    pub(crate) fn sight(&self, path: &Path, text: Option<&str>) -> Sight {
        let Some(glimpse) = self.0.get(path) else { return Sight::Never };
        let modified = std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
        match modified == Some(glimpse.modified)
            || text.is_some_and(|text| glimpse.text == Some(digest(text)))
        {
            true => Sight::Current(glimpse.extent),
            false => Sight::Stale,
        }
    }
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

fn whole_millis(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH).map(|since| since.as_millis()).unwrap_or_default()
}
