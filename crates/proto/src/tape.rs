//! Checks recorded conversations against the types.
//!
//! A tape is a file of JSON lines: `{"t": ms, "dir": "out", "msg": {…}}` for a frame the CLI wrote, `"in"` for one the
//! host wrote, `raw` instead of `msg` for a line that was no JSON, and other members for notes of the recorder.

use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::wire::count_unknown;
use crate::{AgentFrame, AgentRequest, DecodeError, HostFrame, HostRequest, Raw, Reply, decode};

/// What a check of one or more tapes found.
///
/// ```
/// use pilothouse_proto::tape::TapeReport;
///
/// let tape = r#"{"t": 1, "dir": "out", "msg": {"type": "keep_alive"}}
/// {"t": 2, "dir": "out", "msg": {"type": "from_the_future"}}"#;
/// let mut report = TapeReport::default();
/// report.check("example", tape);
/// assert_eq!((report.frames, report.unknown, report.is_clean()), (2, 1, false));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TapeReport {
    /// Frames that a CLI wrote. These decide.
    pub frames: usize,
    /// Of these, frames with a broken field.
    pub malformed: usize,
    /// Of these, frames with a type, subtype, block or other member that has no type here.
    pub unknown: usize,
    /// Of these, frames that read differently after being written from the typed value.
    pub changed: usize,
    /// Frames that a host wrote. A scenario may send odd ones on purpose, so they do not decide.
    pub host_frames: usize,
    /// Of these, malformed, unknown or changed ones.
    pub odd_host_frames: usize,
    /// Lines that were no JSON, in either direction.
    pub raw_lines: usize,
    /// What was found where, frames of hosts included.
    pub problems: Vec<TapeProblem>,
}

/// Something a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TapeProblem {
    /// The tape.
    pub tape: String,
    /// The line in it, from 1.
    pub line: usize,
    /// Whether it counts, or only a host's frame is odd.
    pub decides: bool,
    /// What it is.
    pub what: String,
}

