//! The record of a scenario: one JSON object per event, in the format of the tapes.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use crate::redact::Redaction;

/// Collects what happens. Rows are redacted as they come, because some are too large to keep whole.
#[derive(Debug)]
pub(crate) struct Record {
    start: Instant,
    redaction: Redaction,
    rows: Mutex<Vec<Value>>,
}

impl Record {
    pub(crate) fn new(redaction: Redaction) -> Record {
        Record { start: Instant::now(), redaction, rows: Mutex::default() }
    }

    /// What the host wrote.
    pub(crate) fn sent(&self, message: &Value) {
        self.add(json!({"dir": "in", "msg": message}));
    }

    /// A line the host wrote that need not be JSON.
    pub(crate) fn sent_raw(&self, line: &str) {
        self.add(json!({"dir": "in", "raw": line}));
    }

    /// What the CLI wrote.
    pub(crate) fn received(&self, message: &Value) {
        self.add(json!({"dir": "out", "msg": message}));
    }

    /// A line of the CLI that is no JSON.
    pub(crate) fn received_raw(&self, line: &str) {
        self.add(json!({"dir": "out", "raw": line}));
    }

    /// A line of the CLI's stderr.
    pub(crate) fn stderr(&self, line: &str) {
        // Code frames show the source of the program that crashed; that is not ours to keep.
        let frame =
            line.trim_start().split_once(" | ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        let text = if frame || line.contains("$bunfs") { "(source excerpt removed)" } else { line };
        self.add(json!({"dir": "err", "raw": text}));
    }

    /// Something about the process or its surroundings.
    pub(crate) fn noted(&self, note: Value) {
        let mut row = Map::from_iter([("dir".to_owned(), json!("meta"))]);
        if let Value::Object(fields) = note {
            row.extend(fields);
        }
        self.add(Value::Object(row));
    }

    /// All rows so far.
    pub(crate) fn rows(&self) -> Vec<Value> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes the rows as a tape.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        save(path, &self.rows())
    }

    /// The comparable form of a value that is recorded elsewhere.
    pub(crate) fn redacted(&self, value: &Value) -> Value {
        self.redaction.apply(value)
    }

    fn add(&self, row: Value) {
        let milliseconds = self.start.elapsed().as_millis() as u64;
        let mut timed = Map::from_iter([("t".to_owned(), json!(milliseconds))]);
        if let Value::Object(fields) = self.redaction.apply(&row) {
            timed.extend(fields);
        }
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).push(Value::Object(timed));
    }
}

/// Writes rows, one JSON object per line.
pub(crate) fn save(path: &Path, rows: &[Value]) -> Result<()> {
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    Ok(fs_err::write(path, text)?)
}

/// Reads a tape.
pub(crate) fn load(path: &Path) -> Result<Vec<Value>> {
    let text = fs_err::read_to_string(path)?;
    let rows = text.lines().map(serde_json::from_str).collect::<Result<_, _>>();
    rows.with_context(|| format!("{} is no tape", path.display()))
}
