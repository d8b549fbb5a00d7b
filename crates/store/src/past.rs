//! A session that is to go on: its conversation so far, and the transcript that continues it.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::api_messages::api_messages;
use crate::chain::{Sidechains, conversation, up_to};
use crate::entry::{ChainEntry, ChainKind, Entry};
use crate::error::{Problem, StoreError};
use crate::id::{EntryId, SessionId};
use crate::info::SessionInfo;
use crate::lines;
use crate::list::ListOptions;
use crate::store::Store;
use crate::transcript::{Line, Stamp, Transcript};

/// How much of a session is taken up again.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// The last entry to take; the latest if not set.
    pub at: Option<EntryId>,
    /// The prompt of the one turn that ending at `at` may leave out: anything else left out is refused.
    pub drops_turn: Option<String>,
}

/// What a session was until now.
#[derive(Clone, Debug)]
pub struct Past {
    /// The session.
    pub id: SessionId,
    /// Its transcript.
    pub path: PathBuf,
    /// The conversation that counts: since the last compaction, the oldest entry first.
    pub entries: Vec<ChainEntry>,
    /// The entry that the next one hangs on.
    pub last: Option<EntryId>,
    /// The title that a person gave.
    pub title: Option<String>,
    /// The last line of each other kind, for example `cost-state`.
    pub notes: HashMap<String, Map<String, Value>>,
    /// Lines about edited files, in order, for [`crate::Checkpoints`].
    pub file_history: Vec<Map<String, Value>>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// The whole conversation, compacted parts included: what a fork copies.
    chain: HashSet<EntryId>,
}

impl Store {
    /// Reads a session to go on with it.
    pub fn load(
        &self,
        id: SessionId,
        project: Option<&Path>,
        options: &LoadOptions,
    ) -> Result<Past, StoreError> {
        let path = self.transcript(id, project)?;
        let mut past = Past::empty(id, path);
        let chain = past.read()?;
        past.choose(chain, options)?;
        Ok(past)
    }

    /// The session of a project that was written to last, for going on where one left off.
    pub fn latest(&self, project: &Path) -> Option<SessionId> {
        let project = Some(project.to_owned());
        let options = ListOptions { project, worktrees: false, limit: Some(1), ..ListOptions::default() };
        self.list(&options).0.first().map(|info| info.id)
    }

    /// The sessions of a project that have this title, newest first. Nobody remembers how a title is capitalised.
    pub fn titled(&self, project: &Path, title: &str) -> Vec<SessionInfo> {
        let options = ListOptions { project: Some(project.to_owned()), ..ListOptions::default() };
        let (mut sessions, _) = self.list(&options);
        let wanted = title.trim().to_lowercase();
        let is_called = |given: &String| given.trim().to_lowercase() == wanted;
        sessions.retain(|info| info.custom_title.as_ref().is_some_and(is_called));
        sessions
    }
}

impl Past {
    /// The transcript that continues this session, in the same file.
    pub fn go_on(&self, stamp: Stamp) -> Transcript {
        Transcript::after(self.id, stamp, self.path.clone(), self.last.clone())
    }

    /// The transcript of a new session that begins as this one did. The copy is written with its first entry.
    pub fn fork(&self, store: &Store, id: SessionId, stamp: Stamp) -> Result<Transcript, StoreError> {
        let mut copies = Vec::new();
        let renamed = |line: &mut Line| line.insert("sessionId".to_owned(), id.to_string().into());
        if let Some(title) = &self.title {
            let mut line = Line::new();
            line.insert("type".to_owned(), "custom-title".into());
            line.insert("customTitle".to_owned(), title.clone().into());
            renamed(&mut line);
            copies.push(line);
        }
        lines::read(&self.path, &mut Vec::new(), |text| {
            let mut line: Line = serde_json::from_str(text).map_err(|error| error.to_string())?;
            let uuid = line.get("uuid").and_then(Value::as_str).map(|uuid| EntryId(uuid.to_owned()));
            let belongs = uuid.or_else(|| prompt_of_copies(&line));
            if belongs.is_some_and(|id| self.chain.contains(&id)) {
                renamed(&mut line);
                copies.push(line);
            }
            Ok(())
        })?;
        Ok(store.begin(id, stamp).beginning_with(copies, self.last.clone()))
    }

    /// The conversation as the model's API wants it: roles take turns, and every tool call has its result.
    pub fn api_messages(&self) -> Vec<Value> {
        api_messages(&self.entries)
    }

    fn empty(id: SessionId, path: PathBuf) -> Self {
        Self {
            id,
            path,
            entries: Vec::new(),
            last: None,
            title: None,
            notes: HashMap::new(),
            file_history: Vec::new(),
            problems: Vec::new(),
            chain: HashSet::new(),
        }
    }

    fn read(&mut self) -> Result<Vec<ChainEntry>, StoreError> {
        let mut chain = Vec::new();
        let path = self.path.clone();
        let mut problems = Vec::new();
        lines::read(&path, &mut problems, |line| {
            match Entry::decode(line).map_err(|error| error.to_string())? {
                Entry::Chain(entry) => chain.push(*entry),
                Entry::CustomTitle(title) => self.title = Some(title),
                Entry::Tag(_) => {}
                Entry::Other(line) => self.keep(line),
            }
            Ok(())
        })?;
        self.problems = problems;
        Ok(chain)
    }

    fn keep(&mut self, line: Map<String, Value>) {
        let Some(kind) = line.get("type").and_then(Value::as_str) else { return };
        if kind.starts_with("file-history-") {
            self.file_history.push(line);
        } else if !kind.starts_with("api-request") {
            // Those are the largest lines of all, and nobody asks for them.
            self.notes.insert(kind.to_owned(), line);
        }
    }

