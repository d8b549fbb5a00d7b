//! A tape for people.

use std::path::Path;
use std::process::ExitCode;

use pilothouse_link::tape::{Entry, Said, What};
use serde_json::Value;

use super::read;
use crate::printer::{BAD, BOLD, DIM, NAME, Printer, one_line, plain};

/// Longer descriptions are cut.
const WIDTH: usize = 110;

pub(crate) fn show(file: &Path, printer: &mut Printer) -> anyhow::Result<ExitCode> {
    let (tape, problems) = read::tape(file)?;
    for Entry { t, what } in &tape.entries {
        let (arrow, style, text) = match what {
            What::In(said) => ("→", NAME, describe(said)),
            What::Out(said) => ("←", BOLD, describe(said)),
            What::Err(text) => ("!", BAD, text.clone()),
            What::Meta(fields) => ("·", DIM, Value::from(fields.clone()).to_string()),
        };
        printer
            .line(format_args!("{DIM}{t:>8}{DIM:#} {style}{arrow}{style:#} {}", one_line(&text, WIDTH)))?;
    }
    for problem in &problems {
        printer.warning(plain(&problem.to_string()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(said: &Said) -> String {
    match said {
        Said::Raw(text) => text.clone(),
        Said::Msg(text) => {
            serde_json::from_str(text).map_or_else(|_| text.clone(), |frame| describe_frame(&frame))
        }
    }
}

/// A frame in one line: its type, and what is most telling about it.
fn describe_frame(frame: &Value) -> String {
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
