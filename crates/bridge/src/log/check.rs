//! Checks a whole log, and takes out of it what is damaged.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, params};

use super::chain::{self, Hash};
use super::mark::Marked;
use super::pages::{Damage, Found, Session, column};
use super::sqlite::{Loss, SqliteStore, connect, int, marked_by, real, seq};
use super::store::StorageError;
use crate::api::{Event, Frame, Json, Logged, Seq, SessionId};

/// How many events are checked at a time.
const PAGE: i64 = 1000;

/// More events than this are not replaced one by one: the session is cut short instead.
const MOST_REPLACED: u64 = 10_000;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checked {
    /// What is wrong with the log as a whole.
    pub problems: Vec<String>,
    /// Its sessions.
    pub sessions: Vec<CheckedSession>,
}

/// What a check found of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedSession {
    /// The session.
    pub session: SessionId,
    /// How many events it has.
    pub events: u64,
    /// How many of them are older than hashes: of those only that none is missing is known.
    pub uncovered: u64,
    /// The hash of its newest event, in hexadecimal digits. Noted elsewhere, it shows whether the log was written anew.
    pub head: Option<String>,
    /// The events that are not as they were stored.
    pub damage: Vec<Damage>,
}

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Repaired {
    /// The copy of the log as it was; none if there was nothing to do.
    pub copy: Option<PathBuf>,
    /// What was wrong before.
    pub before: Checked,
    /// What is wrong now.
    pub after: Checked,
}

impl Checked {
    /// Whether nothing is wrong.
    pub fn is_good(&self) -> bool {
        self.problems.is_empty() && self.sessions.iter().all(|session| session.damage.is_empty())
    }
}

