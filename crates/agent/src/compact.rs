//! Making a long conversation short: the model writes a summary, and the conversation goes on with that alone.

use std::sync::Arc;
use std::time::Instant;

use pilothouse_model::{ApiFailure, Event, FailureKind, Purpose, Request};
use pilothouse_proto::system::{
    CompactBoundary, CompactMetadata, CompactResult, CompactTrigger, StatusKind, SystemStatus,
};
use pilothouse_proto::{AgentFrame, AssistantError, Content, Extra, MessageParam, Opt, Role, System, User};
use pilothouse_store::NewEntry;
use serde_json::{Map, Number, Value};
use tokio_util::sync::CancellationToken;

use crate::control::as_it_stands;
use crate::prompt::snapshot;
use crate::session::Session;
use crate::stop::StopSignal;

/// What is kept free for the answer and the summary.
const RESERVE: u64 = 33_000;

const TASK: &str = "The conversation has become too long to go on with, so it will be replaced by a summary that you write now. Whoever reads it \
     knows nothing else. Write down, under these headings: what the user wants, in their own words where they matter; what was \
     decided and why; what was done, with the files concerned and the state they are in; what failed and how that was solved; \
     what is left to do, and the very next step. Be exact about names, paths and commands. Call no tools. Put the summary, and \
     nothing else, between <summary> and </summary>.";

/// Said the second time, when the first answer was no summary.
const AGAIN: &str = "An earlier answer to this had no <summary> in it, so it could not be used. Answer with the summary between \
     <summary> and </summary> and with nothing else: no tool calls, no questions, no remarks before or after it.";

/// What made a compaction happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    Manual,
    Auto,
}

/// Why there was no compaction.
#[derive(Debug)]
pub(crate) enum Uncompacted {
    /// It went wrong.
    Failed(String),
    /// The user stopped it.
    Stopped,
}

/// What a compaction came to.
#[derive(Debug)]
pub(crate) struct Compacted {
    /// What is told after the next `system/init`: the boundary and the summary.
    pub(crate) frames: Vec<AgentFrame>,
}

/// Replaces the main conversation by a summary of it.
pub(crate) async fn compact(
    session: &Arc<Session>,
    trigger: Trigger,
    instructions: &str,
    stop: &StopSignal,
) -> Result<Compacted, Uncompacted> {
    if session.history().is_empty() {
        return Err(Uncompacted::Failed("No messages to compact".to_owned()));
    }
    let begun = Instant::now();
    let pre_tokens = session.context_tokens();
    tell(session, Some(StatusKind::from("compacting")), None);
    let forbidden = tokio::select! {
        forbidden = session.compact_hooks_before(trigger, instructions) => forbidden,
        () = stop.token().cancelled() => return stopped(session, stop).await,
    };
    if let Some(reason) = forbidden {
        return failed(session, &format!("a PreCompact hook forbids it: {reason}"));
    }
    let mut request = as_it_stands(session);
    // All else stays as in any other request, so that the API finds it in its cache.
    request.purpose = Purpose::Compaction;
    let more =
        if instructions.is_empty() { String::new() } else { format!("\n\nThe user adds: {instructions}") };
    push_user(&mut request.messages, format!("{TASK}{more}"));
    let summary = match summarise(session, request, stop.token().clone()).await {
        Ok(summary) => summary,
        Err(_) if stop.token().is_cancelled() => return stopped(session, stop).await,
        Err(error) => return failed(session, &error),
    };
    let text = format!(
        "This session goes on from a conversation that became too long. This is its summary:\n\n{summary}"
    );
    let contexts = session.compact_hooks_after(trigger, &summary).await;
    snapshot::forget(session);
    let frames = replace(session, trigger, text, pre_tokens, begun, contexts);
    tell(session, None, Some(Ok(())));
    Ok(Compacted { frames })
}

/// Lets the model write the summary. One that does not mark it as such is asked again, and then taken at its word.
async fn summarise(
    session: &Session,
    mut request: Request,
    stop: CancellationToken,
) -> Result<String, String> {
    let first = say(session, request.clone(), stop.clone()).await?;
    if let Some(summary) = marked(&first) {
        return Ok(summary);
    }
    if first.trim().is_empty() {
        return Err("the model gave no summary".to_owned());
    }
    push_user(&mut request.messages, AGAIN.to_owned());
    let second = say(session, request, stop).await?;
    let summary = marked(&second).unwrap_or(second);
    if summary.trim().is_empty() { Err("the model gave no summary".to_owned()) } else { Ok(summary) }
}

