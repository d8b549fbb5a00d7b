use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pilothouse_proto::message::{
    AbandonedBlocks, BlockDelta, MessageStop, MessageStreamEvent, StreamEvent, ToolUseMeta,
};
use pilothouse_proto::system::{TaskProgress, TaskUsage};
use pilothouse_proto::{
    AgentFrame, Content, ContentBlock, Extra, Message, MessageParam, Opt, Role, System, ToolResultBlock,
    ToolResultMeta, ToolUseId, User,
};
use serde_json::{Map, Number, Value};
use tokio_util::sync::CancellationToken;

use crate::frames::blank;
use crate::record::Recorder;
use crate::session::Session;
use crate::subagents::total_tokens;
use crate::tasks::TaskNote;
use crate::tool::Caller;

/// Who speaks in a conversation, to the host and in the transcript: the session itself, or one of its subagents.
#[derive(Debug)]
pub(crate) struct Voice {
    session: Arc<Session>,
    recorder: Recorder,
    caller: Option<Caller>,
    audience: Audience,
    /// When it fires, nobody hears the subagent any more.
    silenced: Option<CancellationToken>,
    /// When it fires, the subagent goes on in the background.
    let_go: Option<CancellationToken>,
    progress: Option<Progress>,
    /// The prompts that the turn answers, by the ids their sender chose; told once, with the first answer.
    prompts: Vec<String>,
    told_prompts: Option<String>,
    /// What the host sees in the place of the next text.
    other_words: Option<String>,
    /// Frames in the user's role that the turn has made; they are what a result counts as turns.
    user_frames: AtomicU64,
}

/// Who hears a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Nobody: only its transcript is written.
    Nobody,
    /// The host, while the call that started it waits: its task and its calls, and its words if they are wanted.
    Foreground {
        /// Whether the host wants its words.
        words: bool,
    },
    /// The host, beside everything else: its calls and its words.
    Background,
}

/// How far a subagent has come.
#[derive(Debug)]
struct Progress {
    note: TaskNote,
    begun: Instant,
    tool_uses: u64,
}

impl Voice {
    /// The main conversation.
    pub(crate) fn main(session: &Arc<Session>, prompts: Vec<String>) -> Self {
        let recorder = session.recorder().clone();
        Self {
            session: session.clone(),
            recorder,
            caller: None,
            audience: Audience::Background,
            silenced: None,
            let_go: None,
            progress: None,
            prompts,
            told_prompts: None,
            other_words: None,
            user_frames: AtomicU64::new(0),
        }
    }

    /// A subagent with a transcript of its own.
    pub(crate) fn subagent(
        session: &Arc<Session>,
        caller: Caller,
        recorder: Recorder,
        audience: Audience,
    ) -> Self {
        Self {
            session: session.clone(),
            recorder,
            caller: Some(caller),
            audience,
            silenced: None,
            let_go: None,
            progress: None,
            prompts: Vec::new(),
            told_prompts: None,
            other_words: None,
            user_frames: AtomicU64::new(0),
        }
    }

    /// Nobody is to hear it any more once `stop` fires, unless it was let go before.
    pub(crate) fn stops_with(&mut self, stop: CancellationToken, let_go: CancellationToken) {
        self.silenced = Some(stop);
        self.let_go = Some(let_go);
    }

    /// Whether the host hears how it ends: of a subagent that a call waits for, the call tells.
    pub(crate) fn is_heard_out(&self) -> bool {
        self.audience() == Audience::Background
    }

    fn audience(&self) -> Audience {
        match &self.let_go {
            Some(let_go) if let_go.is_cancelled() => Audience::Background,
            _ => self.audience,
        }
    }

    /// The host is told what it does, as a task.
    pub(crate) fn reports_progress(&mut self, note: TaskNote) {
        self.progress = Some(Progress { note, begun: Instant::now(), tool_uses: 0 });
    }