/// Checks all events of a log, and changes nothing. A bridge may be using it.
///
/// # Errors
/// When there is no log, or nothing of it can be read.
pub fn verify(path: &Path) -> Result<Checked, StorageError> {
    let path = &real(path)?;
    let marked = Marked::read(path);
    if !path.exists() {
        return match marked {
            Ok(None) => Err(StorageError::Database(format!("there is no log at {}", path.display()))),
            _ => Err(StorageError::Lost("log.db is not there any more".to_owned())),
        };
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    let snapshot = connection.unchecked_transaction()?;
    let format: i64 = snapshot.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if format < i64::from(super::sqlite::FORMAT) {
        let problem =
            format!("the log has format {format}, which has no hashes: start the bridge once to add them");
        return Ok(Checked { problems: vec![problem], sessions: Vec::new() });
    }
    check(&snapshot, marked)
}

fn check(connection: &Connection, marked: io::Result<Option<Marked>>) -> Result<Checked, StorageError> {
    let mut checked = Checked::default();
    match (marked, marked_by(connection)) {
        (Err(error), _) => checked.problems.push(format!("the mark beside the log cannot be read: {error}")),
        (_, Err(error)) => checked.problems.push(error.to_string()),
        (Ok(Some(marked)), Ok(now)) if marked.id != now.id => {
            checked.problems.push("the mark beside the log is that of another log".to_owned());
        }
        (Ok(Some(marked)), Ok(now)) if marked.commits > now.commits => {
            let missing = marked.commits - now.commits;
            checked.problems.push(format!("the newest {missing} commits are missing"));
        }
        _ => {}
    }
    checked.problems.extend(broken_pages(connection));
    for (_, name) in names(connection)? {
        checked.sessions.push(check_session(connection, &name)?);
    }
    let strays = "SELECT count(*) FROM events WHERE session NOT IN (SELECT id FROM sessions)";
    match connection.query_row(strays, [], |row| row.get::<_, i64>(0)) {
        Ok(0) => {}
        Ok(strays) => checked.problems.push(format!("{strays} events belong to no session")),
        Err(error) => checked.problems.push(format!("the events cannot be counted: {error}")),
    }
    Ok(checked)
}

/// What SQLite says of its pages.
fn broken_pages(connection: &Connection) -> Vec<String> {
    let read = || -> rusqlite::Result<Vec<String>> {
        let mut statement = connection.prepare("PRAGMA quick_check(20)")?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
        rows.filter(|row| row.as_ref().map_or(true, |row| row != "ok")).collect()
    };
    read().unwrap_or_else(|error| vec![error.to_string()])
}

/// The sessions, by their rows.
fn names(connection: &Connection) -> Result<Vec<(i64, SessionId)>, StorageError> {
    let mut statement = connection.prepare("SELECT id, name FROM sessions ORDER BY id")?;
    let names = statement.query_map([], |row| {
        let name = column(row, 1).map_or_else(|_| SessionId::from("(a name that is no text)"), SessionId);
        Ok((row.get(0)?, name))
    })?;
    Ok(names.collect::<Result<_, _>>()?)
}

fn check_session(connection: &Connection, name: &SessionId) -> Result<CheckedSession, StorageError> {
    let mut checked =
        CheckedSession { session: name.clone(), events: 0, uncovered: 0, head: None, damage: Vec::new() };
    let whole = |reason: String| Damage { from: Seq(0), to: Seq(0), reason };
    let session = match Session::find(connection, name) {
        Ok(Some(session)) => session,
        Ok(None) => {
            checked.damage.push(whole("(its row) has a name that is no text".to_owned()));
            return Ok(checked);
        }
        Err(StorageError::Session { reason, .. }) => {
            checked.damage.push(whole(reason));
            return Ok(checked);
        }
        Err(error) => return Err(error),
    };
    checked.head = session.head.map(|head| head.iter().map(|byte| format!("{byte:02x}")).collect());
    let mut from = session.first;
    while from <= session.last {
        let to = from.saturating_add(PAGE - 1).min(session.last);
        let mut end = to;
        for found in session.scan(connection, from, to)? {
            match found {
                Found::Event(event) => {
                    checked.events += 1;
                    checked.uncovered += u64::from(int(event.seq) < session.covered);
                    match session.kept(connection, int(event.seq)) {
                        Ok(_) => {}
                        Err(StorageError::Session { reason, .. }) => {
                            checked.damage.push(Damage { from: event.seq, to: event.seq, reason });
                        }
                        Err(error) => return Err(error),
                    }
                }
                Found::Damage(damage) => {
                    if damage.reason == "is missing" && int(damage.to) == to {
                        // The rest of the page, and maybe of the session, is not there: look where it goes on.
                        end = session.next_position(connection, to)?.map_or(session.last, |next| next - 1);
                        checked.damage.push(Damage { to: seq(end), ..damage });
                    } else {
                        checked.damage.push(damage);
                    }
                }
            }
        }
        from = end.saturating_add(1);
    }
    Ok(checked)
}

/// Takes out of a log what is damaged. Nobody else may be using it. The log as it was is copied first.
///
/// Each damaged or missing event becomes one that says so, and the hashes from there on are computed anew; all other
/// events stay. What is missing at a session's beginning is forgotten. If SQLite cannot use the file any more, all that can
/// be read is put into a new one.
///
/// # Errors
/// When the log cannot be copied or written.
pub fn repair(path: &Path) -> Result<Repaired, StorageError> {
    let path = &real(path)?;
    let before = match verify(path) {
        Ok(before) => before,
        Err(StorageError::Damaged(reason)) => Checked { problems: vec![reason], sessions: Vec::new() },
        Err(error) => return Err(error),
    };
    if before.is_good() {
        return Ok(Repaired { copy: None, after: before.clone(), before });
    }
    let copy =
        copy_aside(path).map_err(|error| StorageError::Database(format!("no copy can be made: {error}")))?;
    let is_usable = match connect(path) {
        Ok(connection) => {
            // An index that is wrong is made anew from its table.
            drop(connection.execute_batch("REINDEX"));
            broken_pages(&connection).is_empty()
        }
        Err(StorageError::Damaged(_)) => false,
        Err(error) => return Err(error),
    };
    if !is_usable {
        rebuild(path)?;
    }
    // Brings the tables up to date, and the mark.
    drop(SqliteStore::open_with(path, Loss::Accept)?);
    let mut connection = connect(path)?;
    let making = connection.transaction()?;
    for (id, name) in names(&making)? {
        repair_session(&making, id, &name)?;
    }
    for table in ["events", "kept", "keys"] {
        making.execute(&format!("DELETE FROM {table} WHERE session NOT IN (SELECT id FROM sessions)"), [])?;
    }
    making.commit()?;
    drop(connection);
    let after = verify(path)?;
    Ok(Repaired { copy: Some(copy), before, after })
}

fn repair_session(connection: &Connection, id: i64, name: &SessionId) -> Result<(), StorageError> {
    if Session::find(connection, name).is_err() {
        // The row is made anew from the events.
        connection.execute(
            "UPDATE sessions SET (first, last) = (SELECT min(seq), max(seq) FROM events WHERE session = ?1),
                 covered = coalesce((SELECT min(seq) FROM events WHERE session = ?1 AND hash IS NOT NULL),
                     (SELECT max(seq) + 1 FROM events WHERE session = ?1)),
                 head = (SELECT hash FROM events WHERE session = ?1 ORDER BY seq DESC LIMIT 1), base = NULL
             WHERE id = ?1 AND EXISTS (SELECT 1 FROM events WHERE session = ?1)",
            [id],
        )?;
    }
    let checked = check_session(connection, name)?;
    if checked.damage.is_empty() {
        return Ok(());
    }
    let Ok(Some(session)) = Session::find(connection, name) else {
        // Nobody can tell what it is called, or it has no events.
        connection.execute("DELETE FROM sessions WHERE id = ?1", [id])?;
        return Ok(());
    };
    let is_lost = |at: i64| checked.damage.iter().any(|lost| (int(lost.from)..=int(lost.to)).contains(&at));
    let mut first = session.first;
    let mut last = session.last;
    for lost in &checked.damage {
        if int(lost.from) == first && int(lost.to) < last {
            first = int(lost.to) + 1;
        }
    }
    if let Some(end) =
        checked.damage.last().filter(|lost| int(lost.to) == last && lost.to.0 - lost.from.0 >= MOST_REPLACED)
    {
        last = int(end.from).max(first);
    }
    connection.execute(
        "DELETE FROM events WHERE session = ?1 AND seq NOT BETWEEN ?2 AND ?3",
        params![session.id, first, last],
    )?;
    connection.execute(
        "DELETE FROM kept WHERE session = ?1 AND seq NOT BETWEEN ?2 AND ?3",
        params![session.id, first, last],
    )?;
    let mut before = chain::genesis(name);
    let mut at_time = 0;
    for at in first..=last {
        let read = connection.query_row(
            "SELECT text, beside FROM events WHERE session = ?1 AND seq = ?2",
            params![session.id, at],
            |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<Hash>>(1)?)),
        );
        let (text, beside) = match read {
            Ok(read) if !is_lost(at) => read,
            _ => {
                let reason = checked.damage.iter().find(|lost| (int(lost.from)..=int(lost.to)).contains(&at));
                let reason = reason.map_or("cannot be read", |lost| lost.reason.as_str());
                let text = stand_in(name, seq(at), at_time, reason);
                connection
                    .execute("DELETE FROM kept WHERE session = ?1 AND seq = ?2", params![session.id, at])?;
                connection
                    .execute("DELETE FROM events WHERE session = ?1 AND seq = ?2", params![session.id, at])?;
                connection.execute(
                    "INSERT INTO events(session, seq, text) VALUES(?1, ?2, ?3)",
                    params![session.id, at, text],
                )?;
                (text, None)
            }
        };
        at_time = Logged::decode(&text).map_or(at_time, |logged| logged.at);
        let hash = chain::link(&before, seq(at), text.as_bytes(), beside.as_ref().map(Hash::as_slice));
        connection.execute(
            "UPDATE events SET hash = ?3, beside = ?4 WHERE session = ?1 AND seq = ?2",
            params![session.id, at, hash, beside],
        )?;
        before = hash;
    }
    // The summary may be that of an event that is gone: it is folded anew where the log has its beginning.
    let summary = if first == 1 { "NULL" } else { "summary" };
    connection.execute(
        &format!(
            "UPDATE sessions SET first = ?2, last = ?3, head = ?4, base = NULL, covered = ?2, open_block = NULL,
             summary = {summary} WHERE id = ?1"
        ),
        params![session.id, first, last, before],
    )?;
    Ok(())
}