fn marked(answer: &str) -> Option<String> {
    let (_, rest) = answer.split_once("<summary>")?;
    let summary = rest.rsplit_once("</summary>").map_or(rest, |(summary, _)| summary).trim();
    (!summary.is_empty()).then(|| summary.to_owned())
}

/// Compacts when the context is so full that the next question might not fit. When that fails the conversation goes on as
/// it is: the API has the last word on what fits.
pub(crate) async fn when_due(session: &Arc<Session>, stop: &StopSignal) {
    if threshold(session).is_none_or(|most| session.context_tokens() < most) {
        return;
    }
    match compact(session, Trigger::Auto, "", stop).await {
        Ok(done) => done.frames.into_iter().for_each(|frame| session.output().emit(frame)),
        Err(Uncompacted::Failed(error)) => tracing::warn!(%error, "the conversation was not compacted"),
        Err(Uncompacted::Stopped) => {}
    }
}

/// What is wrong with a conversation that no model could read, however it is compacted: one that is far beyond the window.
pub(crate) fn beyond_reading(session: &Session) -> Option<ApiFailure> {
    let window = session.model_info().context_window;
    let size = |message: &MessageParam| serde_json::to_value(message).map_or(0, |message| letters(&message));
    let tokens = session.history().messages().iter().map(size).sum::<u64>() / 4;
    if tokens <= window {
        return None;
    }
    tell(session, Some(StatusKind::from("compacting")), None);
    tell(session, None, Some(Err("a single message does not fit into the context window")));
    Some(ApiFailure {
        kind: FailureKind::PromptTooLong { tokens: Some(tokens), limit: Some(window) },
        class: AssistantError::InvalidRequest,
        text: "Prompt is too long".to_owned(),
        message: String::new(),
        status: None,
        api_type: None,
        retry_after: None,
        request_id: None,
    })
}

/// How much there is to read. What is encoded is none of it: pictures count by their area, documents by their pages.
pub(crate) fn letters(value: &Value) -> u64 {
    match value {
        Value::Object(source) if source.get("type").is_some_and(|kind| kind == "base64") => 0,
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() as u64 + letters(value)).sum(),
        Value::Array(items) => items.iter().map(letters).sum(),
        Value::String(text) => text.len() as u64,
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
    }
}

/// The tokens at which the conversation is compacted by itself.
pub(crate) fn threshold(session: &Session) -> Option<u64> {
    let launch = session.launch();
    let window = session.model_info().context_window;
    let is_off = launch.env.is_on("DISABLE_AUTO_COMPACT") || launch.env.is_on("DISABLE_COMPACT");
    let window = launch.autocompact.map_or(window, |wanted| wanted.min(window));
    (!is_off).then(|| window.saturating_sub(RESERVE))
}

/// Asks the model something and gives its text.
pub(crate) async fn say(
    session: &Session,
    request: Request,
    stop: CancellationToken,
) -> Result<String, String> {
    let mut reply = session.model().stream(request, stop);
    while let Some(event) = reply.next().await {
        match event {
            Event::Done(answer) => {
                if let Some(usage) = answer.message.usage.as_ref() {
                    session.book_aside(&answer.message.model, usage);
                }
                return Ok(answer.message.text());
            }
            Event::Failed(failure) => return Err(failure.text),
            Event::Stopped(_) => return Err("it was stopped".to_owned()),
            _ => {}
        }
    }
    Err("the model gave no answer".to_owned())
}

fn failed(session: &Session, error: &str) -> Result<Compacted, Uncompacted> {
    tell(session, None, Some(Err(error)));
    Err(Uncompacted::Failed(error.to_owned()))
}

/// The host hears that its interrupt was taken before it hears what came of it.
async fn stopped(session: &Session, stop: &StopSignal) -> Result<Compacted, Uncompacted> {
    if stop.why().is_some() {
        stop.told().await;
    }
    tell(session, None, Some(Err("the user stopped it")));
    Err(Uncompacted::Stopped)
}

