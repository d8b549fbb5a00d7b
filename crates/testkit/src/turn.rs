//! What the scripted API says: one [`Turn`] per request of the CLI.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;

/// One content block of a scripted answer.
#[derive(Debug, Clone)]
pub enum Block {
    /// Plain text.
    Text(String),
    /// Thinking, with the signature the real API would add.
    Thinking(String),
    /// Thinking that nobody may read; this is its sealed form.
    RedactedThinking(String),
    /// A call of a tool; its id is made up when it is served.
    Tool {
        /// Name of the tool, as the API spells it.
        name: String,
        /// Its input.
        input: Value,
    },
}

/// One scripted answer of the API, with the ways in which it may go wrong.
#[derive(Debug, Clone)]
pub struct Turn {
    pub(crate) answer: Answer,
    pub(crate) when: Option<String>,
    pub(crate) times: usize,
    pub(crate) delay: Duration,
    pub(crate) gate: Option<Arc<Notify>>,
    pub(crate) chunk_delay: Duration,
    pub(crate) chunks: usize,
    pub(crate) stop_reason: Option<String>,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
}

#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Blocks { blocks: Vec<Block>, ending: Ending },
    Error { status: u16, kind: String, message: String, retry_after: Option<u64> },
    Drop,
}

/// How a streamed answer ends.
#[derive(Debug, Clone)]
pub(crate) enum Ending {
    Complete,
    /// Pings after the first block, until the client goes away.
    Hang,
    /// An SSE error event of this kind after the first block's content.
    ErrorEvent(String),
}

impl Turn {
    /// Answers with these blocks.
    pub fn blocks(blocks: impl IntoIterator<Item = Block>) -> Turn {
        Turn::new(Answer::Blocks { blocks: blocks.into_iter().collect(), ending: Ending::Complete })
    }

    /// Answers with one block of text.
    pub fn text(text: impl Into<String>) -> Turn {
        Turn::blocks([Block::Text(text.into())])
    }

    /// Calls one tool.
    pub fn tool(name: impl Into<String>, input: Value) -> Turn {
        Turn::blocks([Block::Tool { name: name.into(), input }])
    }

    /// Answers with an HTTP error, in the error body of the Messages API.
    pub fn error(status: u16) -> Turn {
        let kind = match status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        let message = format!("scripted {kind}");
        Turn::new(Answer::Error { status, kind: kind.to_owned(), message, retry_after: None })
    }

    /// Closes the connection without an answer.
    pub fn dropped() -> Turn {
        Turn::new(Answer::Drop)
    }

    /// Adds a `retry-after` header to an error.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Turn {
        if let Answer::Error { retry_after, .. } = &mut self.answer {
            *retry_after = Some(seconds);
        }
        self
    }

    /// Gives an error this kind and message instead of those that go with its status.
    #[must_use]
    pub fn error_says(mut self, new_kind: Option<&str>, new_message: Option<&str>) -> Turn {
        if let Answer::Error { kind, message, .. } = &mut self.answer {
            if let Some(new) = new_kind {
                new.clone_into(kind);
                *message = format!("scripted {new}");
            }
            if let Some(new) = new_message {
                new.clone_into(message);
            }
        }
        self
    }

    /// Never finishes: after the first block only pings follow, until the client goes away.
    #[must_use]
    pub fn hanging(self) -> Turn {
        self.ending(Ending::Hang)
    }

    /// Breaks off after the first block's content with an SSE error event, such as `overloaded_error`.
    #[must_use]
    pub fn breaking_off(self, kind: impl Into<String>) -> Turn {
        self.ending(Ending::ErrorEvent(kind.into()))
    }

    /// Taken only for a request whose last user message contains `text`; others pass it by.
    #[must_use]
    pub fn when(mut self, text: impl Into<String>) -> Turn {
        self.when = Some(text.into());
        self
    }

    /// Served this many times before the script goes on.
    #[must_use]
    pub fn times(mut self, times: usize) -> Turn {
        self.times = times;
        self
    }

    /// Waits before the first byte.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Turn {
        self.delay = delay;
        self
    }

    /// Waits for a word of the test before the first byte.
    #[must_use]
    pub fn held_by(mut self, gate: &Arc<Notify>) -> Turn {
        self.gate = Some(Arc::clone(gate));
        self
    }

    /// Cuts each block into `chunks` deltas with `pause` before each.
    #[must_use]
    pub fn chunked(mut self, chunks: usize, pause: Duration) -> Turn {
        self.chunks = chunks;
        self.chunk_delay = pause;
        self
    }

    /// Ends with this stop reason instead of `end_turn` or `tool_use`.
    #[must_use]
    pub fn stop_reason(mut self, reason: impl Into<String>) -> Turn {
        self.stop_reason = Some(reason.into());
        self
    }

    /// Reports this usage; it is what the CLI computes costs from.
    #[must_use]
    pub fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Turn {
        self.input_tokens = input_tokens;
        self.output_tokens = output_tokens;
        self
    }

    fn new(answer: Answer) -> Turn {
        Turn {
            answer,
            when: None,
            times: 1,
            delay: Duration::ZERO,
            gate: None,
            chunk_delay: Duration::ZERO,
            chunks: 2,
            stop_reason: None,
            input_tokens: 10,
            output_tokens: 5,
        }
    }

    fn ending(mut self, new: Ending) -> Turn {
        if let Answer::Blocks { ending, .. } = &mut self.answer {
            *ending = new;
        }
        self
    }
}
