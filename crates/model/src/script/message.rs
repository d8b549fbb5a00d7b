//! An answer of a script as the API would stream it.

use pilothouse_proto::{Message, MessageStreamEvent};
use serde_json::{Map, Value, json};

use super::format::{Block, Turn};
use super::template;
use crate::ledger::full_usage;

/// What the API puts under thinking; the real one signs, a script has nothing to sign with.
const SIGNATURE: &str = "c2NyaXB0";
const DEFAULT_CHUNKS: usize = 2;

/// An answer, ready to be streamed or given whole.
#[derive(Debug)]
pub(super) struct Spoken {
    head: Value,
    stop_reason: String,
    output_tokens: u64,
    pub(super) blocks: Vec<SpokenBlock>,
}

/// One block, with the deltas that lead to it.
#[derive(Debug)]
pub(super) struct SpokenBlock {
    whole: Value,
    start: Value,
    deltas: Vec<Value>,
}

/// What a message needs besides its turn.
pub(super) struct Circumstances<'a> {
    pub(super) id: String,
    pub(super) model: String,
    pub(super) input_tokens: u64,
    pub(super) chunks: Option<u32>,
    pub(super) lookup: &'a dyn Fn(&str) -> Option<String>,
    pub(super) tool_use_id: &'a dyn Fn(usize) -> String,
}

impl Spoken {
    pub(super) fn new(turn: &Turn, at: &Circumstances<'_>) -> Self {
        let chunks = at.chunks.map_or(DEFAULT_CHUNKS, |chunks| usize::try_from(chunks).unwrap_or(usize::MAX));
        let blocks: Vec<SpokenBlock> = turn
            .all_blocks()
            .iter()
            .enumerate()
            .map(|(index, block)| SpokenBlock::new(block, &(at.tool_use_id)(index), chunks, at.lookup))
            .collect();
        let calls = blocks.iter().any(|block| block.whole["type"] == "tool_use");
        let usual = if calls { "tool_use" } else { "end_turn" };
        let written: usize = blocks.iter().map(|block| block.whole.to_string().len()).sum();
        let usage = &turn.usage;
        let output_tokens = usage.output_tokens.unwrap_or_else(|| estimate(written));
        let head = json!({
            "id": at.id,
            "type": "message",
            "role": "assistant",
            "model": turn.model.as_ref().unwrap_or(&at.model),
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": {
                "input_tokens": usage.input_tokens.unwrap_or(at.input_tokens),
                "cache_creation_input_tokens": usage.cache_creation_input_tokens.unwrap_or(0),
                "cache_read_input_tokens": usage.cache_read_input_tokens.unwrap_or(0),
                "output_tokens": 1,
                "service_tier": "standard",
            },
        });
        let stop_reason = turn.stop_reason.clone().unwrap_or_else(|| usual.to_owned());
        Self { head, stop_reason, output_tokens, blocks }
    }

    pub(super) fn opening(&self) -> Option<MessageStreamEvent> {
        event(json!({"type": "message_start", "message": self.head}))
    }

    pub(super) fn closing(&self) -> Vec<MessageStreamEvent> {
        let delta = json!({
            "type": "message_delta",
            "delta": {"stop_reason": self.stop_reason, "stop_sequence": null},
            "usage": {"output_tokens": self.output_tokens},
        });
        [event(delta), event(json!({"type": "message_stop"}))].into_iter().flatten().collect()
    }

    /// The message in one piece.
    pub(super) fn whole(&self) -> Option<Message> {
        let mut message = self.head.clone();
        message["content"] = self.blocks.iter().map(|block| block.whole.clone()).collect();
        message["stop_reason"] = self.stop_reason.as_str().into();
        message["usage"]["output_tokens"] = self.output_tokens.into();
        message["context_management"] = Value::Null;
        let mut message: Message = serde_json::from_value(message).ok()?;
        message.usage = full_usage(&message.usage.unwrap_or_default()).into();
        Some(message)
    }
}

impl SpokenBlock {
    fn new(block: &Block, id: &str, chunks: usize, lookup: &dyn Fn(&str) -> Option<String>) -> Self {
        let filled = |text: &String| template::fill(text, lookup);
        if let Some(text) = block.say.as_ref().map(filled) {
            let deltas = cut(&text, chunks).map(|text| json!({"type": "text_delta", "text": text})).collect();
            return Self {
                whole: json!({"type": "text", "text": text}),
                start: json!({"type": "text", "text": ""}),
                deltas,
            };
        }
        if let Some(text) = block.think.as_ref().map(filled) {
            let signed = json!({"type": "signature_delta", "signature": SIGNATURE});
            let deltas = cut(&text, chunks).map(|text| json!({"type": "thinking_delta", "thinking": text}));
            return Self {
                whole: json!({"type": "thinking", "thinking": text, "signature": SIGNATURE}),
                start: json!({"type": "thinking", "thinking": "", "signature": ""}),
                deltas: deltas.chain([signed]).collect(),
            };
        }
        if let Some(name) = &block.tool {
            let id = block.id.as_deref().unwrap_or(id);
            let input = Value::Object(template::fill_map(&block.input, lookup));
            let written = input.to_string();
            let deltas =
                cut(&written, chunks).map(|text| json!({"type": "input_json_delta", "partial_json": text}));
            return Self {
                start: json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                deltas: deltas.collect(),
                whole: json!({"type": "tool_use", "id": id, "name": name, "input": input}),
            };
        }
        let raw =
            Value::Object(block.raw.as_ref().map_or_else(Map::new, |raw| template::fill_map(raw, lookup)));
        Self { whole: raw.clone(), start: raw, deltas: Vec::new() }
    }

    pub(super) fn opening(&self, index: usize) -> Option<MessageStreamEvent> {
        event(json!({"type": "content_block_start", "index": index, "content_block": self.start}))
    }

    pub(super) fn deltas(&self, index: usize) -> impl Iterator<Item = MessageStreamEvent> {
        let delta =
            move |delta| event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        self.deltas.iter().filter_map(delta)
    }

    pub(super) fn closing(&self, index: usize) -> Option<MessageStreamEvent> {
        event(json!({"type": "content_block_stop", "index": index}))
    }
}

/// About how many tokens so many bytes of text are.
pub(super) fn estimate(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

/// A raw block with a known type may lack fields; such an event is left out, as no API would send it.
fn event(event: Value) -> Option<MessageStreamEvent> {
    serde_json::from_value(event).ok()
}

/// Cuts text into about so many pieces of whole characters; at least one, be it empty.
fn cut(text: &str, chunks: usize) -> impl Iterator<Item = &str> {
    let size = text.chars().count().div_ceil(chunks.max(1)).max(1);
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let end = text.char_indices().nth(size).map_or(text.len(), |(offset, _)| offset);
        let (piece, behind) = text.split_at_checked(end)?;
        rest = (!behind.is_empty()).then_some(behind);
        Some(piece)
    })
}
