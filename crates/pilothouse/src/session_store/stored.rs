//! The sessions that a store keeps, read and edited like those in files.
//!
//! Lists come from digests. Everything else goes through files in a folder that is gone again at once: so there is one
//! reader of transcripts and not two, whatever keeps them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pilothouse_store::{
    Digest, ForkOptions, ListOptions, MessageOptions, SessionId, SessionInfo, SessionMessage, Store,
    StoreError, Subagent, project_key,
};
use serde_json::Value;
use tempfile::TempDir;

use super::import::import_session;
use super::materialize::{parts, write_all};
use super::{
    Entry, SessionKey, SessionStore, SessionStoreError, SessionSummary, StoreOptions, StoredSession,
};
use crate::error::Error;

/// The sessions of one project that a store keeps.
///
/// ```
/// use std::sync::Arc;
/// use pilothouse::session_store::{InMemoryStore, StoredSessions};
/// use pilothouse::sessions::ListOptions;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let sessions = StoredSessions::new(Arc::new(InMemoryStore::default()), "/home/me/project");
/// for session in sessions.list(&ListOptions::default()).await? {
///     println!("{} {}", session.id, session.summary);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct StoredSessions {
    store: StoreOptions,
    project: String,
}

impl StoredSessions {
    /// The sessions of the project in this directory.
    pub fn new(store: Arc<dyn SessionStore>, project: impl AsRef<Path>) -> Self {
        Self::of_key(store, project_key(project.as_ref()))
    }

    /// The sessions of the project with this key.
    pub fn of_key(store: Arc<dyn SessionStore>, project_key: impl Into<String>) -> Self {
        Self { store: StoreOptions::new(store), project: project_key.into() }
    }

    /// Sessions, newest first. Of the options, those about projects mean nothing here. A session whose summary the store
    /// does not keep, or not as new as the session, is read for it.
    ///
    /// # Errors
    /// When the store cannot list sessions, or fails.
    pub async fn list(&self, options: &ListOptions) -> Result<Vec<SessionInfo>, Error> {
        let summaries = match self.store.in_time(self.store.store.list_summaries(&self.project)).await {
            Err(SessionStoreError::Unsupported(_)) => Vec::new(),
            listed => listed.map_err(refused)?,
        };
        let mut sessions = match self.store.in_time(self.store.store.list_sessions(&self.project)).await {
            // Then the summaries are the list.
            Err(SessionStoreError::Unsupported(_)) if !summaries.is_empty() => {
                let of = |summary: &SessionSummary| StoredSession {
                    session_id: summary.session_id.clone(),
                    modified: summary.modified,
                };
                summaries.iter().map(of).collect()
            }
            listed => listed.map_err(refused)?,
        };
        sessions.sort_by_key(|session| Reverse(session.modified));
        let summaries: BTreeMap<_, _> =
            summaries.into_iter().map(|summary| (summary.session_id.clone(), summary)).collect();
        let mut shown = Vec::new();
        let mut left_out = 0;
        for session in sessions {
            if options.limit.is_some_and(|limit| shown.len() >= limit) {
                break;
            }
            let Ok(id) = session.session_id.parse::<SessionId>() else { continue };
            let digest = match summaries.get(&session.session_id) {
                Some(summary) if summary.modified >= session.modified => summary.digest.clone(),
                _ => self.digest(id).await?,
            };
            let modified = i64::try_from(session.modified).unwrap_or(i64::MAX);
            match digest.info(id, modified) {
                Some(info) if !options.programmatic && info.is_programmatic() => {}
                Some(_) if left_out < options.offset => left_out += 1,
                info => shown.extend(info),
            }
        }
        Ok(shown)
    }

