//! The transcript that a running session writes: every line is appended in one write, and hangs on the one before.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde_json::{Map, Value};

use crate::error::StoreError;
use crate::id::{EntryId, SessionId};
use crate::new_entry::{NewEntry, Place};
use crate::no_follow;
use crate::project::{project_dirs, project_key};
use crate::store::Store;
use crate::worktree::current_branch;

/// What every line of a conversation says about where and by what it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The working directory.
    pub cwd: PathBuf,
    /// The version of the agent.
    pub version: String,
    /// What started the agent, for example `sdk-cli`.
    pub entrypoint: String,
    /// The branch; `HEAD` outside of a repository.
    pub git_branch: String,
}

impl Stamp {
    /// The stamp of a session in `cwd`; the branch is read from the repository.
    pub fn new(cwd: impl Into<PathBuf>, version: impl Into<String>, entrypoint: impl Into<String>) -> Self {
        let cwd = cwd.into();
        let git_branch = current_branch(&cwd).unwrap_or_else(|| "HEAD".to_owned());
        Self { cwd, version: version.into(), entrypoint: entrypoint.into(), git_branch }
    }
}

/// One transcript, open for appending.
///
/// ```
/// use pilothouse_store::{NewEntry, Stamp, Store};
/// use serde_json::json;
///
/// # let home = tempfile::tempdir()?;
/// let store = Store::at(home.path());
/// let id = "0f7a2c7e-1f4b-4a52-9a0e-0a7a3b1c9d11".parse()?;
/// let mut transcript = store.begin(id, Stamp::new("/work/project", "2.1.325", "sdk-cli"));
/// transcript.append(NewEntry::user(json!({"role": "user", "content": "hello"})))?;
/// assert_eq!(store.load(id, None, &Default::default())?.api_messages().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Transcript {
    session: SessionId,
    /// For the transcript of a subagent: its id.
    agent: Option<String>,
    stamp: Stamp,
    place: Option<PathBuf>,
    file: Option<fs::File>,
    /// Copied lines that go before the first new one.
    backlog: Vec<Line>,
    last: Option<EntryId>,
    mirror: Option<Vec<Line>>,
}

/// A line before it is written.
pub(crate) type Line = Map<String, Value>;

/// Lines that were written, for a host that keeps its own copy (`transcript_mirror`).
#[derive(Clone, Debug, PartialEq)]
pub struct Mirrored {
    /// The transcript.
    pub path: PathBuf,
    /// Its new lines.
    pub entries: Vec<Map<String, Value>>,
}

impl Store {
    /// The transcript of a new session. The file appears with its first line.
    pub fn begin(&self, id: SessionId, stamp: Stamp) -> Transcript {
        let place = self.home_of(&stamp.cwd).join(format!("{id}.jsonl"));
        Transcript::new(id, stamp, Some(place))
    }

    /// The directory where new sessions of a project go.
    fn home_of(&self, project: &Path) -> PathBuf {
        let projects = self.projects();
        let existing = project_dirs(&projects, project).into_iter().next();
        existing.unwrap_or_else(|| projects.join(project_key(project)))
    }
}

impl Transcript {
    fn new(session: SessionId, stamp: Stamp, place: Option<PathBuf>) -> Self {
        let (file, backlog) = (None, Vec::new());
        Self { session, agent: None, stamp, place, file, backlog, last: None, mirror: None }
    }

    /// A transcript that is kept nowhere: ids and the order of the conversation go on as usual.
    pub fn unwritten(session: SessionId, stamp: Stamp) -> Self {
        Self::new(session, stamp, None)
    }

    /// One that goes on after what is in the file at `place`.
    pub(crate) fn after(session: SessionId, stamp: Stamp, place: PathBuf, last: Option<EntryId>) -> Self {
        Self { last, ..Self::new(session, stamp, Some(place)) }
    }

    /// One that begins with lines of another.
    pub(crate) fn beginning_with(self, backlog: Vec<Line>, last: Option<EntryId>) -> Self {
        Self { backlog, last, ..self }
    }

    /// Keeps a copy of each new line for [`Transcript::take_mirrored`].
    pub fn mirrored(mut self) -> Self {
        self.mirror = Some(Vec::new());
        self
    }

    /// The transcript of a subagent of this session, with the file beside it that says what it is (`meta`).
    pub fn subagent(&self, agent: &str, meta: &Map<String, Value>) -> Result<Self, StoreError> {
        if !is_agent_id(agent) {
            return Err(StoreError::BadAgentId(agent.to_owned()));
        }
        let folder = self.place.as_ref().map(|place| place.with_extension("").join("subagents"));
        let place = folder.map(|folder| folder.join(format!("agent-{agent}.jsonl")));
        let mut transcript = Self::new(self.session, self.stamp.clone(), place);
        transcript.agent = Some(agent.to_owned());
        transcript.mirror = self.mirror.as_ref().map(|_| Vec::new());
        transcript.describe(meta)?;
        Ok(transcript)
    }