fn tell(session: &Session, status: Option<StatusKind>, result: Option<Result<(), &str>>) {
    let (compact_result, compact_error) = match result {
        None => (Opt::Absent, Opt::Absent),
        Some(Ok(())) => (CompactResult::from("success").into(), Opt::Absent),
        Some(Err(error)) => (CompactResult::from("failed").into(), error.into()),
    };
    let frame = SystemStatus {
        status,
        compact_result,
        compact_error,
        uuid: session.stamp().uuid(),
        session_id: session.id(),
        ..SystemStatus::default()
    };
    session.output().emit(AgentFrame::System(System::Status(Box::new(frame))));
}

/// Puts the summary in place of the conversation, in the history and in the transcript.
fn replace(
    session: &Session,
    trigger: Trigger,
    text: String,
    pre_tokens: u64,
    begun: Instant,
    contexts: Vec<String>,
) -> Vec<AgentFrame> {
    let post_tokens = text.len() as u64 / 4;
    let metadata = CompactMetadata {
        trigger: CompactTrigger::from(if trigger == Trigger::Manual { "manual" } else { "auto" }),
        pre_tokens,
        post_tokens: post_tokens.into(),
        duration_ms: Number::from(session.stamp().took(begun.elapsed()).as_millis() as u64).into(),
        preserved_segment: Opt::Absent,
        preserved_messages: Opt::Absent,
        cumulative_dropped_tokens: pre_tokens.saturating_sub(post_tokens).into(),
        extra: Extra::new(),
    };
    let (boundary_id, summary_id) = (session.stamp().uuid(), session.stamp().uuid());
    let timestamp = session.stamp().timestamp();
    let last = session.recorder().with(|transcript| transcript.last().cloned());
    let told = serde_json::to_value(&metadata).unwrap_or_default();
    session.recorder().entry(
        NewEntry::system("compact_boundary")
            .with_id(boundary_id.as_str())
            .at(&timestamp)
            .with("content", "Conversation compacted")
            .with("isMeta", false)
            .with("compactMetadata", told)
            .as_new_root(),
    );
    let mut more = Map::new();
    more.insert("isCompactSummary".to_owned(), true.into());
    more.insert("isVisibleInTranscriptOnly".to_owned(), true.into());
    session.recorder().user(Value::String(text.clone()), &summary_id, &timestamp, more);
    let mut said = text.clone();
    for context in contexts {
        said.push_str(&format!("\n\n<system-reminder>\n{context}\n</system-reminder>"));
    }
    session.history().replace(vec![MessageParam { content: Content::Text(said), ..MessageParam::default() }]);
    session.set_context_tokens(post_tokens);
    let boundary = CompactBoundary {
        compact_metadata: metadata,
        uuid: boundary_id,
        session_id: session.id(),
        logical_parent_uuid: last.map(|last| last.0.into()).into(),
        extra: Extra::new(),
    };
    let summary = User {
        message: MessageParam { role: Role::User, content: Content::Text(text), ..MessageParam::default() },
        parent_tool_use_id: Opt::Null,
        session_id: session.id().into(),
        uuid: summary_id.into(),
        timestamp: timestamp.into(),
        is_replay: false.into(),
        is_synthetic: true.into(),
        ..User::default()
    };
    vec![AgentFrame::System(System::CompactBoundary(Box::new(boundary))), AgentFrame::User(Box::new(summary))]
}

pub(crate) fn push_user(messages: &mut Vec<MessageParam>, text: String) {
    let block = pilothouse_proto::ContentBlock::text(text);
    match messages.last_mut().filter(|last| last.role == Role::User) {
        Some(last) => {
            let mut blocks = match std::mem::take(&mut last.content) {
                Content::Text(text) => vec![pilothouse_proto::ContentBlock::text(text)],
                Content::Blocks(blocks) => blocks,
            };
            blocks.push(block);
            last.content = Content::Blocks(blocks);
        }
        None => {
            messages.push(MessageParam { content: Content::Blocks(vec![block]), ..MessageParam::default() })
        }
    }
}
