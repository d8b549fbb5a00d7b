use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A recorded conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tape {
    /// What happened, in order.
    pub entries: Vec<Entry>,
}

/// One line of a tape.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Milliseconds since the recording began.
    pub t: u64,
    /// What happened then.
    pub what: What,
}

/// What an [`Entry`] records.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// The CLI was sent this.
    In(Said),
    /// The CLI wrote this.
    Out(Said),
    /// The CLI wrote this line to stderr.
    Err(String),
    /// Something about the process, such as how it was started or how it exited.
    Meta(Map<String, Value>),
}

/// A line as it stands on a tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// JSON text.
    Msg(String),
    /// Anything that is not JSON.
    Raw(String),
}

/// A line of a tape that cannot be read. The lines around it can.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the tape cannot be read: {message}")]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl Tape {
    /// Reads a tape from a file. What cannot be understood is left out and reported.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn load(path: impl AsRef<Path>) -> io::Result<(Self, Vec<Problem>)> {
        Self::read(BufReader::new(File::open(path)?))
    }

    /// Reads a tape. What cannot be understood is left out and reported.
    ///
    /// # Errors
    /// When reading fails.
    pub fn read(mut from: impl BufRead) -> io::Result<(Self, Vec<Problem>)> {
        let (mut entries, mut problems) = (Vec::new(), Vec::new());
        let mut text = Vec::new();
        for line in 1.. {
            text.clear();
            if from.read_until(b'\n', &mut text)? == 0 {
                break;
            }
            if text.trim_ascii().is_empty() {
                continue;
            }
            match parse(&text) {
                Ok(entry) => entries.push(entry),
                Err(message) => problems.push(Problem { line, message }),
            }
        }
        Ok((Self { entries }, problems))
    }
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(default)]
    t: f64,
    dir: String,
    #[serde(borrow)]
    msg: Option<&'a RawValue>,
    raw: Option<String>,
}

fn parse(text: &[u8]) -> Result<Entry, String> {
    let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
    let line: Line<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let said = match (line.msg, line.raw) {
        (Some(msg), _) => Some(Said::Msg(msg.get().to_owned())),
        (None, Some(raw)) => Some(Said::Raw(raw)),
        (None, None) => None,
    };
    let what = match (line.dir.as_str(), said) {
        ("in", Some(said)) => What::In(said),
        ("out", Some(said)) => What::Out(said),
        ("err", Some(Said::Raw(text) | Said::Msg(text))) => What::Err(text),
        ("meta", _) => What::Meta(meta(text)?),
        ("in" | "out" | "err", None) => return Err("it has neither `msg` nor `raw`".into()),
        (other, _) => return Err(format!("its `dir` is `{other}`; it must be in, out, err or meta")),
    };
    // A float is cut to what fits, so a nonsensical time does no harm.
    Ok(Entry { t: line.t as u64, what })
}

fn meta(text: &str) -> Result<Map<String, Value>, String> {
    let mut fields: Map<String, Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    fields.shift_remove("t");
    fields.shift_remove("dir");
    Ok(fields)
}
