//! A conversation with the model until it is done: ask, run what it calls, ask again.
//!
//! The decisions are [`crate::machine::Turn`]'s; this drives it, for the main conversation and for subagents alike.

mod answer;
mod ending;
mod failing;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pilothouse_model::{ApiFailure, Reply, Request};
use pilothouse_proto::message::{DeferredToolUse, StopReason, Usage};
use pilothouse_proto::system::{InformationalLevel, StatusKind, SystemStatus};
use pilothouse_proto::{ContentBlock, Extra, System, ToolUseId, User};
use serde_json::Value;
use tokio::task::JoinSet;

use crate::calls::{self, Performed};
use crate::compact;
use crate::deferred;
use crate::events;
use crate::history::History;
use crate::hooks::{Failure, Occasion};
use crate::machine::{CallEnd, End, Limits, Next, Nudge, Turn};
use crate::pace::PaceMaker;
use crate::session::Session;
use crate::stop::StopSignal;
use crate::tool::{AgentTool, ToolCall};
use crate::voice::Voice;
use crate::words;

pub(crate) use ending::close_open_calls;

/// A conversation that is about to go on.
pub(crate) struct Talk {
    pub(crate) session: Arc<Session>,
    pub(crate) history: History,
    pub(crate) voice: Voice,
    /// The prompts it answers, by the ids their sender chose.
    pub(crate) prompts: Vec<String>,
    /// Messages of the host that are echoed when the model begins to answer.
    pub(crate) echoes: Vec<User>,
    pub(crate) tools: Vec<Arc<dyn AgentTool>>,
    pub(crate) limits: Limits,
    pub(crate) stop: StopSignal,
    /// Everything of a request but its messages, asked for before each round because the user may change the model.
    pub(crate) request: Box<dyn Fn() -> Request + Send>,
}

/// How a conversation came to its end.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) end: End,
    /// The last text of the model, or of the error.
    pub(crate) text: String,
    pub(crate) stop_reason: Option<StopReason>,
    pub(crate) usage: Usage,
    pub(crate) failure: Option<Box<ApiFailure>>,
    pub(crate) structured: Option<Value>,
    /// The call that a hook put off; the last one, if there are more.
    pub(crate) deferred: Option<DeferredToolUse>,
    /// Frames in the user's role, which results count as turns.
    pub(crate) user_frames: u64,
    /// Calls that were made.
    pub(crate) tool_uses: u64,
    pub(crate) api_time: Duration,
    /// From the start to the first piece of an answer.
    pub(crate) first_piece: Option<Duration>,
}

/// A conversation that is going on.
struct Talking {
    talk: Talk,
    turn: Turn,
    reply: Option<Reply>,
    running: JoinSet<Performed>,
    /// Calls of the current message, by id, in order.
    calls: Vec<ToolCall>,
    results: HashMap<ToolUseId, Performed>,
    /// What the model has said in the message that is being written.
    draft: Draft,
    /// How far that message has come, for its calls.
    pace: PaceMaker,
    begun: Instant,
    said: Said,
}

/// The message that is being written.
#[derive(Debug, Default)]
struct Draft {
    id: String,
    request_id: Option<String>,
    blocks: usize,
    thinking: u64,
}

impl Said {
    /// Nothing was said.
    pub(crate) fn nothing(end: End) -> Self {
        Self {
            end,
            text: String::new(),
            stop_reason: None,
            usage: Usage::default(),
            failure: None,
            structured: None,
            deferred: None,
            user_frames: 0,
            tool_uses: 0,
            api_time: Duration::ZERO,
            first_piece: None,
        }
    }
}

impl Talk {
    /// Talks until the end. The history has the result, whatever the end was.
    pub(crate) async fn run(self) -> Said {
        let turn = Turn::new(self.limits);
        let said = Said::nothing(End::Completed);
        let talking = Talking {
            talk: self,
            turn,
            reply: None,
            running: JoinSet::new(),
            calls: Vec::new(),
            results: HashMap::new(),
            draft: Draft::default(),
            pace: PaceMaker::new(),
            begun: Instant::now(),
            said,
        };
        talking.go().await
    }
}

