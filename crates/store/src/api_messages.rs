//! The conversation of a transcript as the model's API wants it.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::entry::{ChainEntry, ChainKind};

/// What a tool call came to whose result was never written.
const NO_RESULT: &str = "The session ended before this tool call did: there is no result.";

/// The messages of these entries. Blocks of one answer are one message again, and so are neighbours of one role; a call
/// without a result gets one that says so, and a result without a call is left out: the API refuses both.
pub(crate) fn api_messages(entries: &[ChainEntry]) -> Vec<Value> {
    let mut messages: Vec<Message> = Vec::new();
    for entry in entries {
        let Some((role, blocks)) = spoken(entry) else { continue };
        match messages.last_mut() {
            Some(last) if last.role == role => last.blocks.extend(blocks),
            _ => messages.push(Message { role, blocks }),
        }
    }
    paired(messages)
        .into_iter()
        .filter(|message| !message.blocks.is_empty())
        .map(Message::into_value)
        .collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

struct Message {
    role: Role,
    blocks: Vec<Value>,
}

impl Message {
    fn into_value(self) -> Value {
        let role = match self.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        json!({ "role": role, "content": self.blocks })
    }

    fn ids<'a>(&'a self, kind: &'a str, member: &'a str) -> impl Iterator<Item = &'a str> {
        let of_kind = move |block: &&Value| block.get("type").and_then(Value::as_str) == Some(kind);
        self.blocks.iter().filter(of_kind).filter_map(move |block| block.get(member)?.as_str())
    }
}

fn spoken(entry: &ChainEntry) -> Option<(Role, Vec<Value>)> {
    let role = match entry.kind {
        ChainKind::User => Role::User,
        ChainKind::Assistant => Role::Assistant,
        ChainKind::System | ChainKind::Attachment | ChainKind::Progress => return None,
    };
    let message = entry.message.as_ref()?;
    // What an agent says in the model's name, such as that the API failed, was never said by the model.
    let is_made_up = message.get("model").and_then(Value::as_str) == Some("<synthetic>")
        || entry.extra.get("isApiErrorMessage") == Some(&Value::Bool(true));
    if role == Role::Assistant && is_made_up {
        return None;
    }
    let blocks = match message.get("content")? {
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![json!({ "type": "text", "text": text })],
        Value::Array(blocks) => blocks.iter().filter(|block| !is_empty_text(block)).cloned().collect(),
        _ => Vec::new(),
    };
    (!blocks.is_empty()).then_some((role, blocks))
}

fn is_empty_text(block: &Value) -> bool {
    block.get("type").and_then(Value::as_str) == Some("text")
        && block.get("text").and_then(Value::as_str).is_none_or(str::is_empty)
}

/// Gives every tool call exactly one result, in the message behind it.
fn paired(messages: Vec<Message>) -> Vec<Message> {
    let mut done: Vec<Message> = Vec::new();
    for mut message in messages {
        if message.role == Role::User {
            let open = done.last().map(open_calls).unwrap_or_default();
            answer(&mut message, &open);
        } else if let Some(unanswered) = done.last().map(open_calls).filter(|open| !open.is_empty()) {
            // Two answers in a row are one, so this is an answer whose call nobody answered.
            let mut results = Message { role: Role::User, blocks: Vec::new() };
            answer(&mut results, &unanswered);
            done.push(results);
        }
        done.push(message);
    }
    if let Some(open) = done.last().map(open_calls).filter(|open| !open.is_empty()) {
        let mut results = Message { role: Role::User, blocks: Vec::new() };
        answer(&mut results, &open);
        done.push(results);
    }
    done
}

fn open_calls(message: &Message) -> Vec<String> {
    match message.role {
        Role::Assistant => message.ids("tool_use", "id").map(str::to_owned).collect(),
        Role::User => Vec::new(),
    }
}

/// Leaves the results of `open` calls, the first of each, and puts one in front for each call that has none.
fn answer(message: &mut Message, open: &[String]) {
    let mut wanted: HashSet<&str> = open.iter().map(String::as_str).collect();
    message.blocks.retain(|block| {
        block.get("type").and_then(Value::as_str) != Some("tool_result")
            || block.get("tool_use_id").and_then(Value::as_str).is_some_and(|id| wanted.remove(id))
    });
    let missing = open.iter().filter(|id| wanted.contains(id.as_str()));
    let made_up: Vec<Value> = missing
        .map(|id| json!({ "type": "tool_result", "tool_use_id": id, "content": NO_RESULT, "is_error": true }))
        .collect();
    // Results come first in their message.
    message.blocks.splice(0..0, made_up);
    message.blocks.sort_by_key(|block| block.get("type").and_then(Value::as_str) != Some("tool_result"));
}
