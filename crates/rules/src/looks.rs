//! What one decision may look at on the disk: nothing twice, and no more than can be looked at while somebody waits.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::paths::{Files, Listing};

/// Entries of directories that are read for one decision.
const MOST_ENTRIES: usize = 10_000;
/// Paths that are looked up for it: each entry may be followed, and asked what it is.
const MOST_PATHS: usize = 3 * MOST_ENTRIES;
/// Answers that are given, whether or not the disk was needed for them: a short command may ask for the same
/// directory a thousand times.
const MOST_ANSWERS: usize = 30 * MOST_ENTRIES;

/// The disk as one decision sees it. When it has looked at too much, everything leads nowhere and nothing can be listed,
/// and [`Looks::are_used_up`] says that the decision knows too little to allow anything.
#[derive(Debug)]
pub(crate) struct Looks {
    files: Arc<dyn Files>,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    listings: HashMap<String, Option<Listing>>,
    resolved: HashMap<String, Option<String>>,
    kinds: HashMap<String, Option<bool>>,
    there: HashMap<String, bool>,
    entries: usize,
    paths: usize,
    answers: usize,
    used_up: bool,
}

impl Seen {
    /// Takes from what is left; nothing is left once it was too little.
    fn spend(&mut self, answers: usize, paths: usize) -> bool {
        match (self.answers.checked_sub(answers), self.paths.checked_sub(paths)) {
            (Some(answers), Some(paths)) if !self.used_up => {
                (self.answers, self.paths) = (answers, paths);
                true
            }
            _ => {
                self.used_up = true;
                false
            }
        }
    }
}

impl Looks {
    pub(crate) fn new(files: Arc<dyn Files>) -> Self {
        let seen = Seen {
            listings: HashMap::new(),
            resolved: HashMap::new(),
            kinds: HashMap::new(),
            there: HashMap::new(),
            entries: MOST_ENTRIES,
            paths: MOST_PATHS,
            answers: MOST_ANSWERS,
            used_up: false,
        };
        Self { files, seen: Mutex::new(seen) }
    }

    /// Whether something was not looked at because it was too much.
    pub(crate) fn are_used_up(&self) -> bool {
        self.seen().used_up
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files for Looks {
    fn is_dir(&self, path: &str) -> Option<bool> {
        let mut seen = self.seen();
        let known = seen.kinds.get(path).copied();
        if !seen.spend(1, usize::from(known.is_none())) {
            return None;
        }
        known.unwrap_or_else(|| {
            let kind = self.files.is_dir(path);
            seen.kinds.insert(path.to_owned(), kind);
            kind
        })
    }

    fn is_there(&self, path: &str) -> bool {
        let mut seen = self.seen();
        let known = seen.there.get(path).copied();
        if !seen.spend(1, usize::from(known.is_none())) {
            return true;
        }
        known.unwrap_or_else(|| {
            let there = self.files.is_there(path);
            seen.there.insert(path.to_owned(), there);
            there
        })
    }

    fn resolve(&self, path: &str) -> Option<String> {
        let mut seen = self.seen();
        let known = seen.resolved.get(path).cloned();
        if !seen.spend(1, usize::from(known.is_none())) {
            return Some("/".to_owned());
        }
        known.unwrap_or_else(|| {
            let real = self.files.resolve(path);
            seen.resolved.insert(path.to_owned(), real.clone());
            real
        })
    }

    fn list(&self, directory: &str, most: usize) -> Option<Listing> {
        let mut seen = self.seen();
        if !seen.listings.contains_key(directory) && seen.spend(1, 1) {
            let listing = self.files.list(directory, most.min(seen.entries));
            if let Some(Listing::Entries(entries)) = &listing {
                seen.entries = seen.entries.saturating_sub(entries.len());
            }
            seen.listings.insert(directory.to_owned(), listing);
        }
        let answers = match seen.listings.get(directory) {
            Some(Some(Listing::Entries(entries))) => entries.len(),
            _ => 1,
        };
        if !seen.spend(answers, 0) {
            return Some(Listing::Unreadable);
        }
        seen.listings.get(directory).cloned().unwrap_or(Some(Listing::Unreadable))
    }
}
