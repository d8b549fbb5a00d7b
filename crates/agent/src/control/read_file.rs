//! `read_file`: the host reads what the model could read.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use pilothouse_link::{Agent, Responder};
use pilothouse_proto::control::ReadFile;
use pilothouse_rules::{Behavior, ToolCall};
use serde_json::{Map, json};

use crate::session::Session;

/// The most of a file that is read unless the host asks for less.
const LARGEST_READ: u64 = 1 << 20;

/// Reads a file for the host, if the model could read it without asking.
pub(super) async fn answer(session: &Session, read: &ReadFile, responder: Responder<Agent>) {
    let path = session.workspace().resolve(&read.path);
    // What is not there is not told apart from what may not be seen.
    let denied = || format!("read denied: {}", read.path);
    if read.path.is_empty() || !may_read(session, &path) {
        return responder.error(denied());
    }
    let most = read.max_bytes.as_ref().copied().filter(|most| *most > 0).unwrap_or(LARGEST_READ);
    let Ok((bytes, truncated)) = read_start(&path, most.min(LARGEST_READ)).await else {
        return responder.error(denied());
    };
    let mut answer = json!({"absPath": path, "requested_path": read.path});
    if read.encoding.as_ref().is_some_and(|encoding| encoding.as_str() == "base64") {
        answer["contents"] = BASE64.encode(&bytes).into();
        answer["encoding"] = "base64".into();
    } else {
        // A character that the limit cuts in two is left out.
        let whole = match std::str::from_utf8(&bytes) {
            Err(error) if truncated && error.error_len().is_none() => error.valid_up_to(),
            _ => bytes.len(),
        };
        let text = String::from_utf8_lossy(bytes.get(..whole).unwrap_or_default());
        answer["lossy"] = matches!(text, std::borrow::Cow::Owned(_)).into();
        answer["contents"] = text.into();
    }
    if truncated {
        answer["truncated"] = true.into();
    }
    responder.success(&answer);
}

/// Whether the model could read it and nobody would be asked.
fn may_read(session: &Session, path: &Path) -> bool {
    let path = path.display().to_string();
    let engine = session.engine();
    let confined = session.launch().restricted && !engine.context().is_working_path(&path);
    let call = ToolCall::new("Read", Map::from_iter([("file_path".to_owned(), path.into())]));
    !confined && engine.decide(&call).behavior == Behavior::Allow
}

async fn read_start(path: &Path, most: u64) -> std::io::Result<(Vec<u8>, bool)> {
    let path = path.to_owned();
    let read = move || {
        use std::io::Read as _;
        let kind = fs_err::metadata(&path)?;
        if !kind.is_file() {
            return Err(std::io::Error::other(format!("{} is no plain file", path.display())));
        }
        let mut bytes = Vec::new();
        fs_err::File::open(&path)?.take(most).read_to_end(&mut bytes)?;
        Ok((bytes, kind.len() > most))
    };
    tokio::task::spawn_blocking(read).await.map_err(std::io::Error::other)?
}
