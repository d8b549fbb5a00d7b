//! The embedded store: one SQLite file in WAL mode.

use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Transaction, params};

use super::store::{EventStore, Kept, NewEvent, SessionRow, StorageError, StoredEvent, Write};
use crate::api::{Seq, SessionId};

/// The format of the file; raised when the tables change.
const FORMAT: u8 = 3;

/// What each format added to the one before it.
const STEPS: [&str; FORMAT as usize] = [TABLES, KEPT, KEYS];

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

/// Logs in one SQLite file.
///
/// A commit is with the operating system when it returns, so it survives the death of this process at any moment; that
/// of the machine may cost the last few, as SQLite syncs the WAL file only at checkpoints.
#[derive(Debug)]
pub struct SqliteStore {
    writing: Mutex<Connection>,
    /// Another connection, so that reading a long history does not hold up what is being said.
    reading: Mutex<Connection>,
}

impl SqliteStore {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// When it is no log, or one of a newer bridge.
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        keep_private(path)?;
        let mut writing = connect(path)?;
        let found: i64 = writing.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let missing = usize::try_from(found).ok().and_then(|found| STEPS.get(found..));
        let missing = missing.ok_or(StorageError::Newer { found, known: FORMAT.into() })?;
        if !missing.is_empty() {
            let making = writing.transaction()?;
            missing.iter().try_for_each(|step| making.execute_batch(step))?;
            making.pragma_update(None, "user_version", FORMAT)?;
            making.commit()?;
        }
        let reading = connect(path)?;
        Ok(Self { writing: Mutex::new(writing), reading: Mutex::new(reading) })
    }

    fn reading(&self) -> MutexGuard<'_, Connection> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writing(&self) -> MutexGuard<'_, Connection> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn connect(path: &Path) -> Result<Connection, StorageError> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "cache_size", -512)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(connection)
}

impl EventStore for SqliteStore {
    fn append(&self, writes: &[Write]) -> Result<(), StorageError> {
        let mut connection = self.writing();
        let transaction = connection.transaction()?;
        for write in writes {
            match write {
                Write::Event(event) => append_event(&transaction, event)?,
                Write::OpenBlock { session, text } => {
                    transaction
                        .prepare_cached("UPDATE sessions SET open_block = ?2 WHERE name = ?1")?
                        .execute(params![session.as_str(), text])?;
                }
            }
        }
        transaction.commit()?;
        Ok(())
    }

