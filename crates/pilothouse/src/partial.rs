//! A message while it is being written.

use std::collections::BTreeMap;

use pilothouse_proto::{AgentFrame, BlockDelta, ContentBlock, MessageStreamEvent, StreamEvent, ToolUseId};

/// Puts the pieces of streamed messages together: text, thinking, and tool input as far as it has come.
///
/// Feed it every event of a turn; what it holds is the newest message of the main conversation. A message is complete
/// when [`PartialMessage::is_complete`] says so, and is replaced when the next one begins.
///
/// ```
/// # fn show(turn: &[pilothouse::proto::AgentFrame]) {
/// let mut partial = pilothouse::PartialMessage::default();
/// for frame in turn {
///     if partial.push(frame) {
///         tracing::info!(so_far = partial.text());
///     }
/// }
/// # }
/// ```
#[derive(Debug, Default, Clone, PartialEq)]
pub struct PartialMessage {
    id: Option<String>,
    blocks: BTreeMap<u64, PartialBlock>,
    complete: bool,
    text: String,
}

/// One block of a message while it is being written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PartialBlock {
    /// Text so far.
    Text(String),
    /// Thinking so far.
    Thinking(String),
    /// A tool call.
    ToolUse {
        /// Names the call.
        id: ToolUseId,
        /// The tool.
        name: String,
        /// Its input so far: JSON that may end anywhere.
        input_json: String,
    },
    /// A block that comes as a whole.
    Other(Box<ContentBlock>),
}

impl PartialMessage {
    /// Takes in a frame; true when it changed the message. Frames of subagents are left out.
    pub fn push(&mut self, frame: &AgentFrame) -> bool {
        match frame {
            AgentFrame::StreamEvent(event) if event.parent_tool_use_id.is_none() => self.push_event(event),
            _ => false,
        }
    }

    /// Takes in a stream event of whatever conversation you are following.
    pub fn push_event(&mut self, event: &StreamEvent) -> bool {
        match &event.event {
            MessageStreamEvent::MessageStart(start) => {
                *self = Self { id: Some(start.message.id.clone()), ..Self::default() };
                true
            }
            MessageStreamEvent::ContentBlockStart(start) => {
                let block = PartialBlock::begin(&start.content_block);
                if let PartialBlock::Text(text) = &block {
                    self.text.push_str(text);
                }
                self.blocks.insert(start.index, block);
                true
            }
            MessageStreamEvent::ContentBlockDelta(delta) => self.grow(delta.index, &delta.delta),
            MessageStreamEvent::MessageStop(_) => {
                self.complete = true;
                true
            }
            _ => false,
        }
    }

    /// The API's id of the message.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// All text so far, blocks joined.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All thinking so far, blocks joined.
    pub fn thinking(&self) -> String {
        let thinking = self.blocks.values().filter_map(|block| match block {
            PartialBlock::Thinking(text) => Some(text.as_str()),
            _ => None,
        });
        thinking.collect()
    }

    /// The blocks so far, in order.
    pub fn blocks(&self) -> impl Iterator<Item = &PartialBlock> {
        self.blocks.values()
    }

    /// True when the message has come to its end.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    fn grow(&mut self, index: u64, delta: &BlockDelta) -> bool {
        match delta {
            BlockDelta::Text(delta) => {
                self.text.push_str(&delta.text);
                if let PartialBlock::Text(text) = self.block(index, || PartialBlock::Text(String::new())) {
                    text.push_str(&delta.text);
                }
            }
            BlockDelta::Thinking(delta) => {
                if let PartialBlock::Thinking(text) =
                    self.block(index, || PartialBlock::Thinking(String::new()))
                {
                    text.push_str(&delta.thinking);
                }
            }
            BlockDelta::InputJson(delta) => match self.blocks.get_mut(&index) {
                Some(PartialBlock::ToolUse { input_json, .. }) => input_json.push_str(&delta.partial_json),
                _ => return false,
            },
            _ => return false,
        }
        true
    }

    /// A listener that joined late has missed the block's start, so a block is made when it is missing.
    fn block(&mut self, index: u64, make: impl FnOnce() -> PartialBlock) -> &mut PartialBlock {
        self.blocks.entry(index).or_insert_with(make)
    }
}

impl PartialBlock {
    fn begin(block: &ContentBlock) -> Self {
        match block {
            ContentBlock::Text(block) => Self::Text(block.text.clone()),
            ContentBlock::Thinking(block) => Self::Thinking(block.thinking.clone()),
            ContentBlock::ToolUse(block) | ContentBlock::ServerToolUse(block) => {
                Self::ToolUse { id: block.id.clone(), name: block.name.clone(), input_json: String::new() }
            }
            other => Self::Other(Box::new(other.clone())),
        }
    }
}

#[cfg(test)]
#[path = "partial_tests.rs"]
mod tests;
