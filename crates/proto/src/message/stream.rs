use serde_json::{Map, Number, Value};

use super::{ContentBlock, Message, StopReason, Usage};
use crate::wire::{Opt, SessionId, ToolUseId, Uuid, record, union};

record! {
    /// One event of an answer while it is being written; only with `--include-partial-messages`.
    pub struct StreamEvent {
        /// The API's event.
        event: MessageStreamEvent,
        /// The session.
        session_id: SessionId,
        /// The tool call whose subagent writes; none for the main loop.
        parent_tool_use_id: Opt<ToolUseId>,
        /// Names this frame.
        uuid: Uuid,
        /// Time to the first token.
        ttft_ms: Opt<Number>,
        /// The prompt that this turn answers.
        user_message_uuid: Opt<String>,
        /// All prompts that the turn has consumed so far.
        user_message_uuids: Opt<Vec<String>>,
        /// Why the turn continues an earlier one.
        resume_reason: Opt<String>,
        /// The API message that the event belongs to.
        api_message_id: Opt<String>,
        /// How thinking is to be shown.
        thinking_display: Opt<String>,
        /// Blocks of a broken-off attempt, to be forgotten.
        abandoned_blocks: Opt<AbandonedBlocks>,
    }

    /// Blocks that a retry makes void.
    #[derive(Default)]
    pub struct AbandonedBlocks {
        /// The message they are part of.
        api_message_id: String,
        /// The first void block; the later ones are void too.
        from_block_index: u64,
    }

    /// A message begins.
    pub struct MessageStart {
        /// The message, still without content.
        message: Message,
    }

    /// A block begins.
    pub struct ContentBlockStart {
        /// Its place in the message.
        index: u64,
        /// The block, still empty.
        content_block: ContentBlock,
    }

    /// A block grows.
    pub struct ContentBlockDelta {
        /// Its place in the message.
        index: u64,
        /// What is added.
        delta: BlockDelta,
    }

    /// A block is finished.
    #[derive(Default)]
    pub struct ContentBlockStop {
        /// Its place in the message.
        index: u64,
    }

    /// The message as a whole changes, mostly at its end.
    pub struct MessageDelta {
        /// The changed fields.
        delta: MessageDeltaBody,
        /// Tokens so far.
        usage: Opt<Usage>,
        /// What the API dropped from the context; shape undeclared.
        context_management: Opt<Box<Value>>,
    }

    /// The fields of a message that change at its end.
    #[derive(Default)]
    pub struct MessageDeltaBody {
        /// Why the model stopped.
        stop_reason: Opt<StopReason>,
        /// The sequence that stopped it.
        stop_sequence: Opt<String>,
        /// More about the stop reason; shape undeclared.
        stop_details: Opt<Box<Value>>,
        /// The API's container; shape undeclared.
        container: Opt<Box<Value>>,
    }

    /// The message is finished.
    #[derive(Default)]
    pub struct MessageStop {}

    /// Keeps the API connection open.
    #[derive(Default)]
    pub struct Ping {}

    /// The API stream failed.
    #[derive(Default)]
    pub struct StreamError {
        /// The error as the API sends it.
        error: Opt<Map<String, Value>>,
    }

    /// More text.
    #[derive(Default)]
    pub struct TextDelta {
        /// The text.
        text: String,
    }

    /// More of a tool's arguments.
    #[derive(Default)]
    pub struct InputJsonDelta {
        /// A piece of JSON text; only all pieces together parse.
        partial_json: String,
    }

    /// A citation.
    #[derive(Default)]
    pub struct CitationsDelta {
        /// The citation as the API sends it.
        citation: Value,
    }

    /// More reasoning.
    #[derive(Default)]
    pub struct ThinkingDelta {
        /// The reasoning.
        thinking: String,
        /// Its size, when the text itself is withheld.
        estimated_tokens: Opt<u64>,
    }

    /// The signature of a thinking block.
    #[derive(Default)]
    pub struct SignatureDelta {
        /// The signature.
        signature: String,
    }

    /// More of a compaction summary.
    #[derive(Default)]
    pub struct CompactionDelta {
        /// The text; null when compaction failed.
        content: Option<String>,
    }
}

union! {
    /// An event of the Messages API stream.
    pub enum MessageStreamEvent by "type" {
        /// A block grows; by far the most frequent event.
        "content_block_delta" => ContentBlockDelta(ContentBlockDelta),
        /// A block begins.
        "content_block_start" => ContentBlockStart(Box<ContentBlockStart>),
        /// A block is finished.
        "content_block_stop" => ContentBlockStop(ContentBlockStop),
        /// A message begins.
        "message_start" => MessageStart(Box<MessageStart>),
        /// The message as a whole changes.
        "message_delta" => MessageDelta(Box<MessageDelta>),
        /// The message is finished.
        "message_stop" => MessageStop(MessageStop),
        /// Nothing happens.
        "ping" => Ping(Ping),
        /// The API stream failed.
        "error" => Error(StreamError),
    }

    /// What is added to a block.
    pub enum BlockDelta by "type" {
        /// Text.
        "text_delta" => Text(TextDelta),
        /// A tool's arguments.
        "input_json_delta" => InputJson(InputJsonDelta),
        /// Reasoning.
        "thinking_delta" => Thinking(ThinkingDelta),
        /// A signature.
        "signature_delta" => Signature(SignatureDelta),
        /// A citation.
        "citations_delta" => Citations(CitationsDelta),
        /// A compaction summary.
        "compaction_delta" => Compaction(CompactionDelta),
    }
}

impl StreamEvent {
    /// The text that this event adds, if it adds text.
    pub fn text_delta(&self) -> Option<&str> {
        match &self.event {
            MessageStreamEvent::ContentBlockDelta(ContentBlockDelta {
                delta: BlockDelta::Text(delta),
                ..
            }) => Some(&delta.text),
            _ => None,
        }
    }
}