impl TapeReport {
    /// Checks one tape and adds what it finds.
    pub fn check(&mut self, name: &str, tape: &str) {
        let mut asked: HashMap<String, String> = HashMap::new();
        for (index, line) in tape.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let entry: Entry<'_> = match serde_json::from_str(line) {
                Ok(entry) => entry,
                Err(error) => {
                    self.malformed += 1;
                    self.note(name, index, true, format!("no tape line: {error}"));
                    continue;
                }
            };
            self.raw_lines += usize::from(entry.raw.is_some());
            match (entry.dir, entry.msg) {
                ("out", Some(message)) => self.check_agent_frame(name, index, message.get(), &mut asked),
                ("in", Some(message)) => self.check_host_frame(name, index, message.get(), &mut asked),
                _ => {}
            }
        }
    }

    /// Whether every frame of a CLI is known, well formed and unchanged.
    pub fn is_clean(&self) -> bool {
        self.malformed == 0 && self.unknown == 0 && self.changed == 0
    }

    fn check_agent_frame(
        &mut self,
        name: &str,
        index: usize,
        message: &str,
        asked: &mut HashMap<String, String>,
    ) {
        self.frames += 1;
        let (frame, unknown) = count_unknown(|| decode::<AgentFrame>(message.as_bytes()));
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => {
                self.malformed += 1;
                return self.note(name, index, true, error.to_string());
            }
        };
        if unknown > 0 {
            self.unknown += 1;
            self.note(name, index, true, format!("unknown member in a frame of type `{}`", frame.tag()));
        }
        if let Some(change) = changed(message, &frame) {
            self.changed += 1;
            self.note(name, index, true, change);
        }
        match &frame {
            AgentFrame::ControlRequest(request) => {
                asked.insert(request.request_id.to_string(), request.request.tag().to_owned());
            }
            AgentFrame::ControlResponse(response) => {
                if let (Reply::Success(reply), Some(subtype)) =
                    (&response.response, asked.get(response.request_id()))
                    && let Some(raw) = reply.response.as_ref()
                    && let Some(retyped) = HostRequest::retype_reply(subtype, raw)
                {
                    match compare_reply(raw, retyped) {
                        Some(Problem::Malformed(what)) => {
                            self.malformed += 1;
                            self.note(name, index, true, what);
                        }
                        Some(Problem::Changed(what)) => {
                            self.changed += 1;
                            self.note(name, index, true, what);
                        }
                        None => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn check_host_frame(
        &mut self,
        name: &str,
        index: usize,
        message: &str,
        asked: &mut HashMap<String, String>,
    ) {
        self.host_frames += 1;
        let (frame, unknown) = count_unknown(|| decode::<HostFrame>(message.as_bytes()));
        let problem = match &frame {
            Err(error) => Some(error.to_string()),
            Ok(frame) if unknown > 0 => Some(format!("unknown member in a host's frame `{}`", frame.tag())),
            Ok(frame) => changed(message, frame),
        };
        match &frame {
            Ok(HostFrame::ControlRequest(request)) => {
                asked.insert(request.request_id.to_string(), request.request.tag().to_owned());
            }
            Ok(HostFrame::ControlResponse(response)) => {
                if let (Reply::Success(reply), Some(subtype)) =
                    (&response.response, asked.get(response.request_id()))
                    && let Some(raw) = reply.response.as_ref()
                    && let Some(retyped) = AgentRequest::retype_reply(subtype, raw)
                    && let Some(Problem::Malformed(what) | Problem::Changed(what)) =
                        compare_reply(raw, retyped)
                {
                    self.odd_host_frames += 1;
                    return self.note(name, index, false, what);
                }
            }
            _ => {}
        }
        if let Some(what) = problem {
            self.odd_host_frames += 1;
            self.note(name, index, false, what);
        }
    }

    fn note(&mut self, tape: &str, index: usize, decides: bool, what: String) {
        self.problems.push(TapeProblem { tape: tape.to_owned(), line: index + 1, decides, what });
    }
}

/// The two lines that `tape check` prints.
impl fmt::Display for TapeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { frames, malformed, unknown, changed, host_frames, odd_host_frames, raw_lines, .. } = self;
        writeln!(
            f,
            "frames {frames}, malformed {malformed}, unknown {unknown}, changed by re-encoding {changed}"
        )?;
        write!(f, "aside: host frames {host_frames}, odd {odd_host_frames}, raw lines {raw_lines}")
    }
}

impl fmt::Display for TapeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let aside = if self.decides { "" } else { " (host)" };
        write!(f, "{}:{}{aside}: {}", self.tape, self.line, self.what)
    }
}

#[derive(Deserialize)]
struct Entry<'a> {
    dir: &'a str,
    #[serde(borrow)]
    msg: Option<&'a RawValue>,
    #[serde(borrow)]
    raw: Option<&'a RawValue>,
}

enum Problem {
    Malformed(String),
    Changed(String),
}

fn compare_reply(raw: &Raw, retyped: Result<Value, DecodeError>) -> Option<Problem> {
    match retyped {
        Err(error) => Some(Problem::Malformed(format!("reply {error}"))),
        Ok(written) => {
            let read: Value = raw.decode().unwrap_or_default();
            first_difference(&read, &written)
                .map(|path| Problem::Changed(format!("reply changed at `{path}`")))
        }
    }
}

fn changed(message: &str, frame: &impl serde::Serialize) -> Option<String> {
    let read: Value = decode(message.as_bytes()).unwrap_or_default();
    match serde_json::to_string(frame).and_then(|text| serde_json::from_str(&text)) {
        Ok(written) => {
            first_difference(&read, &written).map(|path| format!("changed by re-encoding at `{path}`"))
        }
        Err(error) => Some(format!("cannot be written: {error}")),
    }
}

/// Where two values differ first; the order of keys does not matter.
fn first_difference(a: &Value, b: &Value) -> Option<String> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let missing = b.keys().find(|key| !a.contains_key(*key)).map(|key| format!(".{key}"));
            missing.or_else(|| {
                a.iter().find_map(|(key, value)| match b.get(key) {
                    Some(other) => first_difference(value, other).map(|path| format!(".{key}{path}")),
                    None => Some(format!(".{key}")),
                })
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(index, (a, b))| first_difference(a, b).map(|path| format!("[{index}]{path}"))),
        _ => (a != b).then(|| format!(" ({a} became {b})")),
    }
}
