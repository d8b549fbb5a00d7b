//! Whether every frame of a tape is understood.

use std::path::PathBuf;
use std::process::ExitCode;

use pilothouse_proto::control::AgentRequest;
use pilothouse_proto::{AgentFrame, ContentBlock, HostFrame, MessageStreamEvent, System, decode};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::line::{Direction, TapeLine, read};
use crate::printer::{BAD, GOOD, Printer, plain};

#[derive(Debug, Default)]
struct Counts {
    frames: usize,
    malformed: usize,
    unknown: usize,
    changed: usize,
    raw: usize,
    from_host: usize,
    odd_from_host: usize,
}

pub(crate) fn check(files: &[PathBuf], printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let mut counts = Counts::default();
    for file in files.iter().filter(|file| !file.to_string_lossy().ends_with(".api.ndjson")) {
        for (number, line) in read(file)?.enumerate() {
            check_line(&line?, &mut counts, |problem| {
                printer.note(format_args!("{}:{}: {}", file.display(), number + 1, plain(&problem)))
            })?;
        }
    }
    let Counts { frames, malformed, unknown, changed, raw, from_host, odd_from_host } = counts;
    let good = malformed == 0 && unknown == 0 && changed == 0;
    let style = if good { GOOD } else { BAD };
    printer.line(format_args!(
        "{style}frames {frames}, malformed {malformed}, unknown {unknown}, changed by re-encoding {changed}{style:#}"
    ))?;
    printer.line(format_args!("raw lines {raw}, host frames {from_host}, of these odd {odd_from_host}"))?;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn check_line(
    line: &TapeLine,
    counts: &mut Counts,
    mut tell: impl FnMut(String) -> std::io::Result<()>,
) -> std::io::Result<()> {
    counts.raw += usize::from(line.raw.is_some());
    let Some(frame) = &line.msg else { return Ok(()) };
    match line.dir {
        Direction::Out => {
            counts.frames += 1;
            match decode::<AgentFrame>(frame.get().as_bytes()) {
                Err(error) => {
                    counts.malformed += 1;
                    tell(format!("malformed: {error}"))?;
                }
                Ok(typed) => {
                    if let Some(what) = unknown(&typed) {
                        counts.unknown += 1;
                        tell(format!("unknown: {what}"))?;
                    }
                    if let Some(difference) = change(&typed, frame) {
                        counts.changed += 1;
                        tell(format!("changed by re-encoding: {difference}"))?;
                    }
                }
            }
        }
        Direction::In => {
            counts.from_host += 1;
            let odd = match decode::<HostFrame>(frame.get().as_bytes()) {
                Err(_) | Ok(HostFrame::Unknown(_)) => true,
                Ok(typed) => change(&typed, frame).is_some(),
            };
            counts.odd_from_host += usize::from(odd);
        }
        Direction::Err | Direction::Meta => {}
    }
    Ok(())
}

/// What in a frame this version has no type for.
fn unknown(frame: &AgentFrame) -> Option<String> {
    let in_blocks = |blocks: &[ContentBlock]| {
        blocks.iter().find_map(|block| match block {
            ContentBlock::Unknown(block) => Some(format!("content block {}", block.tag)),
            _ => None,
        })
    };
    match frame {
        AgentFrame::Unknown(frame) => Some(format!("frame {}", frame.tag)),
        AgentFrame::System(System::Unknown(frame)) => Some(format!("system frame {}", frame.tag)),
        AgentFrame::ControlRequest(request) => match &request.request {
            AgentRequest::Unknown(request) => Some(format!("control request {}", request.tag)),
            _ => None,
        },
        AgentFrame::StreamEvent(event) => match &event.event {
            MessageStreamEvent::Unknown(event) => Some(format!("stream event {}", event.tag)),
            _ => None,
        },
        AgentFrame::Assistant(message) => in_blocks(&message.message.content),
        AgentFrame::User(message) => in_blocks(message.message.content.blocks()),
        _ => None,
    }
}

/// Where the frame differs from what the typed value is written as; numbers and nulls count as they are written.
fn change(typed: &impl Serialize, frame: &RawValue) -> Option<String> {
    let before: Value = serde_json::from_str(frame.get()).ok()?;
    match serde_json::to_value(typed) {
        Ok(after) => difference(&before, &after, &mut String::new()),
        Err(error) => Some(format!("it cannot be written: {error}")),
    }
}

/// The first place where two values differ. Only as deep as the JSON was read, which has a limit.
fn difference(before: &Value, after: &Value, path: &mut String) -> Option<String> {
    let mut inside = |step: String, before: Option<&Value>, after: Option<&Value>| {
        let length = path.len();
        path.push_str(&step);
        let found = match (before, after) {
            (Some(before), Some(after)) => difference(before, after, path),
            (Some(_), None) => Some(format!("{path} is lost")),
            _ => Some(format!("{path} is new")),
        };
        path.truncate(length);
        found
    };
    match (before, after) {
        (Value::Object(a), Value::Object(b)) => {
            let added = b
                .iter()
                .filter(|(key, _)| !a.contains_key(*key))
                .map(|(key, value)| (key, None, Some(value)));
            let kept = a.iter().map(|(key, value)| (key, Some(value), b.get(key)));
            kept.chain(added).find_map(|(key, before, after)| inside(format!(".{key}"), before, after))
        }
        (Value::Array(a), Value::Array(b)) => {
            (0..a.len().max(b.len())).find_map(|at| inside(format!("[{at}]"), a.get(at), b.get(at)))
        }
        (a, b) if a == b => None,
        (a, b) => Some(format!("{path} is {b}, was {a}")),
    }
}
