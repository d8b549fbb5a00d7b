//! Copies of files from before a tool changed them, so that a host can take a turn's edits back.
//!
//! The copies are under `<config home>/file-history/<session>/`; lines of the transcript say which file each is of and
//! to which prompt it belongs, so they survive the process.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde_json::{Map, Value, json};

use crate::id::{EntryId, SessionId};
use crate::new_entry::now;
use crate::no_follow;
use crate::store::Store;

/// A tracked file that has grown past this is not copied any more.
const LARGEST_COPY: u64 = 64 * 1024 * 1024;

/// The copies of one session.
#[derive(Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    cwd: PathBuf,
    snapshots: Vec<Snapshot>,
}

/// The tracked files as they were when a prompt came.
#[derive(Debug)]
struct Snapshot {
    prompt: EntryId,
    files: BTreeMap<PathBuf, Backup>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Backup {
    state: State,
    /// The directory of the file, links resolved: if it is another one by now, a link was put in the way.
    real_parent: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// There was no such file.
    Absent,
    /// A copy of this name in the folder.
    Copy(String),
    /// It was there, but there is no copy: it is left as it is.
    Unknown,
}

/// What taking edits back came to, or would come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewind {
    /// The files that differ from what they were.
    pub files_changed: Vec<PathBuf>,
    /// Lines that come back.
    pub insertions: usize,
    /// Lines that go.
    pub deletions: usize,
    /// Files that were left alone because a link is in the way.
    pub skipped_links: usize,
}

/// Why nothing was taken back.
#[derive(Debug, thiserror::Error)]
pub enum RewindError {
    /// No prompt of this session has that id.
    #[error("No file checkpoint found for this message.")]
    UnknownPrompt,
    /// The file system said no; the text has the path.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Checkpoints {
    /// The checkpoints of a session in `cwd`. `file_history` are the lines of a session that goes on
    /// ([`crate::Past::file_history`]); empty for a new one.
    pub fn new(store: &Store, id: SessionId, cwd: &Path, file_history: &[Map<String, Value>]) -> Self {
        let folder = store.config_home().join("file-history").join(id.to_string());
        let mut checkpoints = Self { folder, cwd: cwd.to_owned(), snapshots: Vec::new() };
        for line in file_history {
            checkpoints.take_up(line);
        }
        checkpoints
    }

    /// Gives a session that begins as another one did copies of that one's copies.
    ///
    /// # Errors
    /// The file system said no; the text has the path.
    pub fn copy(store: &Store, from: SessionId, to: SessionId) -> Result<(), io::Error> {
        let folder = |id: SessionId| store.config_home().join("file-history").join(id.to_string());
        let (from, to) = (folder(from), folder(to));
        if !from.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(&to)?;
        for file in fs::read_dir(&from)? {
            let file = file?;
            if file.file_type()?.is_file() {
                no_follow::write(&to.join(file.file_name()), &fs::read(file.path())?)?;
            }
        }
        Ok(())
    }

    /// A prompt came: remembers how the tracked files are now. Gives the members of a `file-history-snapshot` line.
    pub fn prompt(&mut self, prompt: &EntryId) -> Result<Map<String, Value>, io::Error> {
        let before = self.snapshots.last().map(|last| last.files.clone()).unwrap_or_default();
        let mut files = BTreeMap::new();
        for (path, backup) in before {
            let now = self.backup(&path, Some(&backup))?;
            files.insert(path, now);
        }
        let backups: Map<String, Value> =
            files.iter().map(|(path, backup)| (self.tracking_path(path), backup.to_json())).collect();
        self.snapshots.push(Snapshot { prompt: prompt.clone(), files });
        Ok(members([
            ("messageId", json!(prompt)),
            ("snapshot", json!({ "messageId": prompt, "trackedFileBackups": backups, "timestamp": now() })),
            ("isSnapshotUpdate", json!(false)),
        ]))
    }

