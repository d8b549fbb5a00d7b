//! The embedded store: one SQLite file in WAL mode.

use std::fs::{File, OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Transaction, params};

use super::chain::{self, Hash};
use super::mark::{Mark, Marked, NO_FOLLOW};
use super::pages::{Session, column};
use super::store::{EventStore, Kept, Key, KnownKey, NewEvent, SessionRow, StorageError, StoredEvent, Write};
use crate::api::{Seq, SessionId};

/// The format of the file; raised when the tables change.
pub(super) const FORMAT: u8 = 4;

/// What each format added to the one before it.
const STEPS: [&str; FORMAT as usize] = [TABLES, KEPT, KEYS, CHAIN];

const TABLES: &str = "
    CREATE TABLE sessions(
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, first INTEGER NOT NULL, last INTEGER NOT NULL,
        summary TEXT, open_block TEXT);
    CREATE TABLE events(session INTEGER NOT NULL, seq INTEGER NOT NULL, key TEXT, text TEXT NOT NULL);
    CREATE UNIQUE INDEX by_seq ON events(session, seq);
    CREATE UNIQUE INDEX by_key ON events(key, session) WHERE key IS NOT NULL;
";

/// Parts of events that are too long for them.
const KEPT: &str = "
    CREATE TABLE kept(session INTEGER NOT NULL, seq INTEGER NOT NULL, part TEXT NOT NULL, text TEXT NOT NULL);
    CREATE UNIQUE INDEX by_part ON kept(session, seq, part);
";

/// Keys outlive their events. The column that they were in before stays empty: to take it away would mean to write all
/// events anew.
const KEYS: &str = "
    CREATE TABLE keys(key TEXT NOT NULL, session INTEGER NOT NULL, seq INTEGER NOT NULL);
    INSERT INTO keys SELECT key, session, seq FROM events WHERE key IS NOT NULL;
    CREATE UNIQUE INDEX by_name ON keys(key, session);
    DROP INDEX by_key;
";

/// `events.hash` links each event to the one before, `events.beside` covers what is kept beside it. Events before
/// `sessions.covered` are older than hashes. `sessions.head` is the hash of the newest event, `sessions.base` that of the
/// event before the oldest that is left. `sessions.commits` numbers commits, for the mark.
const CHAIN: &str = "
    ALTER TABLE events ADD COLUMN hash BLOB;
    ALTER TABLE events ADD COLUMN beside BLOB;
    ALTER TABLE keys ADD COLUMN digest BLOB;
    ALTER TABLE sessions ADD COLUMN head BLOB;
    ALTER TABLE sessions ADD COLUMN base BLOB;
    ALTER TABLE sessions ADD COLUMN covered INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE sessions ADD COLUMN commits INTEGER NOT NULL DEFAULT 0;
    UPDATE sessions SET covered = last + 1;
    CREATE TABLE log(id TEXT NOT NULL, commits INTEGER NOT NULL);
    INSERT INTO log VALUES(lower(hex(randomblob(16))), 0);
";

/// Logs in one SQLite file.
///
/// A commit survives the death of this process at any moment. One with a [synced](NewEvent::synced) event also survives
/// that of the machine: the WAL is synced before the commit returns, and with it all commits before. Other commits are
/// synced by the next such commit or checkpoint.
#[derive(Debug)]
pub struct SqliteStore {
    writing: Mutex<Writing>,
    /// Another connection, so that reading a long history does not hold up what is being said.
    reading: Mutex<Connection>,
}

#[derive(Debug)]
struct Writing {
    connection: Connection,
    /// Whether the connection syncs each commit.
    syncs: bool,
    /// The number of the newest commit.
    commits: u64,
    mark: Mark,
}

/// What to do if a log is not all there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loss {
    /// Leave everything as it is.
    #[default]
    Refuse,
    /// Go on with what is there, also if that is nothing.
    Accept,
}

