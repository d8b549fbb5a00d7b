use std::time::Duration;

use pilothouse_proto::{AssistantError, Message, MessageStreamEvent, Usage};

use crate::failure::ApiFailure;

/// What happens while a model answers. The last event of a [`Reply`](crate::Reply) is `Done`, `Failed` or `Stopped`, and only the last.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A piece of the answer, as the API streams it. An answer that came in one piece has none of these.
    Stream {
        /// The event.
        event: Box<MessageStreamEvent>,
        /// On the first event of a message: how long it took to come.
        first_after: Option<Duration>,
    },
    /// A block is complete: the message with this block alone, its stop reason and usage as known so far.
    Block {
        /// The message around the one block.
        message: Box<Message>,
        /// The API's id of the request.
        request_id: Option<String>,
    },
    /// What came so far is void, because the stream broke off: another attempt starts anew, without a word to the user.
    /// Its open blocks were closed before; readers of the stream are still owed a `message_stop`.
    Discarded {
        /// The message that broke off.
        message_id: String,
        /// How many of its blocks were complete, and given out as [`Event::Block`].
        blocks: u64,
        /// What it had used.
        usage: Option<Box<Usage>>,
    },
    /// An attempt failed; after the delay there is another one.
    Retry(Retry),
    /// From here on another model answers.
    Fallback {
        /// The model that was asked.
        from: String,
        /// The model that answers.
        to: String,
        /// Why: the class of the failure.
        trigger: AssistantError,
    },
    /// The answer is complete.
    Done(Box<Answer>),
    /// There is no answer.
    Failed(Box<ApiFailure>),
    /// The caller's token fired; this much had come of the message.
    Stopped(Option<Box<Message>>),
}

/// A failed attempt that is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Which retry this will be, from 1.
    pub attempt: u32,
    /// How many there can be.
    pub max_retries: u32,
    /// How long the model waits before it.
    pub delay: Duration,
    /// The HTTP status; none when the connection failed.
    pub status: Option<u16>,
    /// The kind of failure.
    pub error: AssistantError,
}

/// A complete answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The whole message, with its stop reason and final usage.
    pub message: Message,
    /// The API's id of the request.
    pub request_id: Option<String>,
    /// How long the successful attempt took.
    pub duration: Duration,
    /// How long all attempts took, with the waits between them.
    pub duration_with_retries: Duration,
}
