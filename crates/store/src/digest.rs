//! What a list of sessions shows of each, for transcripts that are kept elsewhere than in files.

use std::borrow::Cow;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::SessionId;
use crate::info::{Members, Prompt, SessionInfo, prompt, shortened, timestamp};

/// What a list shows of a session, gathered from its entries as they are written, so that nobody has to read a whole
/// transcript for a list. It is small, and serializes to a JSON object that can be kept beside the transcript.
///
/// ```
/// use pilothouse_store::Digest;
/// use serde_json::json;
///
/// let entries = [
///     json!({"type": "user", "message": {"role": "user", "content": "Fix the tests"}, "cwd": "/p"}),
///     json!({"type": "custom-title", "customTitle": "Tests"}),
/// ];
/// let mut digest = Digest::default();
/// digest.add(entries.iter().filter_map(|entry| entry.as_object()));
/// let info = digest.info("00000000-0000-4000-8000-000000000000".parse()?, 0).ok_or("nothing to show")?;
/// assert_eq!((info.summary.as_str(), info.first_prompt.as_deref()), ("Tests", Some("Fix the tests")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Digest {
    /// Told by the first entry; not told before there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_sidechain: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entrypoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    custom_title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ai_title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<String>,
}

impl Digest {
    /// Takes in entries, which follow those before.
    pub fn add<'a>(&mut self, entries: impl IntoIterator<Item = &'a Map<String, Value>>) {
        for entry in entries {
            // What lists need is borrowed from text; entries without it are of no use to them.
            let Ok(text) = serde_json::to_string(entry) else { continue };
            if let Ok(members) = serde_json::from_str(&text) {
                self.add_one(members);
            }
        }
    }

    /// Whether the entries are those of a subagent.
    pub fn is_sidechain(&self) -> bool {
        self.is_sidechain == Some(true)
    }

    /// What a list shows; none for a session that has nothing to show, as that of a subagent. There is no file, so the
    /// path is empty and the size is 0.
    pub fn info(&self, id: SessionId, last_modified: i64) -> Option<SessionInfo> {
        if self.is_sidechain() {
            return None;
        }
        let titles = [&self.custom_title, &self.ai_title, &self.last_prompt, &self.summary_hint];
        let first_prompt = self.first_prompt.clone().or_else(|| self.first_command.clone());
        let title = titles.into_iter().flatten().next().map(|title| shortened(title));
        Some(SessionInfo {
            id,
            path: PathBuf::new(),
            summary: title.or_else(|| first_prompt.clone())?,
            last_modified,
            file_size: 0,
            custom_title: self.custom_title.clone(),
            first_prompt,
            git_branch: self.git_branch.clone(),
            cwd: self.cwd.clone(),
            tag: self.tag.clone().filter(|tag| !tag.is_empty()),
            created_at: self.created_at,
            archived: false,
            entrypoint: self.entrypoint.clone(),
        })
    }

    fn add_one(&mut self, entry: Members<'_>) {
        self.is_sidechain.get_or_insert(entry.is_sidechain);
        let first = |kept: &mut Option<String>, new: Option<&str>| {
            if kept.is_none() {
                *kept = new.map(str::to_owned);
            }
        };
        self.created_at = self.created_at.or_else(|| timestamp(&entry));
        first(&mut self.cwd, entry.cwd.as_deref());
        first(&mut self.entrypoint, entry.entrypoint.as_deref());
        if self.first_prompt.is_none() {
            match prompt(&entry) {
                Some(Prompt::Text(text)) => self.first_prompt = Some(shortened(&text)),
                Some(Prompt::Command(name)) => first(&mut self.first_command, Some(&name)),
                None => {}
            }
        }
        if entry.kind.as_deref() == Some("tag") {
            last(&mut self.tag, entry.tag);
        }
        let not_empty = |text: &Cow<'_, str>| !text.trim().is_empty();
        last(&mut self.custom_title, entry.custom_title.filter(not_empty));
        last(&mut self.ai_title, entry.ai_title.filter(not_empty));
        last(&mut self.last_prompt, entry.last_prompt.filter(not_empty));
        last(&mut self.summary_hint, entry.summary.filter(not_empty));
        last(&mut self.git_branch, entry.git_branch.filter(not_empty));
    }
}

fn last(kept: &mut Option<String>, new: Option<Cow<'_, str>>) {
    if let Some(new) = new {
        *kept = Some(new.into_owned());
    }
}

#[cfg(test)]
#[path = "digest_tests.rs"]
mod tests;