impl SqliteStore {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// When it is no log, one of a newer bridge, or the mark beside it says that there was more.
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        Self::open_with(path, Loss::Refuse)
    }

    /// The same, with a choice of what to do if there was more.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open_with(path: &Path, loss: Loss) -> Result<Self, StorageError> {
        let path = &real(path)?;
        let lost = |what: &str| Err(StorageError::Lost(what.to_owned()));
        let marked = match (Marked::read(path), loss) {
            (_, Loss::Accept) => None,
            (Ok(marked), Loss::Refuse) => marked,
            (Err(error), Loss::Refuse) => {
                return lost(&format!("the mark beside it cannot be read: {error}"));
            }
        };
        if marked.is_some() {
            match std::fs::symlink_metadata(path) {
                Err(_) => return lost("log.db is not there any more"),
                Ok(file) if file.len() == 0 => return lost("log.db is empty"),
                Ok(_) => {}
            }
        }
        keep_private(path)?;
        let mut connection = connect(path)?;
        // A log that is not all there stays as it is: closing it must not copy what is left of the WAL into the database.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if marked.is_some() && found == 0 {
            return lost("log.db is empty: its -wal was removed or cut short");
        }
        let missing = usize::try_from(found).ok().and_then(|found| STEPS.get(found..));
        let missing = missing.ok_or(StorageError::Newer { found, known: FORMAT.into() })?;
        if !missing.is_empty() {
            let making = connection.transaction()?;
            missing.iter().try_for_each(|step| making.execute_batch(step))?;
            making.pragma_update(None, "user_version", FORMAT)?;
            making.commit()?;
        }
        let now = marked_by(&connection)?;
        if let Some(Marked { id, commits }) = marked {
            if id != now.id {
                return lost("log.db is another log than the one that was here");
            }
            if commits > now.commits {
                let missing = commits - now.commits;
                return lost(&format!(
                    "its newest {missing} commits are missing: its -wal was removed or cut short"
                ));
            }
        }
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        // All that is there is on the disk before the mark says so.
        let commits = now.commits + 1;
        connection.execute("UPDATE log SET commits = ?1", [unsigned(commits)])?;
        let mark = Mark::make(path, &Marked { commits, ..now })
            .map_err(|error| StorageError::Database(format!("the mark beside it: {error}")))?;
        let reading = connect(path)?;
        let writing = Writing { connection, syncs: true, commits, mark };
        Ok(Self { writing: Mutex::new(writing), reading: Mutex::new(reading) })
    }

    fn reading(&self) -> MutexGuard<'_, Connection> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the mark of this log has to say.
pub(super) fn marked_by(connection: &Connection) -> Result<Marked, StorageError> {
    let newest = "SELECT id, max(commits, (SELECT coalesce(max(commits), 0) FROM sessions)) FROM log";
    let read = connection.query_row(newest, [], |row| {
        Ok(Marked { id: row.get(0)?, commits: u64::try_from(row.get::<_, i64>(1)?).unwrap_or_default() })
    });
    Ok(read?)
}

/// A file's path without links in the directories: SQLite refuses all links, and only that to the file is suspect.
pub(super) fn real(path: &Path) -> Result<PathBuf, StorageError> {
    let failed = |error| StorageError::Database(format!("{}: {error}", path.display()));
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = parent.canonicalize().map_err(failed)?;
    Ok(path.file_name().map_or_else(|| parent.clone(), |name| parent.join(name)))
}

pub(super) fn connect(path: &Path) -> Result<Connection, StorageError> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cache_size", -512)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(connection)
}

impl Writing {
    /// A transaction whose commit is synced if it must be.
    fn transaction(&mut self, syncs: bool) -> Result<Transaction<'_>, StorageError> {
        if self.syncs != syncs {
            self.connection.pragma_update(None, "synchronous", if syncs { "FULL" } else { "NORMAL" })?;
            self.syncs = syncs;
        }
        Ok(self.connection.transaction()?)
    }
}

impl EventStore for SqliteStore {
    fn append(&self, writes: &[Write]) -> Result<(), StorageError> {
        let mut writing = self.writing();
        let commits = writing.commits + 1;
        let syncs = writes.iter().any(|write| matches!(write, Write::Event(event) if event.synced));
        let transaction = writing.transaction(syncs)?;
        for write in writes {
            match write {
                Write::Event(event) => append_event(&transaction, event, commits)?,
                Write::OpenBlock { session, text } => {
                    transaction
                        .prepare_cached("UPDATE sessions SET open_block = ?2 WHERE name = ?1")?
                        .execute(params![session.as_str(), text])?;
                }
            }
        }
        transaction.commit()?;
        writing.commits = commits;
        if syncs && let Err(error) = writing.mark.advance(commits) {
            tracing::warn!(%error, "the mark of the log cannot be written");
        }
        Ok(())
    }

