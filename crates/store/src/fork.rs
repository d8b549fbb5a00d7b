//! Copies a session into a new one that can go its own way.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use fs_err as fs;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::edit::CustomTitle;
use crate::error::{Problem, StoreError};
use crate::id::{EntryId, SessionId};
use crate::info::read_info;
use crate::lines;
use crate::new_entry::now;
use crate::store::Store;

/// How to fork.
#[derive(Clone, Debug, Default)]
pub struct ForkOptions {
    /// The last entry to copy; all of them if not set.
    pub up_to: Option<EntryId>,
    /// The title of the copy; that of the original with `(fork)` behind it if not set.
    pub title: Option<String>,
}

/// An entry as it is written: a fork must keep members that nobody knows.
type Raw = Map<String, Value>;

impl Store {
    /// Copies a session under a new id and gives the id, and what could not be read.
    pub fn fork(
        &self,
        id: SessionId,
        project: Option<&Path>,
        options: &ForkOptions,
    ) -> Result<(SessionId, Vec<Problem>), StoreError> {
        let path = self.transcript(id, project)?;
        let (source, problems) = Source::read(&path)?;
        let copy = SessionId::random();
        let entries = source.copied(id, copy, options)?;

        let title = match &options.title {
            Some(title) => title.clone(),
            None => format!("{} (fork)", read_info(id, &path)?.map_or_else(String::new, |info| info.summary)),
        };
        let mut text = Vec::new();
        for entry in entries {
            write_line(&mut text, &entry)?;
        }
        if let Some(replacements) = source.replacements(copy) {
            write_line(&mut text, &replacements)?;
        }
        write_line(&mut text, &CustomTitle::new(title.trim(), copy))?;
        create(&path.with_file_name(format!("{copy}.jsonl")), &text)?;
        Ok((copy, problems))
    }
}

/// What of a transcript goes into a fork.
#[derive(Default)]
struct Source {
    chain: Vec<Raw>,
    replacements: Vec<Value>,
}

impl Source {
    fn read(path: &Path) -> Result<(Self, Vec<Problem>), StoreError> {
        let (mut source, mut problems) = (Self::default(), Vec::new());
        lines::read(path, &mut problems, |line| {
            let entry: Raw = serde_json::from_str(line).map_err(|error| error.to_string())?;
            let is_chain = matches!(
                text(&entry, "type"),
                Some("user" | "assistant" | "system" | "attachment" | "progress")
            );
            let is_sidechain = entry.get("isSidechain") == Some(&Value::Bool(true));
            if is_chain && !is_sidechain && text(&entry, "uuid").is_some() {
                source.chain.push(entry);
            } else if text(&entry, "type") == Some("content-replacement")
                && let Some(Value::Array(more)) = entry.get("replacements")
            {
                source.replacements.extend(more.iter().cloned());
            }
            Ok(())
        })?;
        Ok((source, problems))
    }

    fn copied(&self, id: SessionId, copy: SessionId, options: &ForkOptions) -> Result<Vec<Raw>, StoreError> {
        let chain = match &options.up_to {
            None => self.chain.as_slice(),
            Some(last) => {
                let at = self.chain.iter().position(|entry| text(entry, "uuid") == Some(&last.0));
                let missing = || StoreError::NoSuchMessage { id, entry: last.0.clone() };
                self.chain.get(..=at.ok_or_else(missing)?).unwrap_or_default()
            }
        };
        let ids = NewIds::of(chain);
        let kept = || chain.iter().filter(|entry| !is_progress(entry));
        let count = kept().count();
        if count == 0 {
            return Err(StoreError::NothingToFork(id));
        }
        let renewed = kept().enumerate().map(|(at, entry)| {
            let mut entry = renew(entry, id, copy, &ids);
            if at + 1 == count {
                entry.insert("timestamp".to_owned(), now().into());
            }
            entry
        });
        Ok(renewed.collect())
    }

    fn replacements(&self, copy: SessionId) -> Option<Raw> {
        let members = [
            ("type", Value::from("content-replacement")),
            ("sessionId", copy.to_string().into()),
            ("replacements", self.replacements.clone().into()),
            ("uuid", Uuid::new_v4().to_string().into()),
            ("timestamp", now().into()),
        ];
        (!self.replacements.is_empty())
            .then(|| members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

/// The new id of every copied entry. Progress entries are not copied: their children hang on what they hung on.
struct NewIds<'a> {
    fresh: HashMap<&'a str, String>,
    passed: HashMap<&'a str, Option<&'a str>>,
}

impl<'a> NewIds<'a> {
    fn of(chain: &'a [Raw]) -> Self {
        let mut ids = Self { fresh: HashMap::new(), passed: HashMap::new() };
        for entry in chain {
            let Some(uuid) = text(entry, "uuid") else { continue };
            if is_progress(entry) {
                ids.passed.insert(uuid, text(entry, "parentUuid"));
            } else {
                ids.fresh.insert(uuid, Uuid::new_v4().to_string());
            }
        }
        ids
    }

    /// The new id for an old one; null for what was not copied.
    fn get(&self, old: Option<&str>) -> Value {
        let mut old = old;
        // No more steps than there are entries to pass, so a circle ends.
        for _ in 0..=self.passed.len() {
            match old.and_then(|old| self.passed.get(old)) {
                Some(parent) => old = *parent,
                None => break,
            }
        }
        old.and_then(|old| self.fresh.get(old)).cloned().map_or(Value::Null, Value::from)
    }
}

fn renew(entry: &Raw, id: SessionId, copy: SessionId, ids: &NewIds<'_>) -> Raw {
    let mut renewed = entry.clone();
    let uuid = text(entry, "uuid");
    let origin = serde_json::json!({ "sessionId": id, "messageUuid": uuid });
    renewed.insert("uuid".to_owned(), ids.get(uuid));
    renewed.insert("parentUuid".to_owned(), ids.get(text(entry, "parentUuid")));
    if let Some(logical) = text(entry, "logicalParentUuid") {
        renewed.insert("logicalParentUuid".to_owned(), ids.get(Some(logical)));
    }
    renewed.insert("sessionId".to_owned(), copy.to_string().into());
    renewed.insert("isSidechain".to_owned(), false.into());
    renewed.insert("forkedFrom".to_owned(), origin);
    for gone in ["teamName", "agentName", "slug", "sourceToolAssistantUUID"] {
        // Keeps the order of the others.
        renewed.shift_remove(gone);
    }
    renewed
}

fn text<'a>(entry: &'a Raw, member: &str) -> Option<&'a str> {
    entry.get(member).and_then(Value::as_str)
}

fn is_progress(entry: &Raw) -> bool {
    text(entry, "type") == Some("progress")
}

fn write_line(text: &mut Vec<u8>, entry: &impl serde::Serialize) -> Result<(), StoreError> {
    serde_json::to_writer(&mut *text, entry).map_err(io::Error::from)?;
    text.push(b'\n');
    Ok(())
}

/// Creates the file whole: nobody may see half a session, and nobody's file is overwritten.
fn create(path: &Path, text: &[u8]) -> Result<(), StoreError> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    fs_err::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    if let Err(error) = file.write_all(text).and_then(|()| file.sync_all()) {
        // Half a copy is worth nothing; why it failed is what the caller must know.
        fs::remove_file(path).ok();
        return Err(error.into());
    }
    Ok(())
}