    /// One session; none if there is no such session, or nothing of it to show. When it was written to is only known
    /// from a list.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn info(&self, id: SessionId) -> Result<Option<SessionInfo>, Error> {
        Ok(self.digest(id).await?.info(id, 0))
    }

    /// The conversation of a session, oldest message first.
    ///
    /// # Errors
    /// When there is no such session, or the store fails.
    pub async fn messages(
        &self,
        id: SessionId,
        options: &MessageOptions,
    ) -> Result<Vec<SessionMessage>, Error> {
        let files = self.files(id, false).await?;
        Ok(files.store.messages(id, None, options).map_err(failed)?.0)
    }

    /// The subagents of a session, by id. Their paths lead nowhere.
    ///
    /// # Errors
    /// When there is no such session, or the store fails.
    pub async fn subagents(&self, id: SessionId) -> Result<Vec<Subagent>, Error> {
        let files = self.files(id, true).await?;
        Ok(files.store.subagents(id, None).map_err(failed)?.0)
    }

    /// The conversation of a subagent, oldest message first.
    ///
    /// # Errors
    /// When there is no such session or subagent, or the store fails.
    pub async fn subagent_messages(
        &self,
        id: SessionId,
        agent: &str,
        options: &MessageOptions,
    ) -> Result<Vec<SessionMessage>, Error> {
        let files = self.files(id, true).await?;
        Ok(files.store.subagent_messages(id, agent, None, options).map_err(failed)?.0)
    }

    /// Gives a session a title.
    ///
    /// # Errors
    /// When the title is empty, there is no such session, or the store fails.
    pub async fn rename(&self, id: SessionId, title: &str) -> Result<(), Error> {
        self.edit(id, |files| files.rename(id, None, title)).await
    }

    /// Gives a session a tag, in place of the one it had; `None` takes the tag away.
    ///
    /// # Errors
    /// When the tag is empty, there is no such session, or the store fails.
    pub async fn tag(&self, id: SessionId, tag: Option<&str>) -> Result<(), Error> {
        self.edit(id, |files| files.tag(id, None, tag)).await
    }

    /// Deletes a session with all that belongs to it.
    ///
    /// # Errors
    /// When the store cannot delete, or fails.
    pub async fn delete(&self, id: SessionId) -> Result<(), Error> {
        self.store.in_time(self.store.store.delete(&self.key(id))).await.map_err(refused)
    }

    /// Copies a session under a new id, into the same store, and gives the id.
    ///
    /// # Errors
    /// When there is no such session, or the store fails.
    pub async fn fork(&self, id: SessionId, options: &ForkOptions) -> Result<SessionId, Error> {
        let files = self.files(id, false).await?;
        let (copy, _) = files.store.fork(id, None, options).map_err(failed)?;
        import_session(&files.store, copy, None, &*self.store.store).await?;
        Ok(copy)
    }

    fn key(&self, id: SessionId) -> SessionKey {
        SessionKey::main(&self.project, id.to_string())
    }

    async fn load(&self, key: &SessionKey) -> Result<Vec<Entry>, Error> {
        let entries = self.store.in_time(self.store.store.load(key)).await.map_err(refused)?;
        Ok(entries.unwrap_or_default())
    }

    async fn digest(&self, id: SessionId) -> Result<Digest, Error> {
        let mut digest = Digest::default();
        digest.add(&self.load(&self.key(id)).await?);
        Ok(digest)
    }

    async fn files(&self, id: SessionId, with_parts: bool) -> Result<Files, Error> {
        let key = self.key(id);
        let entries = self.load(&key).await?;
        let parts = if with_parts { parts(&self.store, &key).await.map_err(refused)? } else { Vec::new() };
        let folder = write_all(&key, &entries, &parts, None, None);
        let folder = folder.map_err(|error| Error::SessionStore(format!("cannot write files: {error}")))?;
        Ok(Files { store: Store::at(folder.path()), entries: entries.len(), _folder: folder })
    }

    /// Appends to the transcript in the store what an edit appends to the file.
    async fn edit(
        &self,
        id: SessionId,
        edit: impl FnOnce(&Store) -> Result<(), StoreError>,
    ) -> Result<(), Error> {
        let files = self.files(id, false).await?;
        edit(&files.store).map_err(failed)?;
        let path = files.store.transcript(id, None).map_err(failed)?;
        let text = std::fs::read_to_string(path).map_err(|error| Error::SessionStore(error.to_string()))?;
        let added = text.lines().skip(files.entries).filter_map(|line| {
            let mut entry: Entry = serde_json::from_str(line).ok()?;
            // By this a store knows that it has an entry already.
            entry.insert("uuid".to_owned(), Value::String(uuid::Uuid::new_v4().to_string()));
            Some(entry)
        });
        let added: Vec<Entry> = added.collect();
        self.store.in_time(self.store.store.append(&self.key(id), &added)).await.map_err(refused)
    }
}

/// A session in files, as long as this is there.
struct Files {
    store: Store,
    /// How many lines the main transcript has.
    entries: usize,
    _folder: TempDir,
}

fn refused(error: SessionStoreError) -> Error {
    Error::SessionStore(error.to_string())
}

fn failed(error: StoreError) -> Error {
    Error::SessionStore(error.to_string())
}
