//! A tape for people.

use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;

use super::line::{Direction, read};
use crate::printer::{BAD, BOLD, DIM, NAME, Printer, one_line};

/// Longer descriptions are cut.
const WIDTH: usize = 110;

pub(crate) fn show(file: &Path, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    for line in read(file)? {
        let line = line?;
        let (arrow, style) = match line.dir {
            Direction::In => ("→", NAME),
            Direction::Out => ("←", BOLD),
            Direction::Err => ("!", BAD),
            Direction::Meta => ("·", DIM),
        };
        let text = match (&line.msg, &line.raw) {
            (Some(message), _) => describe(&serde_json::from_str(message.get())?),
            (None, Some(raw)) => raw.clone(),
            (None, None) => continue,
        };
        printer.line(format_args!(
            "{DIM}{:>8.0}{DIM:#} {style}{arrow}{style:#} {}",
            line.t,
            one_line(&text, WIDTH)
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A frame in one line: its type, and what is most telling about it.
fn describe(frame: &Value) -> String {
    let text = |path: &str| frame.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let kind = text("/type");
    let subtype =
        [text("/subtype"), text("/request/subtype"), text("/response/subtype"), text("/event/type")];
    let subtype = subtype.into_iter().find(|subtype| !subtype.is_empty()).unwrap_or_default();
    let name = if subtype.is_empty() { kind.to_owned() } else { format!("{kind}/{subtype}") };
    let rest = match kind {
        "user" | "assistant" => content(frame.pointer("/message/content").unwrap_or(&Value::Null)),
        "result" => text("/result").to_owned(),
        "control_request" => match text("/request/tool_name") {
            "" => text("/request/server_name").to_owned(),
            tool => format!("{tool} {}", frame.pointer("/request/input").unwrap_or(&Value::Null)),
        },
        "control_response" => text("/response/error").to_owned(),
        "stream_event" => [text("/event/delta/text"), text("/event/delta/partial_json")].concat(),
        _ => String::new(),
    };
    format!("{name} {rest}")
}

fn content(content: &Value) -> String {
    let block = |block: &Value| match block.get("type").and_then(Value::as_str).unwrap_or_default() {
        "text" => block.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        "tool_use" => {
            let name = block.get("name").and_then(Value::as_str).unwrap_or_default();
            format!("[{name} {}]", block.get("input").unwrap_or(&Value::Null))
        }
        "tool_result" => format!("[result {}]", self::content(block.get("content").unwrap_or(&Value::Null))),
        other => format!("[{other}]"),
    };
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(block).collect::<Vec<_>>().join(" "),
        _ => String::new(),
    }
}
