//! What the model says, as it says it.

use pilothouse_model::{Answer, Event, Retry, add_usage};
use pilothouse_proto::message::{BlockDelta, ContentBlockDelta, MessageStreamEvent};
use pilothouse_proto::system::{ApiRetry, ModelFallback, ThinkingTokens};
use pilothouse_proto::{ContentBlock, Extra, Message, Opt, System};
use pilothouse_tools::Input;
use serde_json::{Number, Value};

use super::{Talking, find};
use crate::machine::{Answered, Next};
use crate::tool::ToolCall;
use crate::turn;

/// About how many characters make a token.
const CHARACTERS_PER_TOKEN: u64 = 4;

impl Talking {
    pub(super) async fn heard(&mut self, event: Event) -> Vec<Next> {
        turn::echo_all(&self.talk.session, std::mem::take(&mut self.talk.echoes));
        match event {
            Event::Stream { event, first_after } => {
                if first_after.is_some() {
                    self.said.first_piece.get_or_insert(self.begun.elapsed());
                }
                self.streamed(*event, first_after);
                self.pace.step();
                if self.pace.is_followed() {
                    // What calls have to say after this piece comes before the next one.
                    tokio::task::yield_now().await;
                }
                Vec::new()
            }
            Event::Block { message, request_id } => {
                let mut shown = None;
                if self.talk.voice.caller().is_none()
                    && let Some(text) = message.content.first().and_then(ContentBlock::as_text)
                {
                    let (index, stop) = (self.draft.blocks as u64, self.talk.stop.token().clone());
                    shown = tokio::select! {
                        shown = self.talk.session.tell_of_text(index, text) => shown,
                        () = stop.cancelled() => None,
                    };
                }
                self.block(*message, request_id, shown)
            }
            Event::Discarded { .. } => {
                self.running.abort_all();
                self.calls.clear();
                self.results.clear();
                self.turn.discarded();
                Vec::new()
            }
            Event::Retry(retry) => {
                self.retrying(&retry);
                Vec::new()
            }
            Event::Fallback { from, to, trigger } => {
                self.fell_back(from, to, trigger.as_str().to_owned());
                Vec::new()
            }
            Event::Done(answer) => {
                tracing::debug!(target: "api", stop = ?answer.message.stop_reason, "answered");
                self.answered(*answer)
            }
            Event::Failed(failure) => {
                tracing::debug!(target: "api", status = failure.status, text = failure.text, "failed");
                self.failed(*failure).await
            }
            // The signal that stops a model is heard before its event, so this is a model that stopped by itself.
            Event::Stopped(_) => {
                self.reply = None;
                self.turn.stopped()
            }
        }
    }

    fn streamed(&mut self, event: MessageStreamEvent, first_after: Option<std::time::Duration>) {
        if let MessageStreamEvent::MessageStart(start) = &event {
            self.draft.id = start.message.id.clone();
        }
        if let MessageStreamEvent::ContentBlockDelta(ContentBlockDelta {
            delta: BlockDelta::Thinking(delta),
            ..
        }) = &event
        {
            let more = delta.estimated_tokens.as_ref().copied();
            let more = more
                .unwrap_or_else(|| (delta.thinking.chars().count() as u64).div_ceil(CHARACTERS_PER_TOKEN));
            self.thought(more);
        }
        self.talk.voice.stream(event, &self.draft.id, first_after);
    }

    fn thought(&mut self, more: u64) {
        if self.talk.voice.caller().is_some() || more == 0 {
            return;
        }
        self.draft.thinking += more;
        let session = &self.talk.session;
        self.talk.voice.system(System::ThinkingTokens(Box::new(ThinkingTokens {
            estimated_tokens: self.draft.thinking,
            estimated_tokens_delta: more,
            user_message_uuid: Opt::Absent,
            uuid: session.stamp().uuid(),
            session_id: session.id(),
            extra: Extra::new(),
        })));
    }