    /// Says anew what a subagent is, for example that it has finished.
    pub fn describe(&mut self, meta: &Map<String, Value>) -> Result<(), StoreError> {
        if let Some(place) = &self.place {
            create_folder(place)?;
            let text = Value::Object(meta.clone()).to_string();
            no_follow::write(&place.with_extension("meta.json"), text.as_bytes())?;
        }
        if let Some(mirror) = &mut self.mirror {
            let kind = ("type".to_owned(), Value::from("agent_metadata"));
            mirror.push(std::iter::once(kind).chain(meta.clone()).collect());
        }
        Ok(())
    }

    /// The session.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The file; none if the transcript is kept nowhere.
    pub fn path(&self) -> Option<&Path> {
        self.place.as_deref()
    }

    /// The entry that the next one will hang on.
    pub fn last(&self) -> Option<&EntryId> {
        self.last.as_ref()
    }

    /// The stamp of the lines to come; the working directory may change while a session runs.
    pub fn stamp_mut(&mut self) -> &mut Stamp {
        &mut self.stamp
    }

    /// Appends an entry of the conversation and gives its id.
    pub fn append(&mut self, entry: NewEntry) -> Result<EntryId, StoreError> {
        let id = entry.id().clone();
        let (parent, logical_parent) = match entry.place() {
            Place::AfterLast => (self.last.clone(), None),
            Place::On(parent) => (Some(parent.clone()), None),
            Place::NewRoot => (None, self.last.clone()),
        };
        let line = entry.into_line(parent, logical_parent, self.session, self.agent.as_deref(), &self.stamp);
        let backlog = std::mem::take(&mut self.backlog);
        for line in backlog {
            self.write(line)?;
        }
        self.write(line)?;
        self.last = Some(id.clone());
        Ok(id)
    }

    /// Appends a line beside the conversation: a `type` and its members.
    pub fn note(&mut self, kind: &str, members: Map<String, Value>) -> Result<(), StoreError> {
        let mut line = Line::new();
        line.insert("type".to_owned(), kind.into());
        line.extend(members);
        line.insert("sessionId".to_owned(), self.session.to_string().into());
        self.write(line)
    }

    /// Gives the session a title.
    pub fn rename(&mut self, title: &str) -> Result<(), StoreError> {
        let title = title.trim();
        if title.is_empty() {
            return Err(StoreError::EmptyText("title"));
        }
        self.note("custom-title", Map::from_iter([("customTitle".to_owned(), title.into())]))
    }

    /// Says what was asked last, which lists of sessions show.
    pub fn last_prompt(&mut self, prompt: &str) -> Result<(), StoreError> {
        let leaf = self.last.as_ref().map(|last| last.0.clone());
        let members = [("lastPrompt", Value::from(prompt)), ("leafUuid", leaf.into())];
        self.note("last-prompt", members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// The lines that were written since the last call; none if the transcript is not mirrored or nothing is new.
    pub fn take_mirrored(&mut self) -> Option<Mirrored> {
        let entries = std::mem::take(self.mirror.as_mut()?);
        (!entries.is_empty()).then(|| Mirrored { path: self.place.clone().unwrap_or_default(), entries })
    }

    fn write(&mut self, line: Line) -> Result<(), StoreError> {
        if let Some(place) = &self.place {
            let file = match self.file.take() {
                Some(file) => file,
                None => open(place)?,
            };
            let mut text = serde_json::to_vec(&line).map_err(std::io::Error::from)?;
            text.push(b'\n');
            // One call for the whole line: whatever kills the process, there is at most one line that breaks off.
            self.file.insert(file).write_all(&text)?;
        }
        if let Some(mirror) = &mut self.mirror {
            mirror.push(line);
        }
        Ok(())
    }
}

/// Opens a transcript for appending. A last line that breaks off gets its end, so that it cannot swallow the next.
///
/// What is there of it stays: it may be whole but for its end, and another process may just be writing it.
fn open(place: &Path) -> Result<fs::File, StoreError> {
    create_folder(place)?;
    let mut file = no_follow::options().read(true).append(true).create(true).open(place)?;
    if file.metadata()?.len() > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

fn create_folder(place: &Path) -> Result<(), StoreError> {
    match place.parent() {
        Some(folder) => Ok(fs::create_dir_all(folder)?),
        None => Ok(()),
    }
}

/// Whether this can be the id of a subagent, and so a part of a file name.
pub(crate) fn is_agent_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
