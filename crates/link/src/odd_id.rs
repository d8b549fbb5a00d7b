//! Requests whose id is no text, or that have none. CLIs carry them out, and answer with whatever stood there.
//!
//! Everything here knows requests by an id that is text, so such a request gets one for as long as it is open.

use std::collections::BTreeMap;

use bytes::Bytes;
use pilothouse_proto::Opt;
use pilothouse_proto::control::ReplyId;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// What no other id begins with.
const MARK: char = '\0';

/// The line of a request without an id that is text, with one that is; `None` for any other line. The number tells such
/// requests apart.
pub(crate) fn named(raw: &[u8], number: u64) -> Option<Bytes> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(raw).ok()?;
    let own = fields.get("request_id").map_or("", |id| id.get());
    if fields.get("type")?.get() != "\"control_request\"" || own.starts_with('"') {
        return None;
    }
    let id = format!("{MARK}{number}{MARK}{own}");
    let mut line: Map<String, Value> = serde_json::from_slice(raw).ok()?;
    line.insert("request_id".to_owned(), id.into());
    serde_json::to_vec(&line).ok().map(Bytes::from)
}

/// The id that a request came with, for a frame that names the request: nothing if it had none.
pub fn reply_id(id: &str) -> Opt<ReplyId> {
    let Some((_, own)) = id.strip_prefix(MARK).and_then(|id| id.split_once(MARK)) else {
        return Opt::Some(id.into());
    };
    match serde_json::from_str::<Value>(own) {
        Ok(Value::Null) => Opt::Null,
        Ok(own) => Opt::Some(ReplyId::Other(own)),
        Err(_) => Opt::Absent,
    }
}

/// An answer, with the id that its request came with.
pub(crate) fn restored(id: &str, line: Vec<u8>) -> Vec<u8> {
    let Some((_, own)) = id.strip_prefix(MARK).and_then(|id| id.split_once(MARK)) else { return line };
    let Ok(mut answer) = serde_json::from_slice::<Value>(&line) else { return line };
    if let Some(response) = answer.get_mut("response").and_then(Value::as_object_mut) {
        match serde_json::from_str::<Value>(own) {
            Ok(own) => drop(response.insert("request_id".to_owned(), own)),
            Err(_) => drop(response.shift_remove("request_id")),
        }
    }
    let mut line = answer.to_string().into_bytes();
    line.push(b'\n');
    line
}
