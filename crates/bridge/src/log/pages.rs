//! Reads events and checks them while reading: that none is missing, and that each is the one that was stored.

use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::chain::{self, Hash};
use super::sqlite::seq;
use super::store::{StorageError, StoredEvent};
use crate::api::{Seq, SessionId};

/// The row of a session, as far as reading its events needs it.
#[derive(Debug)]
pub(super) struct Session {
    name: SessionId,
    pub(super) id: i64,
    pub(super) first: i64,
    pub(super) last: i64,
    /// The first position that has a hash.
    pub(super) covered: i64,
    /// The hash of the newest event.
    pub(super) head: Option<Hash>,
    /// The hash of the event before `first`.
    base: Option<Hash>,
}

/// What is found at a position, or from one to another.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Event(StoredEvent),
    Damage(Damage),
}

/// Events that are not as they were stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The first of them.
    pub from: Seq,
    /// The last of them.
    pub to: Seq,
    /// What is wrong, after "event 7 ".
    pub reason: String,
}

impl Session {
    pub(super) fn find(connection: &Connection, name: &SessionId) -> Result<Option<Self>, StorageError> {
        let mut statement = connection
            .prepare_cached("SELECT id, first, last, covered, head, base FROM sessions WHERE name = ?1")?;
        let mut rows = statement.query([name.as_str()])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let read = || -> Result<Self, String> {
            Ok(Self {
                name: name.clone(),
                id: column(row, 0)?,
                first: column(row, 1)?,
                last: column(row, 2)?,
                covered: column(row, 3)?,
                head: column(row, 4)?,
                base: column(row, 5)?,
            })
        };
        let damaged = |reason| StorageError::Session {
            session: name.clone(),
            seq: Seq(0),
            reason: format!("(its row) {reason}"),
        };
        read().map(Some).map_err(damaged)
    }

    fn error(&self, damage: Damage) -> StorageError {
        StorageError::Session { session: self.name.clone(), seq: damage.from, reason: damage.reason }
    }

    /// Events from a position on, up to the first that is damaged.
    pub(super) fn page_from(
        &self,
        connection: &Connection,
        from: i64,
        to: i64,
    ) -> Result<Vec<StoredEvent>, StorageError> {
        let mut events = Vec::new();
        for found in self.scan(connection, from, to)? {
            match found {
                Found::Event(event) => events.push(event),
                Found::Damage(damage) if events.is_empty() => return Err(self.error(damage)),
                Found::Damage(_) => break,
            }
        }
        Ok(events)
    }

    /// Events up to a position, from the last before it that is damaged.
    pub(super) fn page_to(
        &self,
        connection: &Connection,
        from: i64,
        to: i64,
    ) -> Result<Vec<StoredEvent>, StorageError> {
        let mut events = Vec::new();
        for found in self.scan(connection, from, to)?.into_iter().rev() {
            match found {
                Found::Event(event) => events.push(event),
                Found::Damage(damage) if events.is_empty() => return Err(self.error(damage)),
                Found::Damage(_) => break,
            }
        }
        events.reverse();
        Ok(events)
    }

