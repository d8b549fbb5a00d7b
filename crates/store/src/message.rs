//! The messages of a session, as a reader wants them.

use std::path::Path;

use serde_json::Value;

use crate::chain::{Sidechains, conversation};
use crate::entry::{ChainEntry, ChainKind, Entry};
use crate::error::{Problem, StoreError};
use crate::id::{EntryId, SessionId};
use crate::lines;
use crate::store::Store;

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionMessage {
    /// Who wrote it.
    pub kind: MessageKind,
    /// The id of its entry.
    pub uuid: EntryId,
    /// The session that it belongs to.
    pub session_id: SessionId,
    /// The message as the model's API has it; for a system message the whole rest of its entry.
    pub message: Value,
    /// When, in ISO 8601.
    pub timestamp: Option<String>,
    /// For a message of a subagent: the tool call that started it.
    pub parent_tool_use_id: Option<String>,
    /// For a message of a subagent's subagent: the subagent.
    pub parent_agent_id: Option<String>,
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// The user, or a tool.
    User,
    /// The model.
    Assistant,
    /// The CLI.
    System,
}

/// Which messages to read.
#[derive(Clone, Debug, Default)]
pub struct MessageOptions {
    /// Whether what the CLI says is read, too.
    pub system: bool,
    /// So many of the first are left out.
    pub offset: usize,
    /// At most so many.
    pub limit: Option<usize>,
}

impl SessionMessage {
    /// The text of the message: its own if it is plain, else that of its text blocks, a line each.
    pub fn text(&self) -> String {
        match self.message.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(blocks)) => {
                let texts: Vec<&str> = blocks.iter().filter_map(block_text).collect();
                texts.join("\n")
            }
            _ => String::new(),
        }
    }
}

impl Store {
    /// The conversation of a session, oldest message first, and what could not be read.
    pub fn messages(
        &self,
        id: SessionId,
        project: Option<&Path>,
        options: &MessageOptions,
    ) -> Result<(Vec<SessionMessage>, Vec<Problem>), StoreError> {
        let (entries, problems) = read_chain(&self.transcript(id, project)?)?;
        Ok((visible(id, entries, Sidechains::Left, options), problems))
    }
}

/// All entries of a file that can be part of a conversation, in the order of the file.
pub(crate) fn read_chain(path: &Path) -> Result<(Vec<ChainEntry>, Vec<Problem>), StoreError> {
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    lines::read(path, &mut problems, |line| {
        if let Entry::Chain(entry) = Entry::decode(line).map_err(|error| error.to_string())? {
            entries.push(*entry);
        }
        Ok(())
    })?;
    Ok((entries, problems))
}

pub(crate) fn visible(
    id: SessionId,
    entries: Vec<ChainEntry>,
    sidechains: Sidechains,
    options: &MessageOptions,
) -> Vec<SessionMessage> {
    let order = conversation(&entries, sidechains);
    let mut entries: Vec<Option<ChainEntry>> = entries.into_iter().map(Some).collect();
    let messages = order.into_iter().filter_map(|at| {
        let entry = entries.get_mut(at)?.take()?;
        let kind = match entry.kind {
            ChainKind::User => MessageKind::User,
            ChainKind::Assistant => MessageKind::Assistant,
            ChainKind::System if options.system => MessageKind::System,
            ChainKind::System | ChainKind::Attachment | ChainKind::Progress => return None,
        };
        let hidden = entry.is_meta
            || entry.team_name.is_some()
            || (entry.is_sidechain && sidechains == Sidechains::Left);
        (!hidden).then(|| SessionMessage {
            kind,
            uuid: entry.uuid,
            session_id: id,
            message: entry.message.unwrap_or(Value::Object(entry.extra)),
            timestamp: entry.timestamp,
            parent_tool_use_id: None,
            parent_agent_id: None,
        })
    });
    messages.skip(options.offset).take(options.limit.unwrap_or(usize::MAX)).collect()
}

/// The first text of a message, whichever of its two forms the content has.
pub(crate) fn first_text(message: &Value) -> Option<&str> {
    match message.get("content")? {
        Value::String(text) => Some(text),
        Value::Array(blocks) => blocks.iter().find_map(block_text),
        _ => None,
    }
}

fn block_text(block: &Value) -> Option<&str> {
    (block.get("type")?.as_str()? == "text").then_some(block.get("text")?.as_str()?)
}