    fn choose(&mut self, entries: Vec<ChainEntry>, options: &LoadOptions) -> Result<(), StoreError> {
        let whole = conversation(&entries, Sidechains::Left);
        let order = match &options.at {
            None => whole,
            Some(at) => {
                let missing = || StoreError::NoSuchEntry(at.0.clone());
                let is_it = |position: &usize| entries.get(*position).is_some_and(|entry| entry.uuid == *at);
                match whole.iter().position(is_it) {
                    Some(end) => {
                        let (kept, dropped) = whole.split_at(end + 1);
                        if let Some(turn) = &options.drops_turn {
                            check_dropped(&entries, dropped, at, turn)?;
                        }
                        kept.to_vec()
                    }
                    // A branch that was left behind earlier can be taken up again, too.
                    None => up_to(&entries, entries.iter().position(|e| e.uuid == *at).ok_or_else(missing)?),
                }
            }
        };
        self.last = match &options.at {
            Some(at) => Some(at.clone()),
            None => last_of(&entries, &order),
        };
        let mut entries: Vec<Option<ChainEntry>> = entries.into_iter().map(Some).collect();
        self.chain = order.iter().filter_map(|at| Some(entries.get(*at)?.as_ref()?.uuid.clone())).collect();
        let boundary =
            |at: &usize| entries.get(*at).and_then(Option::as_ref).is_some_and(is_compact_boundary);
        let start = order.iter().rposition(boundary).unwrap_or(0);
        let preserved = order.get(start).and_then(|at| entries.get(*at)?.as_ref()).map(Preserved::of);
        let mut chosen: Vec<ChainEntry> = Vec::new();
        for at in order.get(start..).unwrap_or_default() {
            let Some(entry) = entries.get_mut(*at).and_then(Option::take) else { continue };
            let anchor =
                preserved.as_ref().is_some_and(|preserved| preserved.anchor.as_ref() == Some(&entry.uuid.0));
            chosen.push(entry);
            if anchor && let Some(preserved) = &preserved {
                for slot in &mut entries {
                    if slot.as_ref().is_some_and(|entry| preserved.ids.contains(&entry.uuid.0)) {
                        chosen.extend(slot.take());
                    }
                }
            }
        }
        self.entries = chosen;
        Ok(())
    }
}

/// The last entry of the file that belongs to the conversation or hangs on its end: the next one continues there.
fn last_of(entries: &[ChainEntry], order: &[usize]) -> Option<EntryId> {
    let mut last = entries.get(*order.last()?)?;
    // Attachments may follow the last message; entries stand behind what they hang on, so one pass finds them.
    for entry in entries {
        let follows = entry.parent_uuid.as_ref() == Some(&last.uuid);
        if follows && !entry.is_sidechain && entry.kind != ChainKind::Progress {
            last = entry;
        }
    }
    Some(last.uuid.clone())
}

fn is_compact_boundary(entry: &ChainEntry) -> bool {
    entry.kind == ChainKind::System
        && entry.extra.get("subtype").and_then(Value::as_str) == Some("compact_boundary")
}

/// Messages from before a compaction that were kept word for word, behind the summary.
struct Preserved {
    anchor: Option<String>,
    ids: HashSet<String>,
}

impl Preserved {
    fn of(boundary: &ChainEntry) -> Self {
        let kept =
            boundary.extra.get("compactMetadata").and_then(|metadata| metadata.get("preservedMessages"));
        let anchor = kept.and_then(|kept| kept.get("anchorUuid")).and_then(Value::as_str).map(str::to_owned);
        let ids = kept.and_then(|kept| kept.get("uuids")).and_then(Value::as_array);
        let ids = ids.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        Self { anchor, ids }
    }
}

/// The prompt that a line about edited files belongs to.
fn prompt_of_copies(line: &Line) -> Option<EntryId> {
    let text = |name: &str| line.get(name).and_then(Value::as_str);
    let prompt = match text("type")? {
        "file-history-snapshot" => text("messageId"),
        "file-history-delta" => text("snapshotMessageId"),
        _ => None,
    };
    prompt.map(|id| EntryId(id.to_owned()))
}

/// A host that takes back a turn must not lose another one that it does not know of.
fn check_dropped(
    entries: &[ChainEntry],
    dropped: &[usize],
    at: &EntryId,
    turn: &str,
) -> Result<(), StoreError> {
    let refuse = |why: String| Err(StoreError::DropsMore { at: at.0.clone(), turn: turn.to_owned(), why });
    if uuid::Uuid::try_parse(turn).is_err() {
        return refuse(format!("{turn:?} is not the id of a turn, which is a UUID"));
    }
    let is_message = |entry: &&ChainEntry| matches!(entry.kind, ChainKind::User | ChainKind::Assistant);
    let mut messages = dropped.iter().filter_map(|at| entries.get(*at)).filter(is_message);
    let Some(first) = messages.next() else { return Ok(()) };
    if first.kind != ChainKind::User || first.uuid.0 != turn {
        return refuse(format!("the first entry left out is {}, not the prompt of that turn", first.uuid));
    }
    let prompt_of =
        |entry: &ChainEntry| entry.extra.get("promptId").and_then(Value::as_str).map(str::to_owned);
    let turn_of = prompt_of(first);
    let foreign = messages.find(|entry| match (&turn_of, prompt_of(entry)) {
        (Some(turn), Some(other)) => *turn != other,
        _ => entry.kind == ChainKind::User && !entry.is_meta && !crate::chain::is_tool_result(entry),
    });
    match foreign {
        Some(entry) => refuse(format!("entry {} belongs to another turn", entry.uuid)),
        None => Ok(()),
    }
}