    /// All that is found from one position to another, oldest first.
    pub(super) fn scan(
        &self,
        connection: &Connection,
        from: i64,
        to: i64,
    ) -> Result<Vec<Found>, StorageError> {
        let (from, to) = (from.max(self.first), to.min(self.last));
        let mut found = Vec::new();
        if from > to {
            return Ok(found);
        }
        let damage = |from: i64, to: i64, reason: &str| {
            Found::Damage(Damage { from: seq(from), to: seq(to), reason: reason.to_owned() })
        };
        let mut statement = connection.prepare_cached(
            "SELECT seq, text, hash, beside FROM events WHERE session = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq",
        )?;
        let mut rows = statement.query(params![self.id, from, to])?;
        let mut before = self.hash_before(connection, from)?;
        let mut next = from;
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => break,
                Err(error) => {
                    found.push(damage(next, to, &format!("cannot be read: {error}")));
                    return Ok(found);
                }
            };
            let at: i64 = row.get(0)?;
            if at > next {
                found.push(damage(next, at - 1, "is missing"));
                before = None;
            }
            next = at + 1;
            if at == self.covered {
                before = Some(chain::genesis(&self.name));
            }
            match self.checked(row, at, before.as_ref()) {
                Ok(text) => found.push(Found::Event(StoredEvent { seq: seq(at), text })),
                Err(reason) => found.push(damage(at, at, &reason)),
            }
            before = column(row, 2).unwrap_or_default();
        }
        if next <= to {
            found.push(damage(next, to, "is missing"));
        }
        Ok(found)
    }

    /// The text of an event that is the one that was stored.
    fn checked(&self, row: &Row<'_>, at: i64, before: Option<&Hash>) -> Result<String, String> {
        let text: String = column(row, 1)?;
        if at < self.covered {
            return Ok(text);
        }
        let hash: Option<Hash> = column(row, 2)?;
        let beside: Option<Hash> = column(row, 3)?;
        let hash = hash.ok_or("has no hash")?;
        let is_linked = before.is_none_or(|before| {
            chain::link(before, seq(at), text.as_bytes(), beside.as_ref().map(Hash::as_slice)) == hash
        });
        if !is_linked || (at == self.last && self.head != Some(hash)) {
            return Err("is not what was stored: its hash does not fit".to_owned());
        }
        Ok(text)
    }

    /// The hash of the event before a position, as it was stored; none if it is not known.
    fn hash_before(&self, connection: &Connection, at: i64) -> Result<Option<Hash>, StorageError> {
        if at <= self.covered {
            return Ok(None);
        }
        if at == self.first {
            return Ok(self.base);
        }
        let found = connection
            .prepare_cached("SELECT hash FROM events WHERE session = ?1 AND seq = ?2")?
            .query_row(params![self.id, at - 1], |row| Ok(column(row, 0).unwrap_or_default()))
            .optional()?;
        Ok(found.flatten())
    }

    /// The position of the next event after one.
    pub(super) fn next_position(
        &self,
        connection: &Connection,
        after: i64,
    ) -> Result<Option<i64>, StorageError> {
        let next = connection
            .prepare_cached("SELECT min(seq) FROM events WHERE session = ?1 AND seq > ?2 AND seq <= ?3")?
            .query_row(params![self.id, after, self.last], |row| row.get(0))?;
        Ok(next)
    }

    /// What is kept beside an event, by part.
    pub(super) fn kept(
        &self,
        connection: &Connection,
        at: i64,
    ) -> Result<Vec<(String, String)>, StorageError> {
        let damaged = |reason: String| self.error(Damage { from: seq(at), to: seq(at), reason });
        let stored: Option<Result<Option<Hash>, String>> = connection
            .prepare_cached("SELECT beside FROM events WHERE session = ?1 AND seq = ?2")?
            .query_row(params![self.id, at], |row| Ok(column(row, 0)))
            .optional()?;
        let mut statement =
            connection.prepare_cached("SELECT part, text FROM kept WHERE session = ?1 AND seq = ?2")?;
        let mut rows = statement.query(params![self.id, at])?;
        let mut pieces: Vec<(String, String)> = Vec::new();
        while let Some(row) = rows.next()? {
            let piece = column(row, 0).and_then(|part| Ok((part, column(row, 1)?)));
            pieces.push(piece.map_err(|reason| damaged(format!("(what is kept beside it) {reason}")))?);
        }
        if at >= self.covered {
            let found = chain::beside(pieces.iter().map(|(part, text)| (part.as_str(), text.as_str())));
            if stored.transpose().map_err(damaged)?.flatten() != found {
                let reason = "has something else beside it than what was stored".to_owned();
                return Err(damaged(reason));
            }
        }
        Ok(pieces)
    }
}

/// A column of a row, or what is wrong with it, after "event 7 ".
pub(super) fn column<T: FromSql>(row: &Row<'_>, at: usize) -> Result<T, String> {
    let value = row.get_ref(at).map_err(|error| format!("cannot be read: {error}"))?;
    T::column_result(value).map_err(|error| match value {
        ValueRef::Text(_) => format!("is not UTF-8: {error}"),
        _ => format!("has a value of the wrong type: {error}"),
    })
}