    /// A file is about to change: keeps what it is now, unless this turn has changed it before. Gives the members of a
    /// `file-history-delta` line.
    pub fn before_change(&mut self, path: &Path) -> Result<Option<Map<String, Value>>, io::Error> {
        let Some(last) = self.snapshots.last() else { return Ok(None) };
        if last.files.contains_key(path) {
            return Ok(None);
        }
        let backup = self.backup(path, None)?;
        let line = members([
            ("snapshotMessageId", json!(last.prompt)),
            ("trackingPath", json!(self.tracking_path(path))),
            ("backup", backup.to_json()),
            ("timestamp", json!(now())),
        ]);
        if let Some(last) = self.snapshots.last_mut() {
            last.files.insert(path.to_owned(), backup);
        }
        Ok(Some(line))
    }

    /// Brings the files back to what they were when a prompt came; with `dry_run` only says what would change.
    pub fn rewind(&self, prompt: &EntryId, dry_run: bool) -> Result<Rewind, RewindError> {
        let at = self.snapshots.iter().rposition(|snapshot| snapshot.prompt == *prompt);
        let later = self.snapshots.get(at.ok_or(RewindError::UnknownPrompt)?..).unwrap_or_default();
        let mut wanted: BTreeMap<&Path, &Backup> = BTreeMap::new();
        for (path, backup) in later.iter().flat_map(|snapshot| &snapshot.files) {
            // A file that was changed later for the first time was until then as its first copy has it.
            wanted.entry(path).or_insert(backup);
        }
        let mut rewind = Rewind::default();
        for (path, backup) in wanted {
            self.restore(path, backup, dry_run, &mut rewind)?;
        }
        Ok(rewind)
    }

    fn restore(&self, path: &Path, backup: &Backup, dry_run: bool, rewind: &mut Rewind) -> io::Result<()> {
        let old = match &backup.state {
            State::Absent => None,
            State::Copy(name) => Some(fs::read(self.folder.join(name))?),
            State::Unknown => return Ok(()),
        };
        let is_link = fs::symlink_metadata(path).is_ok_and(|file| !file.is_file());
        if is_link || (parent_of(path).is_some() && parent_of(path) != backup.real_parent) {
            rewind.skipped_links += 1;
            return Ok(());
        }
        let new = match fs::read(path) {
            Ok(new) => Some(new),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if old == new {
            return Ok(());
        }
        rewind.files_changed.push(path.to_owned());
        count(new.as_deref().unwrap_or_default(), old.as_deref().unwrap_or_default(), rewind);
        match old {
            _ if dry_run => Ok(()),
            Some(old) => {
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder)?;
                }
                put_back(path, &old)
            }
            None => fs::remove_file(path),
        }
    }

    /// Copies a file as it is now, or points to the copy before if nothing changed.
    fn backup(&self, path: &Path, before: Option<&Backup>) -> io::Result<Backup> {
        let real_parent = parent_of(path).or_else(|| before?.real_parent.clone());
        let content = match fs::metadata(path) {
            Ok(file) if file.is_file() && file.len() <= LARGEST_COPY => fs::read(path)?,
            Ok(_) => return Ok(Backup { state: State::Unknown, real_parent }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Backup { state: State::Absent, real_parent });
            }
            Err(error) => return Err(error),
        };
        if let Some(State::Copy(name)) = before.map(|before| &before.state)
            && fs::read(self.folder.join(name)).is_ok_and(|copy| copy == content)
        {
            return Ok(Backup { state: State::Copy(name.clone()), real_parent });
        }
        fs::create_dir_all(&self.folder)?;
        let stem = hash(path);
        let versions = 1..=u32::MAX;
        let free = |version: &u32| !self.folder.join(format!("{stem:016x}@v{version}")).exists();
        let version = versions.into_iter().find(free).unwrap_or_default();
        let name = format!("{stem:016x}@v{version}");
        no_follow::write(&self.folder.join(&name), &content)?;
        Ok(Backup { state: State::Copy(name), real_parent })
    }

    /// Paths in the project are written relative to it.
    fn tracking_path(&self, path: &Path) -> String {
        path.strip_prefix(&self.cwd).unwrap_or(path).to_string_lossy().into_owned()
    }

    fn take_up(&mut self, line: &Map<String, Value>) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        match line.get("type").and_then(Value::as_str) {
            Some("file-history-snapshot") => {
                let Some(prompt) = text(line.get("messageId")) else { return };
                let backups = line.get("snapshot").and_then(|snapshot| snapshot.get("trackedFileBackups"));
                let backups = backups.and_then(Value::as_object).into_iter().flatten();
                let files = backups
                    .filter_map(|(path, backup)| Some((self.cwd.join(path), Backup::from_json(backup)?)));
                let snapshot = Snapshot { prompt: EntryId(prompt), files: files.collect() };
                self.snapshots.push(snapshot);
            }
            Some("file-history-delta") => {
                let (prompt, path) = (text(line.get("snapshotMessageId")), text(line.get("trackingPath")));
                let backup = line.get("backup").and_then(Backup::from_json);
                let (Some(prompt), Some(path), Some(backup)) = (prompt, path, backup) else { return };
                let path = self.cwd.join(path);
                if let Some(snapshot) =
                    self.snapshots.iter_mut().rev().find(|snapshot| snapshot.prompt.0 == prompt)
                {
                    snapshot.files.entry(path).or_insert(backup);
                }
            }
            _ => {}
        }
    }
}

