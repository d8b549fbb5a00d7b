//! How a line is parsed, in three ways.

use std::borrow::Cow;

use benchutil::Run;
use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Copy)]
pub enum Parse {
    Split,
    Value,
    Typed,
}

#[derive(PartialEq)]
pub enum Seen {
    Message,
    Result,
    /// A control request, which is left to the caller.
    Request,
    Other,
}

pub fn parse_line(parse: Parse, line: &[u8], run: &mut Run) -> Seen {
    if leading_type(line) == b"control_request" {
        return Seen::Request;
    }
    match parse {
        Parse::Split => split(line, run),
        Parse::Value => value(line, run),
        Parse::Typed => typed(line, run),
    }
}

fn split(line: &[u8], run: &mut Run) -> Seen {
    match leading_type(line) {
        b"stream_event" | b"assistant" => {}
        b"result" => return Seen::Result,
        _ => return Seen::Other,
    }
    run.msgs += 1;
    run.text_bytes += line.len() as u64;
    Seen::Message
}

fn value(line: &[u8], run: &mut Run) -> Seen {
    let value: Value = serde_json::from_slice(line).expect("the fake CLI writes JSON");
    let text = match value["type"].as_str() {
        Some("stream_event") => &value["event"]["delta"]["text"],
        Some("assistant") => &value["message"]["content"][0]["text"],
        Some("result") => return Seen::Result,
        _ => return Seen::Other,
    };
    count(text.as_str(), run)
}

fn typed(line: &[u8], run: &mut Run) -> Seen {
    match leading_type(line) {
        b"stream_event" => {
            let event: StreamEvent = serde_json::from_slice(line).expect("the fake CLI writes stream events");
            count(event.event.delta.and_then(|delta| delta.text).as_deref(), run)
        }
        b"assistant" => {
            let message: Assistant =
                serde_json::from_slice(line).expect("the fake CLI writes assistant messages");
            count(message.message.content.first().and_then(|block| block.text.as_deref()), run)
        }
        b"result" => Seen::Result,
        _ => Seen::Other,
    }
}

fn count(text: Option<&str>, run: &mut Run) -> Seen {
    text.map_or(Seen::Other, |text| {
        run.text(text);
        Seen::Message
    })
}

/// The value of the leading `type` key, with which every line of the fake CLI starts.
fn leading_type(line: &[u8]) -> &[u8] {
    let rest = line.strip_prefix(br#"{"type":""#).unwrap_or_default();
    let end = memchr::memchr(b'"', &rest[..rest.len().min(64)]).unwrap_or(0);
    &rest[..end]
}

#[derive(Deserialize)]
struct StreamEvent<'a> {
    #[serde(borrow)]
    event: Event<'a>,
    #[serde(borrow, rename = "session_id")]
    _session_id: Cow<'a, str>,
    #[serde(borrow, rename = "uuid")]
    _uuid: Cow<'a, str>,
    #[serde(borrow, rename = "parent_tool_use_id")]
    _parent_tool_use_id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    _kind: Cow<'a, str>,
    #[serde(default, rename = "index")]
    _index: u32,
    #[serde(borrow)]
    delta: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Assistant<'a> {
    #[serde(borrow)]
    message: Message<'a>,
    #[serde(borrow, rename = "session_id")]
    _session_id: Cow<'a, str>,
    #[serde(borrow, rename = "parent_tool_use_id")]
    _parent_tool_use_id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, rename = "id")]
    _id: Cow<'a, str>,
    #[serde(borrow, rename = "model")]
    _model: Cow<'a, str>,
    #[serde(borrow)]
    content: Vec<Text<'a>>,
}

/// A delta or a content block as one struct of optional fields: nothing is buffered, unlike in a tagged enum.
#[derive(Deserialize)]
struct Text<'a> {
    #[serde(borrow, rename = "type")]
    _kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}