/// The event that stands for one that is lost.
fn stand_in(session: &SessionId, seq: Seq, at: i64, reason: &str) -> String {
    let frame = serde_json::json!({
        "type": "system", "subtype": "log_repaired",
        "message": format!("Event {seq} of the log was damaged and taken out: it {reason}"),
    });
    let event: Event = Frame { kind: "log_repaired".to_owned(), frame: Json::of(&frame) }.into();
    event.encode(session, seq, at)
}

/// Copies the log and its WAL into a directory of their own.
fn copy_aside(path: &Path) -> io::Result<PathBuf> {
    let name = format!("log-before-repair-{}", jiff::Timestamp::now().as_second());
    let folder = path.with_file_name(name);
    std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700).create(&folder)?;
    for end in ["", "-wal"] {
        let mut file = path.as_os_str().to_owned();
        file.push(end);
        let file = PathBuf::from(file);
        match std::fs::copy(&file, folder.join(file.file_name().unwrap_or_default())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => drop(other?),
        }
    }
    Ok(folder)
}

/// Puts all that can be read of a file that SQLite calls damaged into a new one, and that in its place.
fn rebuild(path: &Path) -> Result<(), StorageError> {
    let old = connect(path).map_err(|error| {
        StorageError::Database(format!(
            "nothing of it can be read ({error}): put a backup of log.db in its place, or move log.db and its -wal away and \
             start once with --accept-log-loss"
        ))
    })?;
    let fresh = path.with_extension("db-rebuilt");
    let remove = |path: &Path| {
        for end in ["", "-wal", "-shm"] {
            let mut file = path.as_os_str().to_owned();
            file.push(end);
            // One that is not there need not be removed.
            drop(std::fs::remove_file(PathBuf::from(file)));
        }
    };
    remove(&fresh);
    drop(std::fs::remove_file(super::mark::place(&fresh)));
    drop(SqliteStore::open(&fresh)?);
    {
        let mut new = connect(&fresh)?;
        let making = new.transaction()?;
        making.execute("DELETE FROM log", [])?;
        for table in ["log", "sessions", "events", "kept", "keys"] {
            salvage(&old, &making, table)?;
        }
        let rows: i64 = making.query_row("SELECT count(*) FROM log", [], |row| row.get(0))?;
        if rows == 0 {
            making.execute("INSERT INTO log VALUES(lower(hex(randomblob(16))), 0)", [])?;
        }
        making.commit()?;
        new.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    }
    drop(old);
    drop(std::fs::remove_file(super::mark::place(&fresh)));
    remove(path);
    std::fs::rename(&fresh, path)
        .map_err(|error| StorageError::Database(format!("the new log cannot be put in place: {error}")))
}