impl Talking {
    async fn go(mut self) -> Said {
        let mut next = self.turn.begin();
        let mut stopped = false;
        loop {
            let mut later = Vec::new();
            for step in next {
                match step {
                    Next::Ask => {
                        self.batch_hooks().await;
                        later.extend(self.ask().await);
                    }
                    Next::Run(id) => {
                        self.start(&id);
                        // The call asks for leave before the model is heard on, as far as that takes no time.
                        tokio::task::yield_now().await;
                    }
                    Next::Nudge(nudge) => self.nudge(nudge),
                    Next::GiveUp(why) => later.extend(self.give_up(why).await),
                    Next::StopHooks => later.extend(self.stop_hooks().await),
                    Next::End(end) => {
                        self.finish(end).await;
                        self.said.user_frames = self.talk.voice.user_frames();
                        return self.said;
                    }
                }
            }
            if !later.is_empty() {
                next = later;
                continue;
            }
            let stop = self.talk.stop.token().clone();
            next = tokio::select! {
                biased;
                () = stop.cancelled(), if !stopped => {
                    stopped = true;
                    self.turn.stopped()
                }
                Some(performed) = self.running.join_next() => match performed {
                    Ok(performed) => self.performed(performed),
                    // A call catches its own panics, so this one was aborted with the message that made it.
                    Err(_) => Vec::new(),
                },
                event = async { self.reply.as_mut()?.next().await }, if self.reply.is_some() => match event {
                    Some(event) => self.heard(event).await,
                    None => {
                        self.reply = None;
                        Vec::new()
                    }
                },
            };
            self.talk.session.output().room().await;
        }
    }

    /// Takes in what came meanwhile and asks the model.
    async fn ask(&mut self) -> Vec<Next> {
        self.settle();
        if self.talk.voice.caller().is_none() {
            self.inject();
            if self.turn.rounds() > 0 {
                self.talk.session.running_agents().head_start().await;
                compact::when_due(&self.talk.session, &self.talk.stop).await;
            }
            if let Some(failure) = compact::beyond_reading(&self.talk.session) {
                return self.failed(failure).await;
            }
        }
        let mut request = (self.talk.request)();
        request.messages = self.talk.history.messages();
        if self.talk.voice.caller().is_none() && self.talk.session.launch().partial_messages {
            let session = &self.talk.session;
            let mut frame = SystemStatus {
                status: Some(StatusKind::from("requesting")),
                uuid: session.stamp().uuid(),
                session_id: session.id(),
                ..SystemStatus::default()
            };
            if !self.talk.prompts.is_empty() {
                frame.extra.insert("user_message_uuids", self.talk.prompts.clone());
            }
            self.talk.voice.system(System::Status(Box::new(frame)));
        }
        self.draft = Draft::default();
        self.pace = PaceMaker::new();
        let (model, messages) = (&request.model, request.messages.len());
        tracing::debug!(target: "api", model, messages, tools = request.tools.len(), "request");
        self.reply = Some(self.talk.session.model().stream(request, self.talk.stop.token().clone()));
        Vec::new()
    }

    /// Hooks hear of all calls of the last message together.
    async fn batch_hooks(&mut self) {
        let results = &self.results;
        let calls = events::batch(&self.calls, |id| results.get(id).map(|performed| &performed.structured));
        let stop = self.talk.stop.token().clone();
        let contexts = tokio::select! {
            contexts = self.talk.session.tell_of_batch(calls) => contexts,
            () = stop.cancelled() => return,
        };
        if let Some(last) = self.calls.last().and_then(|call| self.results.get_mut(&call.id)) {
            last.contexts.extend(contexts);
        }
    }

    /// Puts the results of the last message's calls into the history, in the order of the calls.
    fn settle(&mut self) {
        let mut blocks = Vec::new();
        let mut after = Vec::new();
        for call in std::mem::take(&mut self.calls) {
            let Some(performed) = self.results.remove(&call.id) else { continue };
            blocks.push(ContentBlock::ToolResult(performed.result));
            after.extend(performed.follow_ups.into_iter().flatten());
            for context in performed.contexts {
                after.push(words::reminder(&context));
            }
        }
        blocks.extend(after);
        self.talk.history.add_user(blocks);
    }

    /// Prompts that came while tools ran go into this turn.
    fn inject(&mut self) {
        if self.turn.rounds() == 0 {
            return;
        }
        for prompt in self.talk.session.take_injected() {
            let blocks = prompt.blocks();
            self.talk.session.record_prompt(&prompt);
            self.talk.history.add_user(blocks);
        }
    }

    fn start(&mut self, id: &ToolUseId) {
        let Some(call) = self.calls.iter().find(|call| call.id == *id).cloned() else { return };
        let tool = find(&self.talk.tools, &call.name);
        self.said.tool_uses += 1;
        self.running.spawn(calls::perform(self.talk.session.clone(), call, tool));
    }

