//! The transcript of a conversation, written as it happens.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pilothouse_proto::{AgentFrame, Message, ToolUseId, TranscriptMirror, Uuid};
use pilothouse_store::{EntryId, NewEntry, Transcript};
use serde_json::{Map, Value, json};

use crate::output::Output;

/// Writes one transcript. A line that cannot be written is reported once and costs nothing else.
#[derive(Clone, Debug)]
pub struct Recorder {
    shared: Arc<Mutex<Recording>>,
}

#[derive(Debug)]
struct Recording {
    transcript: Transcript,
    /// The entries that tool results hang on.
    calls: HashMap<ToolUseId, EntryId>,
    failed: bool,
}

impl Recorder {
    /// Writes to this transcript.
    pub fn new(transcript: Transcript) -> Self {
        let recording = Recording { transcript, calls: HashMap::new(), failed: false };
        Self { shared: Arc::new(Mutex::new(recording)) }
    }

    /// Writes the transcript of a subagent, beside this one.
    pub(crate) fn subagent(&self, agent: &str, meta: &Map<String, Value>) -> Self {
        self.with(|transcript| match transcript.subagent(agent, meta) {
            Ok(own) => Self::new(own),
            Err(error) => {
                tracing::error!(%error, "a subagent works without a transcript");
                Self::new(Transcript::unwritten(transcript.session(), transcript.stamp_mut().clone()))
            }
        })
    }

    /// Looks at or changes the transcript.
    pub fn with<T>(&self, look: impl FnOnce(&mut Transcript) -> T) -> T {
        look(&mut self.lock().transcript)
    }

    /// Goes on in another transcript.
    pub fn switch(&self, transcript: Transcript) {
        let mut recording = self.lock();
        recording.transcript = transcript;
        recording.calls.clear();
    }

    /// One block of the model's answer.
    pub(crate) fn assistant(
        &self,
        message: &Message,
        uuid: &Uuid,
        timestamp: &str,
        request_id: Option<&str>,
    ) {
        let Ok(value) = serde_json::to_value(message) else { return };
        let mut entry = NewEntry::assistant(value).with_id(uuid.as_str()).at(timestamp);
        if let Some(id) = request_id {
            entry = entry.with("requestId", id);
        }
        let mut recording = self.lock();
        if let Some(id) = recording.append(entry) {
            for call in message.content.iter().filter_map(|block| block.as_tool_use()) {
                recording.calls.insert(call.id.clone(), id.clone());
            }
        }
    }

    /// Something in the user's name: a prompt, or what the session says itself (`meta`).
    pub(crate) fn user(&self, content: Value, uuid: &Uuid, timestamp: &str, more: Map<String, Value>) {
        let message = json!({"role": "user", "content": content});
        let mut entry = NewEntry::user(message).with_id(uuid.as_str()).at(timestamp);
        for (name, value) in more {
            entry = entry.with(&name, value);
        }
        self.lock().append(entry);
    }

    /// The result of a tool call.
    pub(crate) fn tool_result(
        &self,
        call: &ToolUseId,
        block: Value,
        structured: Value,
        uuid: &Uuid,
        timestamp: &str,
    ) {
        let message = json!({"role": "user", "content": [block]});
        let mut entry =
            NewEntry::user(message).with_id(uuid.as_str()).at(timestamp).with("toolUseResult", structured);
        let mut recording = self.lock();
        if let Some(made_by) = recording.calls.get(call).cloned() {
            entry = entry.result_of(made_by);
        }
        recording.append(entry);
    }

    /// Any other entry.
    pub fn entry(&self, entry: NewEntry) {
        self.lock().append(entry);
    }

    /// What was asked last, for lists of sessions.
    pub(crate) fn last_prompt(&self, prompt: &str) {
        let mut recording = self.lock();
        let noted = recording.transcript.last_prompt(prompt);
        recording.check(noted);
    }

    /// A line beside the conversation.
    pub fn note(&self, kind: &str, members: Map<String, Value>) {
        let mut recording = self.lock();
        let noted = recording.transcript.note(kind, members);
        recording.check(noted);
    }

    /// Sends the host the lines that were written since the last time, if it wants them.
    pub fn mirror(&self, output: &Output) {
        let Some(mirrored) = self.lock().transcript.take_mirrored() else { return };
        let frame = TranscriptMirror {
            file_path: mirrored.path.display().to_string(),
            entries: mirrored.entries,
            ..TranscriptMirror::default()
        };
        output.emit(AgentFrame::TranscriptMirror(Box::new(frame)));
    }

    fn lock(&self) -> MutexGuard<'_, Recording> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recording {
    fn append(&mut self, entry: NewEntry) -> Option<EntryId> {
        let appended = self.transcript.append(entry);
        self.check(appended)
    }

    fn check<T>(&mut self, written: Result<T, pilothouse_store::StoreError>) -> Option<T> {
        match written {
            Ok(written) => Some(written),
            Err(error) => {
                if !std::mem::replace(&mut self.failed, true) {
                    tracing::error!(%error, "the transcript cannot be written; the session goes on without");
                }
                None
            }
        }
    }
}
