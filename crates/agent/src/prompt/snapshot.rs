//! The system prompt as it was sent first: every later request of the conversation sends it again word for word, whoever
//! takes it up, until the conversation is compacted.

use pilothouse_store::Past;
use serde_json::{Map, Value};

use crate::session::Session;

/// The kind of line that holds it, and its one member.
const LINE: &str = "prompt-snapshot";
const MEMBER: &str = "systemPrompt";

/// What was sent, and whether the transcript has it.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    text: String,
    written: bool,
}

/// What an earlier process has sent. A fork has to write it down anew.
pub(crate) fn left_by(past: &Past, forks: bool) -> Option<Snapshot> {
    let text = past.notes.get(LINE)?.get(MEMBER)?.as_str()?.to_owned();
    Some(Snapshot { text, written: !forks })
}

/// The words to send again; none when they are to be written anew.
pub(crate) fn kept(session: &Session) -> Option<String> {
    session.snapshot().filter(|_| is_wanted(session)).map(|snapshot| snapshot.text)
}

/// Keeps what is about to be sent, unless something was kept before.
pub(crate) fn keep(session: &Session, words: impl FnOnce() -> String) {
    if !is_wanted(session) {
        return;
    }
    let mut snapshot = session.snapshot().unwrap_or_else(|| Snapshot { text: words(), written: false });
    if !snapshot.written {
        session
            .recorder()
            .note(LINE, Map::from_iter([(MEMBER.to_owned(), Value::from(snapshot.text.as_str()))]));
        snapshot.written = true;
        session.set_snapshot(Some(snapshot));
    }
}

/// Writes the prompt anew from here on.
pub(crate) fn forget(session: &Session) {
    if session.snapshot().is_some() {
        session.recorder().note(LINE, Map::new());
        session.set_snapshot(None);
    }
}

/// Goes on with it in another transcript.
pub(crate) fn carry_on(session: &Session) {
    let unwritten = session.snapshot().map(|snapshot| Snapshot { written: false, ..snapshot });
    session.set_snapshot(unwritten);
}

fn is_wanted(session: &Session) -> bool {
    let host = session.initialize().system_prompt_snapshot.as_ref().copied();
    session.launch().snapshot.or(host).unwrap_or(true)
}