impl Backup {
    fn to_json(&self) -> Value {
        let name = match &self.state {
            State::Copy(name) => Some(name),
            State::Absent | State::Unknown => None,
        };
        let mut json =
            json!({ "backupFileName": name, "backupTime": now(), "realParentDir": self.real_parent });
        if let (State::Unknown, Some(json)) = (&self.state, json.as_object_mut()) {
            json.insert("notCopied".to_owned(), true.into());
        }
        json
    }

    fn from_json(json: &Value) -> Option<Self> {
        let state = match json.get("backupFileName")? {
            Value::Null if json.get("notCopied").is_some() => State::Unknown,
            Value::Null => State::Absent,
            // A name is one file of the folder; a transcript must not point anywhere else.
            Value::String(name) if Path::new(name).file_name() == Some(name.as_ref()) => {
                State::Copy(name.clone())
            }
            _ => State::Unknown,
        };
        let real_parent = json.get("realParentDir").and_then(Value::as_str).map(PathBuf::from);
        Some(Self { state, real_parent })
    }
}

/// Replaces a file in one step, by a new one of its name: a link that appears meanwhile is replaced, not followed.
fn put_back(path: &Path, content: &[u8]) -> io::Result<()> {
    let scratch = path.with_file_name(format!(".pilothouse-{}", uuid::Uuid::new_v4().simple()));
    let mode = fs::symlink_metadata(path).ok().filter(|file| file.is_file()).map(|file| file.permissions());
    let written = fs::write(&scratch, content)
        .and_then(|()| mode.map_or(Ok(()), |mode| fs::set_permissions(&scratch, mode)))
        .and_then(|()| fs::rename(&scratch, path));
    if written.is_err() {
        // Why it failed is what the caller must know.
        fs::remove_file(&scratch).ok();
    }
    written
}

fn parent_of(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path.parent()?).ok()
}

fn members<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn count(from: &[u8], to: &[u8], rewind: &mut Rewind) {
    let (from, to) = (String::from_utf8_lossy(from), String::from_utf8_lossy(to));
    let diff =
        similar::TextDiff::configure().timeout(std::time::Duration::from_secs(1)).diff_lines(&from, &to);
    for change in diff.iter_all_changes() {
        match change.tag() {
            similar::ChangeTag::Insert => rewind.insertions += 1,
            similar::ChangeTag::Delete => rewind.deletions += 1,
            similar::ChangeTag::Equal => {}
        }
    }
}

/// FNV-1a: tells the paths of one session apart, nothing more.
fn hash(path: &Path) -> u64 {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}