    fn read_after(
        &self,
        session: &SessionId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StorageError> {
        let connection = self.reading();
        let mut statement = connection.prepare_cached(
            "SELECT seq, text FROM events WHERE session = (SELECT id FROM sessions WHERE name = ?1) AND seq > ?2
             ORDER BY seq LIMIT ?3",
        )?;
        let rows = statement.query_map(params![session.as_str(), int(after), count(limit)], event)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn read_before(
        &self,
        session: &SessionId,
        before: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StorageError> {
        let connection = self.reading();
        let mut statement = connection.prepare_cached(
            "SELECT seq, text FROM events WHERE session = (SELECT id FROM sessions WHERE name = ?1) AND seq < ?2
             ORDER BY seq DESC LIMIT ?3",
        )?;
        let rows = statement.query_map(params![session.as_str(), int(before), count(limit)], event)?;
        let mut events: Vec<StoredEvent> = rows.collect::<Result<_, _>>()?;
        events.reverse();
        Ok(events)
    }

    fn find(&self, session: &SessionId, key: &str) -> Result<Option<Seq>, StorageError> {
        let found = self
            .reading()
            .prepare_cached(
                "SELECT seq FROM keys WHERE key = ?2 AND session = (SELECT id FROM sessions WHERE name = ?1)",
            )?
            .query_row(params![session.as_str(), key], |row| Ok(seq(row.get(0)?)))
            .optional()?;
        Ok(found)
    }

    fn session_of(&self, key: &str) -> Result<Option<SessionId>, StorageError> {
        let found = self
            .reading()
            .prepare_cached(
                "SELECT name FROM keys JOIN sessions ON id = session WHERE key = ?1 ORDER BY id LIMIT 1",
            )?
            .query_row([key], |row| Ok(SessionId(row.get(0)?)))
            .optional()?;
        Ok(found)
    }

    fn kept(&self, session: &SessionId, seq: Seq, part: &str) -> Result<Option<String>, StorageError> {
        let found = self
            .reading()
            .prepare_cached(
                "SELECT text FROM kept WHERE session = (SELECT id FROM sessions WHERE name = ?1) AND seq = ?2 AND part = ?3",
            )?
            .query_row(params![session.as_str(), int(seq), part], |row| row.get(0))
            .optional()?;
        Ok(found)
    }

    fn bytes(&self) -> Result<u64, StorageError> {
        let pages = "SELECT (page_count - freelist_count) * page_size
            FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()";
        let bytes: i64 = self.writing().query_row(pages, [], |row| row.get(0))?;
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
        let rows = statement.query_map([], |row| {
            Ok(SessionRow {
                session: SessionId(row.get(0)?),
                first: seq(row.get(1)?),
                last: seq(row.get(2)?),
                summary: row.get(3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn forget_before(&self, session: &SessionId, before: Seq) -> Result<(), StorageError> {
        let mut connection = self.writing();
        let transaction = connection.transaction()?;
        let found = transaction
            .query_row("SELECT id, last FROM sessions WHERE name = ?1", [session.as_str()], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
            })
            .optional()?;
        let Some((id, last)) = found else { return Ok(()) };
        let before = int(before).min(last);
        transaction.execute("DELETE FROM events WHERE session = ?1 AND seq < ?2", params![id, before])?;
        transaction.execute("DELETE FROM kept WHERE session = ?1 AND seq < ?2", params![id, before])?;
        transaction
            .execute("UPDATE sessions SET first = max(first, ?2) WHERE id = ?1", params![id, before])?;
        transaction.commit()?;
        Ok(())
    }

    fn forget(&self, session: &SessionId) -> Result<(), StorageError> {
        let mut connection = self.writing();
        let transaction = connection.transaction()?;
        for table in ["events", "kept", "keys"] {
            transaction.execute(
                &format!("DELETE FROM {table} WHERE session = (SELECT id FROM sessions WHERE name = ?1)"),
                [session.as_str()],
            )?;
        }
        transaction.execute("DELETE FROM sessions WHERE name = ?1", [session.as_str()])?;
        transaction.commit()?;
        Ok(())
    }
}

/// Conversations are nobody else's, whatever the directory says. SQLite makes its other files like this one.
fn keep_private(path: &Path) -> Result<(), StorageError> {
    let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    let made = opened.and_then(|file| file.set_permissions(Permissions::from_mode(0o600)));
    made.map_err(|error| StorageError::Database(format!("{}: {error}", path.display())))
}

fn append_event(transaction: &Transaction<'_>, event: &NewEvent) -> Result<(), StorageError> {
    let NewEvent { session, seq, text, key, summary, kept } = event;
    let out_of_order = || StorageError::OutOfOrder { session: session.clone(), seq: *seq };
    let known: Option<i64> = transaction
        .prepare_cached("SELECT id FROM sessions WHERE name = ?1 AND last = ?2")?
        .query_row(params![session.as_str(), int(*seq) - 1], |row| row.get(0))
        .optional()?;
    let id = match known {
        Some(id) => {
            transaction
                .prepare_cached(
                    "UPDATE sessions SET last = ?2, summary = coalesce(?3, summary) WHERE id = ?1",
                )?
                .execute(params![id, int(*seq), summary])?;
            id
        }
        None if seq.0 == 1 => {
            let made = transaction
                .prepare_cached(
                    "INSERT INTO sessions(name, first, last, summary) VALUES(?1, 1, 1, ?2) ON CONFLICT DO NOTHING",
                )?
                .execute(params![session.as_str(), summary])?;
            if made == 0 {
                return Err(out_of_order());
            }
            transaction.last_insert_rowid()
        }
        None => return Err(out_of_order()),
    };
    transaction
        .prepare_cached("INSERT INTO events(session, seq, text) VALUES(?1, ?2, ?3)")?
        .execute(params![id, int(*seq), text])?;
    if let Some(key) = key {
        let named = transaction
            .prepare_cached("INSERT INTO keys(key, session, seq) VALUES(?1, ?2, ?3)")?
            .execute(params![key, id, int(*seq)]);
        match named {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                return Err(StorageError::KeyTaken { session: session.clone(), key: key.clone() });
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

fn event(row: &rusqlite::Row<'_>) -> rusqlite::Result<StoredEvent> {
    Ok(StoredEvent { seq: seq(row.get(0)?), text: row.get(1)? })
}

/// SQLite's integers are signed; positions beyond them do not come up.
fn int(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

fn seq(int: i64) -> Seq {
    Seq(u64::try_from(int).unwrap_or_default())
}

fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
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
