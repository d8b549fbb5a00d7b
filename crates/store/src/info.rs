//! What a list of sessions shows of each, from the beginning and the end of its file.

use std::borrow::Cow;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use fs_err as fs;
use memchr::memmem::FinderRev;
use memchr::{memchr, memrchr};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::edit::archive_mark;
use crate::error::StoreError;
use crate::id::SessionId;
use crate::message::first_text;
use crate::store::Store;

/// This much is read at each end of a transcript: the beginning has the first prompt, the end has the titles.
const WINDOW: u64 = 64 * 1024;
/// Summaries are cut after this many characters.
const LONGEST_SUMMARY: usize = 200;

/// A session, as a list of sessions shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// The session.
    pub id: SessionId,
    /// Its transcript.
    pub path: PathBuf,
    /// One line about it: its title, or else a prompt.
    pub summary: String,
    /// When the transcript was last written to, in milliseconds since 1970.
    pub last_modified: i64,
    /// The size of the transcript in bytes.
    pub file_size: u64,
    /// The title that a person gave.
    pub custom_title: Option<String>,
    /// The first prompt, cut after 200 characters.
    pub first_prompt: Option<String>,
    /// The branch at the end.
    pub git_branch: Option<String>,
    /// The working directory at the beginning.
    pub cwd: Option<String>,
    /// The tag that a person gave.
    pub tag: Option<String>,
    /// When it began, in milliseconds since 1970.
    pub created_at: Option<i64>,
    /// Whether it was put aside.
    pub archived: bool,
    /// What the CLI was started by, for example `cli` or `sdk-py`.
    pub entrypoint: Option<String>,
}

impl Store {
    /// One session; `None` if the file is there but has nothing to show, as that of a subagent.
    pub fn info(&self, id: SessionId, project: Option<&Path>) -> Result<Option<SessionInfo>, StoreError> {
        Ok(read_info(id, &self.transcript(id, project)?)?)
    }
}

impl SessionInfo {
    /// Whether a program started the session, not a person at a terminal.
    pub fn is_programmatic(&self) -> bool {
        let entrypoint = self.entrypoint.as_deref().unwrap_or_default();
        entrypoint.starts_with("sdk-") || entrypoint.contains("daemon")
    }
}

pub(crate) fn read_info(id: SessionId, path: &Path) -> std::io::Result<Option<SessionInfo>> {
    let mut file = fs::File::open(path)?;
    let metadata = file.metadata()?;
    let size = metadata.len();
    let mut head = Vec::new();
    (&mut file).take(WINDOW).read_to_end(&mut head)?;
    let mut tail = Vec::new();
    if size > WINDOW {
        file.seek(SeekFrom::Start(size - WINDOW))?;
        (&mut file).take(WINDOW).read_to_end(&mut tail)?;
    }

    let Some(beginning) = Beginning::read(&head) else { return Ok(None) };
    let last = |needle: &str, pick: &dyn Fn(Members<'_>) -> Option<String>| {
        last_member(&tail, needle, pick).or_else(|| last_member(&head, needle, pick))
    };
    let not_empty =
        |text: Option<Cow<'_, str>>| text.map(Cow::into_owned).filter(|text| !text.trim().is_empty());
    let custom_title = last("\"customTitle\"", &|entry| not_empty(entry.custom_title));
    let title = custom_title.clone().or_else(|| last("\"aiTitle\"", &|entry| not_empty(entry.ai_title)));
    let summary = title
        .or_else(|| last("\"lastPrompt\"", &|entry| not_empty(entry.last_prompt)))
        .or_else(|| last("\"summary\"", &|entry| not_empty(entry.summary)))
        .map(|summary| shortened(&summary))
        .or_else(|| beginning.first_prompt.clone());
    let Some(summary) = summary else { return Ok(None) };
    let tag = last("\"tag\"", &|entry| {
        (entry.kind.as_deref() == Some("tag")).then_some(entry.tag)?.map(Cow::into_owned)
    });
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok(Some(SessionInfo {
        id,
        path: path.to_owned(),
        summary,
        last_modified: modified.and_then(|time| i64::try_from(time.as_millis()).ok()).unwrap_or_default(),
        file_size: size,
        custom_title,
        first_prompt: beginning.first_prompt,
        git_branch: last("\"gitBranch\"", &|entry| not_empty(entry.git_branch)),
        cwd: beginning.cwd,
        tag: tag.filter(|tag| !tag.is_empty()),
        created_at: beginning.created_at,
        archived: archive_mark(path).exists(),
        entrypoint: beginning.entrypoint,
    }))
}