    /// A block is complete: it is told, perhaps in other words, and if it is a call it may start.
    fn block(&mut self, message: Message, request_id: Option<String>, shown: Option<String>) -> Vec<Next> {
        self.draft.id = message.id.clone();
        self.draft.blocks += message.content.len();
        self.draft.request_id = request_id.or(self.draft.request_id.take());
        self.said.first_piece.get_or_insert(self.begun.elapsed());
        let mut calls = Vec::new();
        for block in &message.content {
            match block {
                ContentBlock::Text(text) => self.said.text = text.text.clone(),
                ContentBlock::ToolUse(call) => calls.push(ToolCall {
                    id: call.id.clone(),
                    name: self.talk.session.meant(&call.name),
                    input: input_of(&call.input),
                    caller: self.talk.voice.caller().cloned(),
                    stop: self.talk.stop.token().clone(),
                    pace: self.pace.pace(),
                }),
                _ => {}
            }
        }
        let request_id = self.draft.request_id.clone();
        // A text without a word is nobody's business.
        let empty = |block: &ContentBlock| block.as_text().is_some_and(str::is_empty);
        if !message.content.iter().all(empty) {
            self.talk.voice.shown_as(shown).assistant(message, request_id.as_deref(), false);
        }
        let mut next = Vec::new();
        for call in calls {
            let parallel =
                find(&self.talk.tools, &call.name).is_some_and(|tool| tool.runs_in_parallel(&call.input));
            let id = call.id.clone();
            self.calls.push(call);
            next.extend(self.turn.called(id, parallel));
        }
        next
    }

    fn answered(&mut self, answer: Answer) -> Vec<Next> {
        self.reply = None;
        self.pace.over();
        if let Some(caller) = self.talk.voice.caller() {
            self.talk.session.running_agents().answered(caller.agent_id.as_str());
        }
        let Answer { message, duration, .. } = answer;
        if self.talk.voice.caller().is_none() {
            self.talk.session.note_answer(message.id.as_str(), message.usage.as_ref().map(AsRef::as_ref));
        }
        self.said.api_time += duration;
        self.talk.session.count_api_time(duration);
        self.said.stop_reason = message.stop_reason.as_ref().cloned();
        if let Some(usage) = message.usage.as_ref() {
            add_usage(&mut self.said.usage, usage);
            self.talk.session.book(&message.model, usage);
        }
        let visible = message.content.iter().any(|block| match block {
            ContentBlock::Text(text) => !text.text.trim().is_empty(),
            ContentBlock::Thinking(_) | ContentBlock::RedactedThinking(_) => false,
            _ => true,
        });
        let calls = message.content.iter().any(|block| block.as_tool_use().is_some());
        if !calls && !visible {
            self.said.text.clear();
        }
        let stop = self.said.stop_reason.clone();
        self.talk.history.add_assistant(message.content);
        self.turn.answered(Answered { stop, visible, over_budget: self.talk.session.is_over_budget() })
    }

    fn retrying(&self, retry: &Retry) {
        if self.talk.voice.caller().is_some() {
            return;
        }
        let session = &self.talk.session;
        self.talk.voice.system(System::ApiRetry(Box::new(ApiRetry {
            attempt: retry.attempt.into(),
            max_retries: retry.max_retries.into(),
            retry_delay_ms: Number::from(retry.delay.as_millis() as u64),
            error_status: retry.status.map(u64::from),
            error: retry.error.clone(),
            no_response: Opt::Absent,
            uuid: session.stamp().uuid(),
            session_id: session.id(),
            extra: Extra::new(),
        })));
    }

    fn fell_back(&self, original_model: String, fallback_model: String, trigger: String) {
        let session = &self.talk.session;
        // The next turn tries the first model again.
        session.set_turn_model(Some(fallback_model.clone()));
        let content = format!("{original_model} cannot answer ({trigger}); going on with {fallback_model}");
        self.talk.voice.system(System::ModelFallback(Box::new(ModelFallback {
            trigger,
            original_model,
            fallback_model,
            content: content.into(),
            uuid: session.stamp().uuid(),
            session_id: session.id(),
            extra: Extra::new(),
        })));
    }
}

/// Arguments that are no object are as good as none: the tool says what it misses.
fn input_of(input: &Value) -> Input {
    match input {
        Value::Object(members) => members.clone(),
        _ => Input::new(),
    }
}
