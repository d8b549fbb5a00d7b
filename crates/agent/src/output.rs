use std::sync::{Mutex, MutexGuard, PoisonError};

use pilothouse_link::{Agent, Handle};
use pilothouse_proto::{AgentFrame, Content, ContentBlock, TurnResult};

use crate::launch::OutputFormat;
use crate::words;

/// The one way out for frames: sent as they come, or kept for a program that wants one text at the end.
///
/// Nothing here waits, so frames leave in the order of the work. Whoever sends much lets [`Output::room`] hold it back.
#[derive(Debug)]
pub struct Output {
    host: Handle<Agent>,
    format: OutputFormat,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    frames: Vec<AgentFrame>,
    result: Option<Box<TurnResult>>,
    /// Whether the last result was a failure: it decides the exit code.
    failed: bool,
    /// Nothing is told any more, but for what `is_last_word` says.
    muted: bool,
}

impl Output {
    pub(crate) fn new(host: Handle<Agent>, format: OutputFormat) -> Self {
        Self { host, format, kept: Mutex::default() }
    }

    /// Sends a frame. When the host is gone there is nobody left to tell, and the end of the connection ends the session.
    pub fn emit(&self, frame: AgentFrame) {
        if self.kept().muted && !is_last_word(&frame) {
            return;
        }
        if let AgentFrame::Result(result) = &frame {
            let mut kept = self.kept();
            kept.failed = result.is_error.as_ref().copied().unwrap_or(false);
            if self.format != OutputFormat::StreamJson {
                kept.result = Some(result.clone());
            }
        }
        match self.format {
            OutputFormat::StreamJson => drop(self.host.send_now(&frame)),
            OutputFormat::Json { all: true } => self.kept().frames.push(frame),
            OutputFormat::Json { all: false } | OutputFormat::Text => {}
        }
    }

    /// Sends nothing any more but which commands the end took along: the process is about to end.
    pub(crate) fn mute(&self) {
        self.kept().muted = true;
    }

    /// Waits while the host is far behind with reading.
    pub async fn room(&self) {
        self.host.room().await;
    }

    /// Whether the last result was a failure.
    pub(crate) fn last_failed(&self) -> bool {
        self.kept().failed
    }

    /// What a run that does not stream prints at its end.
    pub(crate) fn printed(&self) -> Option<String> {
        let kept = self.kept();
        match self.format {
            OutputFormat::StreamJson => None,
            OutputFormat::Json { all: true } => serde_json::to_string(&kept.frames).ok(),
            OutputFormat::Json { all: false } => {
                kept.result.clone().and_then(|result| serde_json::to_string(&AgentFrame::Result(result)).ok())
            }
            OutputFormat::Text => kept.result.as_ref().map(|result| match result.failure() {
                Some(failure) => failure,
                None => result.result.as_ref().cloned().unwrap_or_default(),
            }),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A signal that ends the process ends its commands too, and of those the host hears.
fn is_last_word(frame: &AgentFrame) -> bool {
    let AgentFrame::User(frame) = frame else { return false };
    let Content::Blocks(blocks) = &frame.message.content else { return false };
    blocks.iter().any(|block| match block {
        ContentBlock::ToolResult(result) => {
            result.content.as_ref().is_some_and(|content| content.text() == words::KILLED)
        }
        _ => false,
    })
}
