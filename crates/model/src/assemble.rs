use std::collections::BTreeMap;

use pilothouse_proto::{
    BlockDelta, ContentBlock, ContentBlockStop, Message, MessageDelta, MessageStreamEvent, Opt, StopReason,
    Usage,
};
use serde_json::{Map, Value};

/// More blocks than any answer has; a server that opens more is broken.
const MOST_BLOCKS: usize = 4096;

/// Puts a message together from the events of its stream.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    message: Option<Message>,
    open: BTreeMap<u64, OpenBlock>,
    done: BTreeMap<u64, ContentBlock>,
    has_cut_arguments: bool,
    is_stopped: bool,
}

#[derive(Debug)]
struct OpenBlock {
    block: ContentBlock,
    arguments: String,
}

/// Why a stream makes no message.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Broken {
    #[error("the API sent {0} out of order")]
    OutOfOrder(&'static str),
    #[error("the API opened more than {MOST_BLOCKS} blocks")]
    TooManyBlocks,
    #[error("the API broke off the arguments of a tool call")]
    CutArguments,
    #[error("the API ended the stream before the message")]
    EndedEarly,
}

impl Assembler {
    /// Takes in the next event; the message around the block that it completes, if it does.
    pub(crate) fn take(&mut self, event: &MessageStreamEvent) -> Result<Option<Message>, Broken> {
        match event {
            MessageStreamEvent::MessageStart(start) => {
                if self.message.is_some() {
                    return Err(Broken::OutOfOrder("message_start"));
                }
                self.message = Some(start.message.clone());
                Ok(None)
            }
            MessageStreamEvent::ContentBlockStart(start) => {
                if self.message.is_none() || self.done.contains_key(&start.index) {
                    return Err(Broken::OutOfOrder("content_block_start"));
                }
                if self.open.len() + self.done.len() >= MOST_BLOCKS {
                    return Err(Broken::TooManyBlocks);
                }
                let opened = OpenBlock { block: start.content_block.clone(), arguments: String::new() };
                self.open.insert(start.index, opened);
                Ok(None)
            }
            MessageStreamEvent::ContentBlockDelta(delta) => {
                let open = self.open.get_mut(&delta.index);
                open.ok_or(Broken::OutOfOrder("content_block_delta"))?.grow(&delta.delta);
                Ok(None)
            }
            MessageStreamEvent::ContentBlockStop(stop) => {
                let open = self.open.remove(&stop.index).ok_or(Broken::OutOfOrder("content_block_stop"))?;
                let Some(block) = open.close() else {
                    self.has_cut_arguments = true;
                    return Ok(None);
                };
                self.done.insert(stop.index, block.clone());
                Ok(self.around(block))
            }
            MessageStreamEvent::MessageDelta(delta) => {
                let message = self.message.as_mut().ok_or(Broken::OutOfOrder("message_delta"))?;
                merge(message, delta);
                Ok(None)
            }
            MessageStreamEvent::MessageStop(_) => {
                if self.message.is_none() || !self.open.is_empty() {
                    return Err(Broken::OutOfOrder("message_stop"));
                }
                self.is_stopped = true;
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Whether the message is complete.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// The events that close what is open, for readers who saw it open.
    pub(crate) fn closing(&self) -> Vec<MessageStreamEvent> {
        let stop = |&index| {
            MessageStreamEvent::ContentBlockStop(ContentBlockStop { index, ..ContentBlockStop::default() })
        };
        self.open.keys().map(stop).collect()
    }

    /// The message's id, how many blocks are complete, and what it has used; none before it began.
    pub(crate) fn so_far(&self) -> Option<(String, u64, Option<Usage>)> {
        let message = self.message.as_ref()?;
        let blocks = u64::try_from(self.done.len()).unwrap_or(u64::MAX);
        Some((message.id.clone(), blocks, message.usage.as_deref().cloned()))
    }

    /// The whole message.
    ///
    /// # Errors
    /// When the stream ended before it, or a tool call's arguments are cut off though the model says that it was done.
    pub(crate) fn finish(self) -> Result<Message, Broken> {
        let Some(mut message) = self.message.filter(|_| self.is_stopped) else {
            return Err(Broken::EndedEarly);
        };
        let ran_out = matches!(
            message.stop_reason.as_ref(),
            Some(StopReason::MaxTokens | StopReason::ModelContextWindowExceeded | StopReason::Refusal)
        );
        if self.has_cut_arguments && !ran_out {
            return Err(Broken::CutArguments);
        }
        message.content = self.done.into_values().collect();
        Ok(message)
    }

    /// What there is of the message when the user stops it: open text and thinking as far as they came, no half tool call.
    pub(crate) fn interrupted(mut self) -> Option<Message> {
        let mut message = self.message.take()?;
        for (index, open) in self.open {
            if !matches!(open.block, ContentBlock::ToolUse(_) | ContentBlock::ServerToolUse(_)) {
                self.done.insert(index, open.block);
            }
        }
        message.content = self.done.into_values().collect();
        Some(message)
    }

    fn around(&self, block: ContentBlock) -> Option<Message> {
        let mut message = self.message.clone()?;
        message.content = vec![block];
        Some(message)
    }
}

impl OpenBlock {
    fn grow(&mut self, delta: &BlockDelta) {
        match (&mut self.block, delta) {
            (ContentBlock::Text(block), BlockDelta::Text(delta)) => block.text.push_str(&delta.text),
            (ContentBlock::Thinking(block), BlockDelta::Thinking(delta)) => {
                block.thinking.push_str(&delta.thinking)
            }
            (ContentBlock::Thinking(block), BlockDelta::Signature(delta)) => {
                block.signature = delta.signature.clone().into();
            }
            (ContentBlock::Text(block), BlockDelta::Citations(delta)) => {
                let mut citations = block.citations.take().unwrap_or_default();
                citations.push(delta.citation.clone());
                block.citations = citations.into();
            }
            (_, BlockDelta::InputJson(delta)) => self.arguments.push_str(&delta.partial_json),
            (ContentBlock::Compaction(block), BlockDelta::Compaction(delta)) => {
                block.content = delta.content.clone()
            }
            // A delta that its block has no place for is not ours to understand; the raw event was passed on.
            _ => {}
        }
    }

    /// The finished block; none when its arguments are no JSON.
    fn close(mut self) -> Option<ContentBlock> {
        let input = match &mut self.block {
            ContentBlock::ToolUse(call) | ContentBlock::ServerToolUse(call) => &mut call.input,
            ContentBlock::McpToolUse(call) => &mut call.input,
            _ => return Some(self.block),
        };
        if !self.arguments.is_empty() {
            *input = serde_json::from_str(&self.arguments).ok()?;
        }
        if input.is_null() {
            *input = Value::Object(Map::new());
        }
        Some(self.block)
    }
}

fn merge(message: &mut Message, delta: &MessageDelta) {
    let body = &delta.delta;
    overwrite(&mut message.stop_reason, &body.stop_reason);
    overwrite(&mut message.stop_sequence, &body.stop_sequence);
    overwrite(&mut message.stop_details, &body.stop_details);
    overwrite(&mut message.container, &body.container);
    overwrite(&mut message.context_management, &delta.context_management);
    if let Some(more) = delta.usage.as_ref() {
        let mut usage = message.usage.take().unwrap_or_default();
        overwrite(&mut usage.input_tokens, &more.input_tokens);
        overwrite(&mut usage.output_tokens, &more.output_tokens);
        overwrite(&mut usage.cache_creation_input_tokens, &more.cache_creation_input_tokens);
        overwrite(&mut usage.cache_read_input_tokens, &more.cache_read_input_tokens);
        overwrite(&mut usage.cache_creation, &more.cache_creation);
        overwrite(&mut usage.server_tool_use, &more.server_tool_use);
        overwrite(&mut usage.service_tier, &more.service_tier);
        overwrite(&mut usage.output_tokens_details, &more.output_tokens_details);
        overwrite(&mut usage.iterations, &more.iterations);
        message.usage = usage.into();
    }
}

fn overwrite<T: Clone>(old: &mut Opt<T>, new: &Opt<T>) {
    if let Some(new) = new.as_ref() {
        *old = Opt::Some(new.clone());
    }
}