    fn performed(&mut self, performed: Performed) -> Vec<Next> {
        let id = performed.call.id.clone();
        let mut end = performed.end.clone();
        if performed.call.name == crate::structured::NAME && end == CallEnd::Result {
            end = match performed.result.is_error.as_ref() {
                Some(true) => CallEnd::BadStructure,
                _ => {
                    self.said.structured = Some(Value::Object(performed.call.input.clone()));
                    CallEnd::Structured
                }
            };
        }
        match end {
            CallEnd::Deferred => {
                let ToolCall { id, name, input, .. } = performed.call.clone();
                let call = DeferredToolUse { id, name, input, extra: Extra::new() };
                deferred::write_down(&self.talk.session, &call);
                self.said.deferred = Some(call);
            }
            _ => {
                tell(&self.talk.session, &self.talk.voice, &performed);
                self.results.insert(id.clone(), performed);
            }
        }
        self.turn.call_ended(&id, end)
    }

    fn nudge(&mut self, nudge: Nudge) {
        let mut refused = None;
        if nudge == Nudge::Refusal {
            refused = Some(self.draft.id.clone());
            let notice = words::refusal_notice(&self.talk.session.model_info().display_name);
            self.inform(InformationalLevel::Notice, notice);
        }
        let blocks = vec![ContentBlock::text(words::nudge(nudge))];
        self.talk.history.add_user(blocks.clone());
        self.talk.voice.own_words(blocks, true, |frame| frame.refused_message_id = refused.into());
    }

    /// Shows the user a line.
    fn inform(&self, level: InformationalLevel, content: String) {
        let frame = self.talk.session.informational(level, content);
        self.talk.voice.system(System::Informational(Box::new(frame)));
    }

    /// Lets hooks decide whether the conversation may end.
    async fn stop_hooks(&mut self) -> Vec<Next> {
        let session = self.talk.session.clone();
        let scene = session.scene(self.talk.voice.caller());
        let active = self.turn.stop_hook_active();
        let occasion = match self.talk.voice.caller() {
            None => Occasion::stop(&scene, active, Some(self.said.text.clone()), session.task_summaries()),
            Some(_) => {
                let transcript =
                    self.talk.voice.recorder().with(|transcript| transcript.path().map(Into::into));
                Occasion::subagent_stop(
                    &scene,
                    active,
                    transcript.unwrap_or_default(),
                    Some(self.said.text.clone()),
                )
            }
        };
        let report = tokio::select! {
            report = session.hooks().fire(&session, &scene, occasion) => report,
            () = self.talk.stop.token().cancelled() => {
                // The answer is there, so the turn is as good as done.
                if self.talk.stop.why().is_some() {
                    self.talk.stop.told().await;
                }
                return self.turn.stop_hooks_said(false);
            }
        };
        if report.failure == Some(Failure::TimedOut) {
            self.inform(InformationalLevel::Notice, words::STOP_HOOK_TIMED_OUT.to_owned());
        }
        if report.stop.is_some() {
            return self.turn.stop_hooks_forbid();
        }
        let go_on = report.block.is_some() || !report.contexts.is_empty();
        for context in report.contexts {
            self.talk.history.add_user(vec![words::reminder(&context)]);
        }
        if let Some(reason) = report.block {
            let blocks = vec![ContentBlock::text(format!("Stop hook feedback:\n{reason}"))];
            self.talk.history.add_user(blocks.clone());
            self.talk.voice.own_words(blocks, true, |_| {});
            // The last word is the hook's.
            self.said.text.clear();
        }
        if go_on && self.turn.stop_hooks_exhausted() {
            self.inform(InformationalLevel::Warning, words::stop_hooks_overruled());
        }
        self.turn.stop_hooks_said(go_on)
    }
}

/// Tells what came of a call.
pub(crate) fn tell(session: &Session, voice: &Voice, performed: &Performed) {
    if let Some(task) = performed.structured.get("backgroundTaskId").and_then(Value::as_str) {
        session.command_began(task, &performed.call);
    }
    for frame in &performed.before {
        session.output().emit(frame.clone());
    }
    voice.tool_result(performed.result.clone(), performed.structured.clone(), performed.meta.clone());
    for blocks in &performed.follow_ups {
        voice.own_words(blocks.clone(), true, |_| {});
    }
    for frame in &performed.after {
        session.output().emit(frame.clone());
    }
}

/// The tool that a model means. Some have had other names.
pub(crate) fn find(tools: &[Arc<dyn AgentTool>], name: &str) -> Option<Arc<dyn AgentTool>> {
    let name = if name == "Task" { "Agent" } else { name };
    tools.iter().find(|tool| tool.name() == name).cloned()
}

#[cfg(test)]
mod panic_tests;