    fn read_after(
        &self,
        session: &SessionId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StorageError> {
        let connection = self.reading();
        // One snapshot: the bounds must be those of the events.
        let snapshot = connection.unchecked_transaction()?;
        let Some(found) = Session::find(&snapshot, session)? else { return Ok(Vec::new()) };
        let from = found.first.max(int(after).saturating_add(1));
        found.page_from(&snapshot, from, from.saturating_add(count(limit) - 1))
    }

    fn read_before(
        &self,
        session: &SessionId,
        before: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StorageError> {
        let connection = self.reading();
        let snapshot = connection.unchecked_transaction()?;
        let Some(found) = Session::find(&snapshot, session)? else { return Ok(Vec::new()) };
        let to = found.last.min(int(before).saturating_sub(1));
        found.page_to(&snapshot, to.saturating_sub(count(limit) - 1), to)
    }

    fn find(&self, session: &SessionId, key: &str) -> Result<Option<KnownKey>, StorageError> {
        let found = self
            .reading()
            .prepare_cached(
                "SELECT name, seq, digest FROM keys JOIN sessions ON id = session WHERE key = ?2 AND name = ?1",
            )?
            .query_row(params![session.as_str(), key], known_key)
            .optional()?;
        Ok(found)
    }

    fn session_of(&self, key: &str) -> Result<Option<KnownKey>, StorageError> {
        let found = self
            .reading()
            .prepare_cached(
                "SELECT name, seq, digest FROM keys JOIN sessions ON id = session WHERE key = ?1 ORDER BY id LIMIT 1",
            )?
            .query_row([key], known_key)
            .optional()?;
        Ok(found)
    }

    fn kept(&self, session: &SessionId, seq: Seq, part: &str) -> Result<Option<String>, StorageError> {
        let connection = self.reading();
        let snapshot = connection.unchecked_transaction()?;
        let Some(found) = Session::find(&snapshot, session)? else { return Ok(None) };
        let pieces = found.kept(&snapshot, int(seq))?;
        Ok(pieces.into_iter().find(|(name, _)| name == part).map(|(_, text)| text))
    }

    fn bytes(&self) -> Result<u64, StorageError> {
        let pages = "SELECT (page_count - freelist_count) * page_size
            FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()";
        let bytes: i64 = self.writing().connection.query_row(pages, [], |row| row.get(0))?;
        Ok(u64::try_from(bytes).unwrap_or_default())
    }

    fn open_block(&self, session: &SessionId) -> Result<Option<String>, StorageError> {
        let found = self
            .reading()
            .prepare_cached("SELECT open_block FROM sessions WHERE name = ?1")?
            .query_row([session.as_str()], |row| row.get(0))
            .optional()?;
        Ok(found.flatten())
    }

    fn sessions(&self) -> Result<Vec<SessionRow>, StorageError> {
        let connection = self.reading();
        let mut statement =
            connection.prepare_cached("SELECT name, first, last, summary FROM sessions ORDER BY id")?;
        let mut rows = statement.query([])?;
        let mut sessions = Vec::new();
        while let Some(row) = rows.next()? {
            let name = match row.get_ref(0)? {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                other => format!("{other:?}"),
            };
            let bounds = column(row, 1).and_then(|first| Ok((first, column(row, 2)?)));
            let (first, last) = *bounds.as_ref().unwrap_or(&(0, 0));
            sessions.push(SessionRow {
                session: SessionId(name),
                first: seq(first),
                last: seq(last),
                // One that cannot be read is folded anew from the events.
                summary: column(row, 3).unwrap_or_default(),
                damage: bounds.err(),
            });
        }
        Ok(sessions)
    }

    fn forget_before(&self, session: &SessionId, before: Seq) -> Result<(), StorageError> {
        let mut writing = self.writing();
        let transaction = writing.transaction(false)?;
        let found = transaction
            .query_row("SELECT id, last FROM sessions WHERE name = ?1", [session.as_str()], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
            })
            .optional()?;
        let Some((id, last)) = found else { return Ok(()) };
        let before = int(before).min(last);
        transaction.execute(
            "UPDATE sessions SET first = ?2, base = (SELECT hash FROM events WHERE session = ?1 AND seq = ?2 - 1)
             WHERE id = ?1 AND first < ?2",
            params![id, before],
        )?;
        transaction.execute("DELETE FROM events WHERE session = ?1 AND seq < ?2", params![id, before])?;
        transaction.execute("DELETE FROM kept WHERE session = ?1 AND seq < ?2", params![id, before])?;
        transaction.commit()?;
        Ok(())
    }

    fn forget(&self, session: &SessionId) -> Result<(), StorageError> {
        let mut writing = self.writing();
        let commits = writing.commits;
        let transaction = writing.transaction(false)?;
        for table in ["events", "kept", "keys"] {
            transaction.execute(
                &format!("DELETE FROM {table} WHERE session = (SELECT id FROM sessions WHERE name = ?1)"),
                [session.as_str()],
            )?;
        }
        transaction.execute("DELETE FROM sessions WHERE name = ?1", [session.as_str()])?;
        // The session may have had the number of the newest commit.
        transaction.execute("UPDATE log SET commits = max(commits, ?1)", [unsigned(commits)])?;
        transaction.commit()?;
        Ok(())
    }
}

/// Conversations are nobody else's, whatever the directory says. SQLite makes its other files like this one.
fn keep_private(path: &Path) -> Result<(), StorageError> {
    let failed = |error| StorageError::Database(format!("{}: {error}", path.display()));
    let is_new = !path.exists();
    let opened = OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(NO_FOLLOW).open(path);
    opened.and_then(|file| file.set_permissions(Permissions::from_mode(0o600))).map_err(failed)?;
    if is_new && let Some(parent) = path.parent() {
        // SQLite syncs the file, but not its name.
        File::open(parent).and_then(|parent| parent.sync_all()).map_err(failed)?;
    }
    Ok(())
}

fn append_event(transaction: &Transaction<'_>, event: &NewEvent, commits: u64) -> Result<(), StorageError> {
    let NewEvent { session, seq, text, key, summary, kept, synced: _ } = event;
    let out_of_order = || StorageError::OutOfOrder { session: session.clone(), seq: *seq };
    let known: Option<(i64, Option<Hash>)> = transaction
        .prepare_cached("SELECT id, head FROM sessions WHERE name = ?1 AND last = ?2")?
        .query_row(params![session.as_str(), int(*seq) - 1], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let before = known.and_then(|(_, head)| head).unwrap_or_else(|| chain::genesis(session));
    let beside = chain::beside_new(kept);
    let hash = chain::link(&before, *seq, text.as_bytes(), beside.as_ref().map(Hash::as_slice));
    let id = match known {
        Some((id, _)) => {
            transaction
                .prepare_cached(
                    "UPDATE sessions SET last = ?2, summary = coalesce(?3, summary), head = ?4, commits = ?5 WHERE id = ?1",
                )?
                .execute(params![id, int(*seq), summary, hash, unsigned(commits)])?;
            id
        }
        None if seq.0 == 1 => {
            let made = transaction
                .prepare_cached(
                    "INSERT INTO sessions(name, first, last, summary, head, commits) VALUES(?1, 1, 1, ?2, ?3, ?4)
                     ON CONFLICT DO NOTHING",
                )?
                .execute(params![session.as_str(), summary, hash, unsigned(commits)])?;
            if made == 0 {
                return Err(out_of_order());
            }
            transaction.last_insert_rowid()
        }
        None => return Err(out_of_order()),
    };
    transaction
        .prepare_cached("INSERT INTO events(session, seq, text, hash, beside) VALUES(?1, ?2, ?3, ?4, ?5)")?
        .execute(params![id, int(*seq), text, hash, beside])?;
    if let Some(Key { name, digest }) = key {
        let named = transaction
            .prepare_cached("INSERT INTO keys(key, session, seq, digest) VALUES(?1, ?2, ?3, ?4)")?
            .execute(params![name, id, int(*seq), digest]);
        match named {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                return Err(StorageError::KeyTaken { session: session.clone(), key: name.clone() });
            }
            other => other.map(drop)?,
        }
    }
    for Kept { part, text } in kept {
        transaction
            .prepare_cached("INSERT OR REPLACE INTO kept(session, seq, part, text) VALUES(?1, ?2, ?3, ?4)")?
            .execute(params![id, int(*seq), part, text])?;
    }
    Ok(())
}

fn known_key(row: &rusqlite::Row<'_>) -> rusqlite::Result<KnownKey> {
    Ok(KnownKey { session: SessionId(row.get(0)?), seq: seq(row.get(1)?), digest: row.get(2)? })
}

/// SQLite's integers are signed; positions beyond them do not come up.
pub(super) fn int(seq: Seq) -> i64 {
    unsigned(seq.0)
}

fn unsigned(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn seq(int: i64) -> Seq {
    Seq(u64::try_from(int).unwrap_or_default())
}

fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX).max(1)
}

impl From<rusqlite::Error> for StorageError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(error.to_string()),
            _ => Self::Database(error.to_string()),
        }
    }
}

#[cfg(test)]
#[path = "sqlite_tests.rs"]
mod tests;