/// Copies the rows of a table from its beginning up to the first that cannot be read, and from its end down to the last.
fn salvage(old: &Connection, new: &Connection, table: &str) -> Result<(), StorageError> {
    let columns: Vec<String> = {
        let mut statement = new.prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))?;
        let names = statement.query_map([], |row| row.get(0))?;
        names.collect::<Result<_, _>>()?
    };
    let list = columns.join(", ");
    let values: Vec<String> = (1..=columns.len() + 1).map(|n| format!("?{n}")).collect();
    let insert = format!("INSERT OR IGNORE INTO {table}(rowid, {list}) VALUES({})", values.join(", "));
    for order in ["ASC", "DESC"] {
        let Ok(mut statement) =
            old.prepare(&format!("SELECT rowid, {list} FROM {table} NOT INDEXED ORDER BY rowid {order}"))
        else {
            continue;
        };
        let Ok(mut rows) = statement.query([]) else { continue };
        while let Ok(Some(row)) = rows.next() {
            let values = (0..=columns.len()).map(|at| row.get::<_, rusqlite::types::Value>(at));
            let Ok(values) = values.collect::<rusqlite::Result<Vec<_>>>() else { continue };
            new.prepare_cached(&insert)?.execute(rusqlite::params_from_iter(values))?;
        }
    }
    Ok(())
}