    /// What a subagent was told: a host that waits for it sees that too.
    pub(crate) fn task(&self, blocks: &[ContentBlock]) {
        let (uuid, timestamp) = (self.session.stamp().uuid(), self.session.stamp().timestamp());
        let content = serde_json::to_value(blocks).unwrap_or_default();
        self.recorder.user(content, &uuid, &timestamp, Map::new());
        let is_direct = self.caller.as_ref().is_none_or(|caller| caller.depth <= 1);
        if is_direct && matches!(self.audience, Audience::Foreground { .. }) {
            self.show_task(blocks);
        }
    }

    /// Shows the host what a subagent was told.
    pub(crate) fn show_task(&self, blocks: &[ContentBlock]) {
        let mut frame = self.user_frame(Content::Blocks(blocks.to_vec()));
        frame.uuid = self.session.stamp().uuid().into();
        frame.timestamp = self.session.stamp().timestamp().into();
        self.emit(AgentFrame::User(Box::new(frame)));
    }

    pub(crate) fn caller(&self) -> Option<&Caller> {
        self.caller.as_ref()
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// How many frames in the user's role were made.
    pub(crate) fn user_frames(&self) -> u64 {
        self.user_frames.load(Ordering::Relaxed)
    }

    /// Has the host see this in the place of the next text; the model and the transcript keep what was said.
    pub(crate) fn shown_as(&mut self, words: Option<String>) -> &mut Self {
        self.other_words = words;
        self
    }

    /// A piece of the model's answer: one block, or what there was of it when it was cut off.
    pub(crate) fn assistant(&mut self, message: Message, request_id: Option<&str>, aborted: bool) {
        let (uuid, timestamp) = (self.session.stamp().uuid(), self.session.stamp().timestamp());
        self.recorder.assistant(&message, &uuid, &timestamp, request_id);
        let thinks = matches!(message.content.first(), Some(ContentBlock::Thinking(_)));
        let words = !message.content.iter().any(|block| block.as_tool_use().is_some());
        let mut frame = blank::assistant(message, uuid, self.session.id());
        if let (Some(words), Some(ContentBlock::Text(text))) =
            (self.other_words.take(), frame.message.content.first_mut())
        {
            text.text = words;
        }
        frame.timestamp = timestamp.into();
        frame.request_id = request_id.map(str::to_owned).into();
        if aborted {
            frame.aborted = true.into();
        }
        if thinks {
            frame.thinking_display = "updates".into();
        }
        frame.tool_use_meta = tool_names(&self.session, &frame.message).into();
        self.name_prompts(&mut frame);
        if let Some(caller) = &self.caller {
            frame.parent_tool_use_id = caller.parent.clone().into();
            frame.agent_id = caller.agent_id.clone().into();
            frame.subagent_type = caller.agent_type.clone().into();
            frame.task_description = caller.description.clone().into();
        }
        let progress = self.progress_frame(&frame.message);
        let (before, after) = match self.audience() {
            Audience::Background => (None, progress),
            _ => (progress, None),
        };
        before.into_iter().for_each(|frame| self.emit(frame));
        if !words || self.audience() != (Audience::Foreground { words: false }) {
            self.emit(AgentFrame::Assistant(Box::new(frame)));
        }
        after.into_iter().for_each(|frame| self.emit(frame));
    }

    /// What a subagent is about to do, when its message is a call.
    fn progress_frame(&mut self, message: &Message) -> Option<AgentFrame> {
        let call = message.content.iter().find_map(ContentBlock::as_tool_use)?;
        let name = call.name.clone();
        let said = |field: &str| call.input.get(field).and_then(Value::as_str);
        let description = match (said("command"), said("description")) {
            (Some(command), _) => format!("Running {command}"),
            (None, Some(description)) if name == "Agent" => description.to_owned(),
            _ => format!("Using {name}"),
        };
        let progress = self.progress.as_mut()?;
        progress.tool_uses += 1;
        let tokens = message.usage.as_deref().map(total_tokens).unwrap_or_default();
        let frame = TaskProgress {
            task_id: progress.note.id.clone(),
            run_id: progress.note.run_id.clone().into(),
            tool_use_id: progress.note.tool_use_id.clone().into(),
            description,
            subagent_type: progress.note.subagent_type.clone().into(),
            usage: TaskUsage {
                total_tokens: tokens,
                tool_uses: progress.tool_uses,
                duration_ms: Number::from(
                    self.session.stamp().took(progress.begun.elapsed()).as_millis() as u64
                )
                .into(),
                ..TaskUsage::default()
            },
            last_tool_name: name.into(),
            summary: Opt::Absent,
            uuid: self.session.stamp().uuid(),
            session_id: self.session.id(),
            extra: Extra::new(),
        };
        Some(AgentFrame::System(System::TaskProgress(Box::new(frame))))
    }

    /// A message that stands for something else than the model's words, such as an API error.
    pub(crate) fn synthetic(&mut self, mut frame: pilothouse_proto::Assistant) {
        frame.timestamp = self.session.stamp().timestamp().into();
        let timestamp = frame.timestamp.as_ref().cloned().unwrap_or_default();
        self.recorder.assistant(&frame.message, &frame.uuid, &timestamp, frame.request_id.as_deref());
        self.name_prompts(&mut frame);
        if let Some(caller) = &self.caller {
            frame.parent_tool_use_id = caller.parent.clone().into();
        }
        self.emit(AgentFrame::Assistant(Box::new(frame)));
    }

    /// An event of an answer that is being written.
    pub(crate) fn stream(&self, event: MessageStreamEvent, message_id: &str, first_after: Option<Duration>) {
        self.stream_frame(event, message_id, first_after, None);
    }

    /// The end of a message that was cut off: its blocks from `first` on will not come.
    pub(crate) fn stream_abandoned(&self, message_id: &str, first: u64) {
        let abandoned = AbandonedBlocks {
            api_message_id: message_id.to_owned(),
            from_block_index: first,
            extra: Extra::new(),
        };
        let event = MessageStreamEvent::MessageStop(MessageStop::default());
        self.stream_frame(event, message_id, None, Some(abandoned));
    }

    fn stream_frame(
        &self,
        event: MessageStreamEvent,
        message_id: &str,
        first_after: Option<Duration>,
        abandoned: Option<AbandonedBlocks>,
    ) {
        if self.caller.is_some() || !self.session.launch().partial_messages {
            return;
        }
        // The beginning of the first answer names the prompts, as its whole message does later.
        let begins = matches!(event, MessageStreamEvent::MessageStart(_)) && self.told_prompts.is_none();
        let prompts: &[String] = if begins { &self.prompts } else { &[] };
        let thinking_display = shows_thinking(&event).then(|| "updates".to_owned());
        let frame = StreamEvent {
            event,
            session_id: self.session.id(),
            parent_tool_use_id: Opt::Null,
            uuid: self.session.stamp().uuid(),
            ttft_ms: first_after
                .map(|after| (self.session.stamp().took(after).as_millis() as u64).into())
                .into(),
            user_message_uuid: prompts.first().cloned().into(),
            user_message_uuids: (!prompts.is_empty()).then(|| prompts.to_vec()).into(),
            resume_reason: Opt::Absent,
            api_message_id: message_id.into(),
            thinking_display: thinking_display.into(),
            abandoned_blocks: abandoned.into(),
            extra: Extra::new(),
        };
        self.emit(AgentFrame::StreamEvent(Box::new(frame)));
    }

    /// The result of a tool call.
    pub(crate) fn tool_result(
        &self,
        block: ToolResultBlock,
        structured: Value,
        meta: Option<ToolResultMeta>,
    ) {
        let (uuid, timestamp) = (self.session.stamp().uuid(), self.session.stamp().timestamp());
        let block = ContentBlock::ToolResult(block);
        if let (ContentBlock::ToolResult(result), Ok(value)) = (&block, serde_json::to_value(&block)) {
            self.recorder.tool_result(&result.tool_use_id, value, structured.clone(), &uuid, &timestamp);
        }
        let mut frame = self.user_frame(Content::Blocks(vec![block]));
        frame.uuid = uuid.into();
        frame.timestamp = timestamp.into();
        if self.caller.is_none() {
            frame.tool_use_result = structured.into();
        }
        frame.tool_result_meta = meta.map(|meta| vec![meta]).into();
        self.count_and_emit(frame);
    }

    /// Text in the user's name that no user typed. Gives the blocks for the model.
    pub(crate) fn own_words(
        &self,
        blocks: Vec<ContentBlock>,
        is_synthetic: bool,
        change: impl FnOnce(&mut User),
    ) {
        let (uuid, timestamp) = (self.session.stamp().uuid(), self.session.stamp().timestamp());
        let mut more = Map::new();
        if is_synthetic {
            more.insert("isMeta".to_owned(), true.into());
        }
        let content = serde_json::to_value(&blocks).unwrap_or_default();
        self.recorder.user(content, &uuid, &timestamp, more);
        let mut frame = self.user_frame(Content::Blocks(blocks));
        frame.uuid = uuid.into();
        frame.timestamp = timestamp.into();
        if is_synthetic {
            frame.is_synthetic = true.into();
        }
        change(&mut frame);
        self.count_and_emit(frame);
    }

    /// A frame beside the conversation.
    pub(crate) fn system(&self, frame: System) {
        self.emit(AgentFrame::System(frame));
    }

    fn name_prompts(&mut self, frame: &mut pilothouse_proto::Assistant) {
        // All frames of the first answer name the prompts, those of later answers do not.
        let first = self.told_prompts.get_or_insert_with(|| frame.message.id.clone());
        if self.prompts.is_empty() || *first != frame.message.id {
            return;
        }
        frame.user_message_uuid = self.prompts.first().cloned().into();
        frame.user_message_uuids = self.prompts.clone().into();
        frame.resume_reason = self.session.resume_reason().into();
    }

    fn user_frame(&self, content: Content) -> User {
        let mut frame = User {
            message: MessageParam { role: Role::User, content, ..MessageParam::default() },
            parent_tool_use_id: Opt::Null,
            session_id: self.session.id().into(),
            ..User::default()
        };
        if let Some(caller) = &self.caller {
            frame.parent_tool_use_id = caller.parent.clone().into();
            frame.agent_id = caller.agent_id.clone().into();
            frame.subagent_type = caller.agent_type.clone().into();
            frame.task_description = caller.description.clone().into();
        }
        frame
    }

    fn count_and_emit(&self, frame: User) {
        self.user_frames.fetch_add(1, Ordering::Relaxed);
        self.emit(AgentFrame::User(Box::new(frame)));
    }

    fn emit(&self, frame: AgentFrame) {
        let silent = self.silenced.as_ref().is_some_and(CancellationToken::is_cancelled);
        let silent = silent && self.audience() != Audience::Background;
        if self.audience() != Audience::Nobody && !silent {
            self.session.output().emit(frame);
        }
        self.recorder.mirror(self.session.output());
    }
}

/// True for the stream events that carry `thinking_display`: message start, start of a thinking block, thinking deltas.
fn shows_thinking(event: &MessageStreamEvent) -> bool {
    match event {
        MessageStreamEvent::MessageStart(_) => true,
        MessageStreamEvent::ContentBlockStart(start) => {
            matches!(start.content_block, ContentBlock::Thinking(_))
        }
        MessageStreamEvent::ContentBlockDelta(delta) => matches!(delta.delta, BlockDelta::Thinking(_)),
        _ => false,
    }
}

/// The result of a call that was never run to its end.
pub(crate) fn failed_result(id: &ToolUseId, text: impl Into<String>) -> ToolResultBlock {
    ToolResultBlock {
        tool_use_id: id.clone(),
        content: Content::Text(text.into()).into(),
        is_error: true.into(),
        ..ToolResultBlock::default()
    }
}

/// What people call the tools of MCP servers that a message calls; none if it calls none.
fn tool_names(session: &Session, message: &Message) -> Option<Vec<ToolUseMeta>> {
    let calls = message.content.iter().filter_map(|block| block.as_tool_use());
    let named: Vec<ToolUseMeta> =
        calls.filter_map(|call| session.mcp.tool_use_meta(call.id.clone(), &call.name)).collect();
    (!named.is_empty()).then_some(named)
}
