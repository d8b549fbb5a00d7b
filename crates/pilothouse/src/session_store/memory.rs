//! A store for tests and for sessions that need not outlive the program.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::{Digest, Entry, SessionKey, SessionStore, SessionSummary, StoreFuture, StoredSession};

/// Keeps transcripts in memory.
#[derive(Debug, Default)]
pub struct InMemoryStore {
    transcripts: Mutex<BTreeMap<SessionKey, Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: Vec<Entry>,
    uuids: BTreeSet<String>,
    digest: Digest,
    modified: u64,
}

impl InMemoryStore {
    /// The keys of everything that is kept, in order.
    pub fn keys(&self) -> Vec<SessionKey> {
        self.lock().keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionKey, Kept>> {
        self.transcripts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionStore for InMemoryStore {
    fn append<'a>(&'a self, key: &'a SessionKey, entries: &'a [Entry]) -> StoreFuture<'a, ()> {
        if !entries.is_empty() {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
            let mut transcripts = self.lock();
            let kept = transcripts.entry(key.clone()).or_default();
            kept.modified = u64::try_from(now).unwrap_or(u64::MAX);
            for entry in entries {
                let uuid = entry.get("uuid").and_then(Value::as_str);
                if uuid.is_none_or(|uuid| kept.uuids.insert(uuid.to_owned())) {
                    kept.digest.add([entry]);
                    kept.entries.push(entry.clone());
                }
            }
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn load<'a>(&'a self, key: &'a SessionKey) -> StoreFuture<'a, Option<Vec<Entry>>> {
        let entries = self.lock().get(key).map(|kept| kept.entries.clone());
        Box::pin(std::future::ready(Ok(entries)))
    }

    fn list_sessions<'a>(&'a self, project_key: &'a str) -> StoreFuture<'a, Vec<StoredSession>> {
        let transcripts = self.lock();
        let mains =
            transcripts.iter().filter(|(key, _)| key.project_key == project_key && key.subpath.is_none());
        let sessions = mains
            .map(|(key, kept)| StoredSession { session_id: key.session_id.clone(), modified: kept.modified });
        Box::pin(std::future::ready(Ok(sessions.collect())))
    }

    fn list_summaries<'a>(&'a self, project_key: &'a str) -> StoreFuture<'a, Vec<SessionSummary>> {
        let transcripts = self.lock();
        let mains =
            transcripts.iter().filter(|(key, _)| key.project_key == project_key && key.subpath.is_none());
        let summaries = mains.map(|(key, kept)| SessionSummary {
            session_id: key.session_id.clone(),
            modified: kept.modified,
            digest: kept.digest.clone(),
        });
        Box::pin(std::future::ready(Ok(summaries.collect())))
    }

    fn list_parts<'a>(&'a self, key: &'a SessionKey) -> StoreFuture<'a, Vec<String>> {
        let transcripts = self.lock();
        let same =
            |other: &&SessionKey| other.project_key == key.project_key && other.session_id == key.session_id;
        let parts = transcripts.keys().filter(same).filter_map(|key| key.subpath.clone()).collect();
        Box::pin(std::future::ready(Ok(parts)))
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> StoreFuture<'a, ()> {
        let whole = key.subpath.is_none();
        self.lock().retain(|other, _| {
            let same = other.project_key == key.project_key && other.session_id == key.session_id;
            !(same && (whole || other.subpath == key.subpath))
        });
        Box::pin(std::future::ready(Ok(())))
    }
}
