//! The end of a conversation: everything that was begun is brought to an end, and told in the order hosts expect.

use std::time::Duration;

use pilothouse_model::{Event, full_usage};
use pilothouse_proto::message::{
    ContentBlockStop, MessageDelta, MessageDeltaBody, MessageStreamEvent, StopReason, Usage,
};
use pilothouse_proto::system::InformationalLevel;
use pilothouse_proto::{ContentBlock, Extra, Message, Opt};

use super::{Talking, tell};
use crate::calls::Performed;
use crate::history::History;
use crate::machine::{End, Stop};
use crate::voice::failed_result;
use crate::words;

/// How long stopped tools and models may take before the turn ends without them.
const PATIENCE: Duration = Duration::from_secs(5);

impl Talking {
    pub(super) async fn finish(&mut self, end: End) {
        self.said.end = end;
        self.pace.over();
        let stopped = matches!(end, End::AbortedStreaming | End::AbortedTools);
        let mut cut_off = None;
        if stopped {
            cut_off = self.let_model_stop().await;
            if self.talk.stop.why().is_some() {
                self.talk.stop.told().await;
                self.talk.session.asks_nobody();
            }
        }
        self.reply = None;
        let cut_usage = cut_off
            .as_ref()
            .filter(|message| !message.content.is_empty())
            .map(|message| message.usage.as_deref().cloned().unwrap_or_default());
        // What a signal cuts off is nobody's decision: who takes the session up again finds it open.
        let ends_by_signal = self.talk.session.ending().is_cancelled();
        let mut told = self.draft.blocks as u64;
        if let Some(message) = cut_off.filter(|_| !ends_by_signal) {
            told += self.tell_cut_off(message);
        }
        match end {
            // The money is spent: what was begun is not waited for, and its results are not told.
            End::Budget => self.running.abort_all(),
            _ => self.finish_calls().await,
        }
        if end == End::AbortedTools {
            // The message was cut off after its calls, so that is what it would have stopped for.
            self.said.stop_reason.get_or_insert(StopReason::ToolUse);
        }
        if end == End::Unjudged {
            self.inform(InformationalLevel::Warning, words::TOO_MUCH_UNJUDGED.to_owned());
        }
        self.settle();
        close_open_calls(&self.talk.history);
        if stopped && self.talk.stop.why() != Some(Stop::Urgent) && !ends_by_signal {
            let text = if end == End::AbortedTools { words::INTERRUPTED_TOOLS } else { words::INTERRUPTED };
            let blocks = vec![ContentBlock::text(text)];
            self.talk.history.add_user(blocks.clone());
            if self.talk.voice.is_heard_out() {
                self.talk.voice.own_words(blocks, false, |_| {});
            }
        }
        if let Some(usage) = cut_usage {
            self.close_stream(usage, told);
        }
    }

    /// Hears out a model that was told to stop: it gives what it has at once.
    async fn let_model_stop(&mut self) -> Option<Message> {
        let reply = self.reply.as_mut()?;
        loop {
            match tokio::time::timeout(PATIENCE, reply.next()).await {
                Ok(Some(Event::Stopped(partial))) => return partial.map(|message| *message),
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// What there is of a message that was stopped, beyond the blocks that were told already. Half a call is no call, and
    /// half a thought is nobody's: it has no signature, without which the API takes no thought back. Gives how many blocks were told.
    fn tell_cut_off(&mut self, mut message: Message) -> u64 {
        message.content.retain(|block| {
            block.as_tool_use().is_none_or(|call| self.calls.iter().any(|known| known.id == call.id))
        });
        self.draft.id = message.id.clone();
        let mut rest = message.content.split_off(self.draft.blocks.min(message.content.len()));
        rest.retain(|block| !matches!(block, ContentBlock::Thinking(_) | ContentBlock::RedactedThinking(_)));
        let content = message.content.iter().chain(&rest).cloned().collect();
        if let Some(text) = rest.iter().rev().find_map(ContentBlock::as_text) {
            self.said.text = text.to_owned();
        }
        self.talk.history.add_assistant(content);
        let told = rest.len() as u64;
        if !rest.is_empty() {
            message.content = rest;
            let request_id = self.draft.request_id.clone();
            self.talk.voice.assistant(message, request_id.as_deref(), true);
        }
        told
    }

    /// Waits for the calls that run, which know that they are to stop, and gives the others a result without running.
    async fn finish_calls(&mut self) {
        if self.talk.session.ending().is_cancelled() {
            return self.running.abort_all();
        }
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while let Ok(Some(done)) = tokio::time::timeout_at(deadline, self.running.join_next()).await {
            if let Ok(performed) = done {
                let (id, end) = (performed.call.id.clone(), performed.end.clone());
                tell(&self.talk.session, &self.talk.voice, &performed);
                self.results.insert(id.clone(), performed);
                self.turn.call_ended(&id, end);
            }
        }
        self.running.abort_all();
        for id in self.turn.unfinished() {
            if let Some(call) = self.calls.iter().find(|call| call.id == id).cloned() {
                let performed = Performed::interrupted(call, false);
                tell(&self.talk.session, &self.talk.voice, &performed);
                self.results.insert(id, performed);
            }
        }
    }

    /// A host that follows the stream sees the message closed, though the API never did it.
    fn close_stream(&self, usage: Usage, told: u64) {
        let voice = &self.talk.voice;
        let index = self.draft.blocks as u64;
        let events = [
            MessageStreamEvent::ContentBlockStop(ContentBlockStop { index, extra: Extra::new() }),
            MessageStreamEvent::MessageDelta(Box::new(MessageDelta {
                delta: MessageDeltaBody {
                    stop_reason: Opt::Null,
                    stop_sequence: Opt::Null,
                    ..MessageDeltaBody::default()
                },
                usage: stream_usage(usage).into(),
                context_management: Opt::Null,
                extra: Extra::new(),
            })),
        ];
        for event in events {
            voice.stream(event, &self.draft.id, None);
        }
        voice.stream_abandoned(&self.draft.id, told);
    }
}

/// Gives each call without a result one that says so: the API refuses a conversation with an open call.
pub(crate) fn close_open_calls(history: &History) {
    let open = history.open_calls();
    let results = open.iter().map(|id| ContentBlock::ToolResult(failed_result(id, words::NEVER_RAN)));
    history.add_user(results.collect());
}

/// The usage at the end of a stream, with the fields that the API gives there: hosts read them unasked.
fn stream_usage(usage: Usage) -> Usage {
    Usage {
        service_tier: Opt::Absent,
        cache_creation: Opt::Absent,
        inference_geo: Opt::Absent,
        speed: Opt::Absent,
        ..full_usage(&usage)
    }
}
