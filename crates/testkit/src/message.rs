//! A scripted answer in the two shapes of the Messages API: one JSON message, or its stream of events.

use serde_json::{Value, json};

use crate::turn::{Block, Turn};

/// One content block of a message, with what its stream needs.
pub(crate) struct Part {
    /// The finished block.
    pub(crate) whole: Value,
    /// The block as `content_block_start` shows it.
    start: Value,
    /// The deltas that lead from `start` to `whole`.
    deltas: Vec<Value>,
}

/// An answer, ready to be sent either way.
pub(crate) struct Message {
    head: Value,
    stop_reason: String,
    input_tokens: u64,
    output_tokens: u64,
    pub(crate) parts: Vec<Part>,
}

impl Message {
    /// `serial` makes the ids of this message different from those of all others.
    pub(crate) fn new(model: &Value, turn: &Turn, blocks: &[Block], serial: usize) -> Message {
        let uses_tool = blocks.iter().any(|block| matches!(block, Block::Tool { .. }));
        let default_stop = if uses_tool { "tool_use" } else { "end_turn" };
        let parts = blocks
            .iter()
            .enumerate()
            .map(|(index, block)| Part::new(block, &format!("toolu_{serial:06}x{index}"), turn.chunks))
            .collect();
        Message {
            head: json!({
                "id": format!("msg_{serial:06}"), "type": "message", "role": "assistant", "model": model,
            }),
            stop_reason: turn.stop_reason.clone().unwrap_or_else(|| default_stop.to_owned()),
            input_tokens: turn.input_tokens,
            output_tokens: turn.output_tokens,
            parts,
        }
    }

    /// The answer to a request that did not ask for a stream.
    pub(crate) fn whole(&self) -> Value {
        let content = self.parts.iter().map(|part| part.whole.clone()).collect();
        self.with_content(content, Value::from(self.stop_reason.as_str()), self.output_tokens)
    }

    /// The event that opens the stream.
    pub(crate) fn opening(&self) -> Value {
        let message = self.with_content(Vec::new(), Value::Null, 1);
        json!({"type": "message_start", "message": message})
    }

    /// The events that close the stream.
    pub(crate) fn closing(&self) -> [Value; 2] {
        [
            json!({
                "type": "message_delta",
                "delta": {"stop_reason": self.stop_reason, "stop_sequence": null},
                "usage": {"output_tokens": self.output_tokens},
            }),
            json!({"type": "message_stop"}),
        ]
    }

    fn with_content(&self, content: Vec<Value>, stop_reason: Value, output_tokens: u64) -> Value {
        let mut message = self.head.clone();
        message["content"] = Value::Array(content);
        message["stop_reason"] = stop_reason;
        message["stop_sequence"] = Value::Null;
        message["usage"] = json!({
            "input_tokens": self.input_tokens, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0, "output_tokens": output_tokens, "service_tier": "standard",
        });
        message
    }
}

impl Part {
    fn new(block: &Block, tool_use_id: &str, chunks: usize) -> Part {
        match block {
            Block::Text(text) => Part {
                whole: json!({"type": "text", "text": text}),
                start: json!({"type": "text", "text": ""}),
                deltas: cut(text, chunks).map(|text| json!({"type": "text_delta", "text": text})).collect(),
            },
            Block::Thinking(text) => {
                let signature = "c2ln";
                let mut deltas: Vec<Value> = cut(text, chunks)
                    .map(|text| json!({"type": "thinking_delta", "thinking": text}))
                    .collect();
                deltas.push(json!({"type": "signature_delta", "signature": signature}));
                Part {
                    whole: json!({"type": "thinking", "thinking": text, "signature": signature}),
                    start: json!({"type": "thinking", "thinking": "", "signature": ""}),
                    deltas,
                }
            }
            // It comes whole, with the event that opens it.
            Block::RedactedThinking(data) => {
                let whole = json!({"type": "redacted_thinking", "data": data});
                Part { start: whole.clone(), whole, deltas: Vec::new() }
            }
            Block::Tool { name, input } => {
                let text = input.to_string();
                Part {
                    whole: json!({"type": "tool_use", "id": tool_use_id, "name": name, "input": input}),
                    start: json!({"type": "tool_use", "id": tool_use_id, "name": name, "input": {}}),
                    deltas: cut(&text, chunks)
                        .map(|text| json!({"type": "input_json_delta", "partial_json": text}))
                        .collect(),
                }
            }
        }
    }

    /// The event that opens this block.
    pub(crate) fn opening(&self, index: usize) -> Value {
        json!({"type": "content_block_start", "index": index, "content_block": self.start})
    }

    /// The events that fill it.
    pub(crate) fn deltas(&self, index: usize) -> impl Iterator<Item = Value> {
        self.deltas
            .iter()
            .map(move |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}))
    }

    /// The event that closes it.
    pub(crate) fn closing(&self, index: usize) -> Value {
        json!({"type": "content_block_stop", "index": index})
    }
}

/// Cuts `text` into about `chunks` pieces of whole characters, at least one piece even when it is empty.
fn cut(text: &str, chunks: usize) -> impl Iterator<Item = String> {
    let characters: Vec<char> = text.chars().collect();
    let size = characters.len().div_ceil(chunks.max(1)).max(1);
    let mut pieces: Vec<String> = characters.chunks(size).map(|piece| piece.iter().collect()).collect();
    if pieces.is_empty() {
        pieces.push(String::new());
    }
    pieces.into_iter()
}
