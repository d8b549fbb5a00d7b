//! From what the CLI writes to events.

use pilothouse::proto::{
    AgentFrame, BlockDelta, Content, ContentBlock, MessageStreamEvent, Source, System, ToolResultBlock,
    ToolResultMeta, TurnResult, User,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::calls::Calls;
use super::channel::Stream;
use crate::api::{Assistant, Event, Frame, Image, Json, NotRun, SystemEvent, ToolResult, TurnEnd};
use crate::render::NO_MODEL;

/// The suffix of a model's name that asks for its long context window.
const LONG_WINDOW: &str = "[1m]";

/// What a frame of the CLI means for clients.
#[derive(Debug, Default)]
pub(crate) struct Translated {
    /// Events for the log.
    pub(crate) events: Vec<Event>,
    /// Words as they come.
    pub(crate) delta: Option<(Stream, String)>,
    /// Whether a new message of the model begins.
    pub(crate) begins: bool,
}

/// Translates one session's frames. Remembers which tool each call is for.
#[derive(Debug, Default)]
pub(crate) struct Translator {
    pub(super) calls: Calls,
    /// The model that spoke last in the main conversation.
    model: String,
}

impl Translator {
    /// What this event of the CLI means.
    pub(crate) fn translate(&mut self, event: &pilothouse::Event) -> Translated {
        match event {
            pilothouse::Event::Frame { raw, frame } => self.frame(raw, frame),
            pilothouse::Event::Noise { raw } => only(other("noise", Json::of(&String::from_utf8_lossy(raw)))),
            pilothouse::Event::Malformed { raw, .. } => only(other("malformed", raw_json(raw))),
            pilothouse::Event::TooLong(what) => only(other("too_long", Json::of(&format!("{what:?}")))),
            pilothouse::Event::StrayReply { .. } => Translated::default(),
        }
    }

    fn frame(&mut self, raw: &[u8], frame: &AgentFrame) -> Translated {
        match frame {
            AgentFrame::Assistant(message) => {
                for block in &message.message.content {
                    if let ContentBlock::ToolUse(call) | ContentBlock::ServerToolUse(call) = block {
                        self.calls.begin(call.id.to_string(), &call.name, || Json::of(&call.input));
                    }
                }
                let parent_tool_use_id = message.parent_tool_use_id.as_ref().map(ToString::to_string);
                if parent_tool_use_id.is_none() && message.message.model != NO_MODEL {
                    self.model.clone_from(&message.message.model);
                }
                let said = Assistant {
                    message: member(raw),
                    parent_tool_use_id,
                    rendered: Vec::new(),
                    error: message.error.as_ref().map(ToString::to_string),
                    error_status: message.api_error_status.as_ref().and_then(serde_json::Number::as_u64),
                };
                only(said.into())
            }
            AgentFrame::User(user) => self.user(raw, user),
            AgentFrame::Result(result) => only(
                TurnEnd {
                    subtype: result.subtype.to_string(),
                    result: result.result.as_ref().cloned(),
                    error: result.failure(),
                    error_status: result.api_error_status.as_ref().and_then(serde_json::Number::as_u64),
                    cost: result.total_cost_usd.as_ref().and_then(serde_json::Number::as_f64),
                    duration: result.duration_ms.as_ref().and_then(serde_json::Number::as_f64).map(whole),
                    claude_session_id: Some(result.session_id.to_string()),
                    usage: result.usage.as_ref().map(Json::of),
                    context_window: window(result, &self.model),
                    branch: None,
                    by: None,
                    indeterminate: Vec::new(),
                }
                .into(),
            ),
            AgentFrame::System(System::Init(init)) => only(
                SystemEvent {
                    subtype: "init".to_owned(),
                    model: Some(init.model.clone()),
                    claude_session_id: Some(init.session_id.to_string()),
                    project_path: None,
                    permission_mode: init.permission_mode.as_ref().map(ToString::to_string),
                    by: None,
                    branch: None,
                    slash_commands: init.slash_commands.clone().unwrap_or_default().into(),
                    is_restricted: None,
                }
                .into(),
            ),
            AgentFrame::StreamEvent(stream) if stream.parent_tool_use_id.is_none() => match &stream.event {
                MessageStreamEvent::MessageStart(_) => Translated { begins: true, ..Translated::default() },
                MessageStreamEvent::ContentBlockDelta(delta) => match &delta.delta {
                    BlockDelta::Text(delta) => words(Stream::Text, &delta.text),
                    BlockDelta::Thinking(delta) => words(Stream::Thinking, &delta.thinking),
                    _ => Translated::default(),
                },
                _ => Translated::default(),
            },
            // Between the CLI and its host; what they mean to users is in other events.
            AgentFrame::StreamEvent(_)
            | AgentFrame::System(System::SessionStateChanged(_))
            | AgentFrame::CommandLifecycle(_)
            | AgentFrame::KeepAlive(_)
            | AgentFrame::TranscriptMirror(_)
            | AgentFrame::ControlRequest(_)
            | AgentFrame::ControlResponse(_)
            | AgentFrame::ControlCancelRequest(_) => Translated::default(),
            _ => only(other(frame.tag(), raw_json(raw))),
        }
    }

    fn user(&mut self, raw: &[u8], user: &User) -> Translated {
        let parent = user.parent_tool_use_id.as_ref().map(ToString::to_string);
        let mut events = Vec::new();
        let mut more = !matches!(&user.message.content, Content::Blocks(_));
        let results =
            user.message.content.blocks().iter().filter(|block| matches!(block, ContentBlock::ToolResult(_)));
        let alone = results.count() == 1;
        for block in user.message.content.blocks() {
            let ContentBlock::ToolResult(result) = block else {
                more = true;
                continue;
            };
            // The CLI says more of a result only when there is one.
            let details = if alone { user.tool_use_result.as_ref().map(Json::of) } else { None };
            let meta = user.tool_result_meta.as_ref().map(Vec::as_slice).unwrap_or_default();
            let not_run = meta.iter().find(|meta| meta.id == result.tool_use_id).and_then(not_run);
            events.push(ToolResult { not_run, ..self.tool_result(result, parent.clone(), details) }.into());
        }
        if more {
            events.push(other("user", raw_json(raw)));
        }
        Translated { events, ..Translated::default() }
    }

    fn tool_result(
        &mut self,
        block: &ToolResultBlock,
        parent: Option<String>,
        details: Option<Json>,
    ) -> ToolResult {
        let tool_use_id = block.tool_use_id.to_string();
        let content = block.content.as_ref();
        let images = content.map(Content::blocks).unwrap_or_default().iter().filter_map(image).collect();
        let is_error = block.is_error.as_ref().copied();
        let call = self.calls.end(&tool_use_id);
        ToolResult {
            content: content.map(|content| content.text().into_owned()).unwrap_or_default(),
            diff: call.as_ref().and_then(|call| call.diff(is_error, details.as_ref())),
            tool_name: call.map(|call| call.tool),
            tool_use_id,
            images,
            is_error,
            not_run: None,
            parent_tool_use_id: parent,
            details,
            truncated: None,
            truncated_details: None,
        }
    }
}

/// The context window of the model that talks. The CLI counts every model since its start, those of subagents and
/// earlier choices too, so the largest window may be another model's.
fn window(result: &TurnResult, model: &str) -> Option<u64> {
    let used = result.model_usage.as_ref()?;
    let talks = |name: &str| name.strip_suffix(LONG_WINDOW).unwrap_or(name) == model;
    let own =
        used.iter().filter(|(name, _)| talks(name.as_ref())).map(|(_, usage)| usage.context_window).max();
    let only = || used.values().next().filter(|_| used.len() == 1).map(|usage| usage.context_window);
    own.or_else(only).filter(|window| *window > 0)
}

/// Why a tool did not run, as far as that is not the tool's own failure.
fn not_run(meta: &ToolResultMeta) -> Option<NotRun> {
    match meta.non_execution_kind.as_deref() {
        Some("cancelled" | "interrupted") => return Some(NotRun::Stopped),
        Some(kind)
            if kind == "user-rejected" || kind == "permission-rule" || kind.starts_with("automode-") =>
        {
            return Some(NotRun::Denied);
        }
        _ => {}
    }
    let decision = meta.permission_decision.as_ref()?;
    (decision.decision == "reject").then_some(NotRun::Denied)
}

fn image(block: &ContentBlock) -> Option<Image> {
    let ContentBlock::Image(block) = block else { return None };
    let Source::Base64(source) = &block.source else { return None };
    Some(Image { media_type: source.media_type.clone(), data: source.data.clone() })
}

fn only(event: Event) -> Translated {
    Translated { events: vec![event], ..Translated::default() }
}

fn words(stream: Stream, text: &str) -> Translated {
    Translated { delta: Some((stream, text.to_owned())), ..Translated::default() }
}

fn other(kind: &str, frame: Json) -> Event {
    Frame { kind: kind.to_owned(), frame }.into()
}

/// The `message` of a frame, as it came.
fn member(raw: &[u8]) -> Json {
    #[derive(Deserialize)]
    struct Whole<'a> {
        #[serde(borrow)]
        message: &'a RawValue,
    }
    serde_json::from_slice::<Whole<'_>>(raw)
        .map_or_else(|_| Json::of(&()), |whole| Json(whole.message.to_owned()))
}

fn raw_json(raw: &[u8]) -> Json {
    match serde_json::from_slice::<Box<RawValue>>(raw) {
        Ok(json) => Json(json),
        Err(_) => Json::of(&String::from_utf8_lossy(raw)),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float beyond the range becomes the nearest end of it, which is as good as any"
)]
fn whole(number: f64) -> u64 {
    number.round() as u64
}