/// The members of an entry that matter here, still borrowed.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Members<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) custom_title: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) ai_title: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) last_prompt: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) summary: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) git_branch: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) tag: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) entrypoint: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    pub(crate) is_sidechain: bool,
    is_meta: bool,
    is_compact_summary: bool,
}

/// What the first lines say.
#[derive(Default)]
struct Beginning {
    first_prompt: Option<String>,
    cwd: Option<String>,
    created_at: Option<i64>,
    entrypoint: Option<String>,
}

impl Beginning {
    /// `None` if this is not the transcript of a main session.
    fn read(head: &[u8]) -> Option<Self> {
        let mut found = Self::default();
        let mut first_command = None;
        for (number, line) in head.split(|byte| *byte == b'\n').enumerate() {
            let Ok(entry) = serde_json::from_slice::<Members<'_>>(line) else { continue };
            if number == 0 && entry.is_sidechain {
                return None;
            }
            found.created_at = found.created_at.or_else(|| timestamp(&entry));
            found.cwd = found.cwd.or(entry.cwd.clone().map(Cow::into_owned));
            found.entrypoint = found.entrypoint.or(entry.entrypoint.clone().map(Cow::into_owned));
            if found.first_prompt.is_none() {
                match prompt(&entry) {
                    Some(Prompt::Text(text)) => found.first_prompt = Some(shortened(&text)),
                    Some(Prompt::Command(name)) => first_command = first_command.or(Some(name)),
                    None => {}
                }
            }
            if found.first_prompt.is_some() && found.created_at.is_some() && found.cwd.is_some() {
                break;
            }
        }
        // A session of slash commands only is best known by the first of them.
        found.first_prompt = found.first_prompt.or(first_command);
        Some(found)
    }
}

/// When an entry was written, in milliseconds since 1970.
pub(crate) fn timestamp(entry: &Members<'_>) -> Option<i64> {
    let time = entry.timestamp.as_deref()?.parse::<jiff::Timestamp>().ok()?;
    Some(time.as_millisecond())
}

/// What a person wrote.
pub(crate) enum Prompt {
    Text(String),
    Command(String),
}

pub(crate) fn prompt(entry: &Members<'_>) -> Option<Prompt> {
    if entry.kind.as_deref() != Some("user") || entry.is_meta || entry.is_compact_summary {
        return None;
    }
    let message: serde_json::Value = serde_json::from_str(entry.message?.get()).ok()?;
    let text = first_text(&message)?.trim();
    if let Some(command) =
        text.split_once("<command-name>").and_then(|(_, rest)| rest.split_once("</command-name>"))
    {
        return Some(Prompt::Command(command.0.to_owned()));
    }
    let is_ours = !text.is_empty() && !is_wrapped(text) && !text.starts_with("[Request interrupted by user");
    is_ours.then(|| Prompt::Text(text.to_owned()))
}

/// Whether the CLI wrote this text around something: command output, hook output, a reminder.
fn is_wrapped(text: &str) -> bool {
    let Some(tag) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) else { return false };
    let tag = tag.0;
    ["command-", "local-command-", "bash-", "system-reminder", "ide_"]
        .iter()
        .any(|start| tag.starts_with(start))
        || tag.ends_with("-hook")
        || tag == "tick"
        || tag == "goal"
}

/// One line of at most so many characters.
pub(crate) fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_SUMMARY) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
        None => line,
    }
}

/// The last entry in the window from which `pick` takes something.
///
/// Only lines that have the needle in them are parsed, which makes this cheap. A line that the window cuts is skipped.
fn last_member<T>(window: &[u8], needle: &str, pick: impl Fn(Members<'_>) -> Option<T>) -> Option<T> {
    let finder = FinderRev::new(needle);
    let mut before = window;
    while let Some(at) = finder.rfind(before) {
        let start = memrchr(b'\n', before.get(..at)?).map_or(0, |newline| newline + 1);
        let line = window.get(start..)?;
        let line = line.get(..memchr(b'\n', line).unwrap_or(line.len()))?;
        if let Some(found) = serde_json::from_slice(line).ok().and_then(&pick) {
            return Some(found);
        }
        before = window.get(..start)?;
    }
    None
}
