//! Sessions on disk: what Claude Code has kept of earlier conversations.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use pilothouse::sessions::{ListOptions, MessageKind, MessageOptions, SessionInfo, SessionMessage, Store};
use serde_json::Value;

use super::calls::Calls;
use super::refusal::Refusal;
use crate::api::{
    Assistant, Delivery, ErrorCode, Event, InputId, InputStateChange, Json, ListRecentSessions,
    RecentSession, RecentSessions, SessionId, ToolResult, UserInput,
};

const DEFAULT_LIMIT: u32 = 50;
const LARGEST_LIMIT: u32 = 500;

/// How many messages of an earlier conversation are taken over into a new log.
const TAKEN_OVER: usize = 500;

/// A page of sessions, newest first.
pub(crate) async fn list(
    store: Store,
    asked: ListRecentSessions,
    leases: HashMap<String, SessionId>,
    allowed: impl Fn(&Path) -> bool + Send + 'static,
) -> Result<RecentSessions, Refusal> {
    let limit = asked.limit.unwrap_or(DEFAULT_LIMIT).min(LARGEST_LIMIT) as usize;
    let offset = asked.offset.unwrap_or(0) as usize;
    let wanted = asked.search.as_deref().map(str::to_lowercase).filter(|search| !search.trim().is_empty());
    let reading = move || {
        let is_wanted = |info: &SessionInfo| {
            let in_reach = info.cwd.as_deref().is_some_and(|cwd| allowed(Path::new(cwd)));
            in_reach && wanted.as_ref().is_none_or(|wanted| matches(info, wanted))
        };
        let mut found = Vec::new();
        let options = ListOptions { project: asked.project_path.map(Into::into), ..ListOptions::default() };
        // What cannot be read is not listed.
        drop(store.visit(&options, |info| {
            if is_wanted(&info) {
                found.push(info);
            }
            // One more than asked for tells whether there are more.
            if found.len() > offset + limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }));
        let has_more = found.len() > offset + limit;
        let sessions = found.into_iter().skip(offset).take(limit).map(|info| entry(info, &leases)).collect();
        RecentSessions { sessions, has_more }
    };
    tokio::task::spawn_blocking(reading)
        .await
        .map_err(|error| Refusal::new(ErrorCode::Refused, format!("the sessions cannot be listed: {error}")))
}

/// The newest session of a project.
pub(crate) async fn latest(store: &Store, project: &Path) -> Option<String> {
    let store = store.clone();
    let options = ListOptions {
        project: Some(project.to_owned()),
        worktrees: false,
        limit: Some(1),
        ..ListOptions::default()
    };
    let listed = tokio::task::spawn_blocking(move || store.list(&options)).await.ok()?;
    listed.0.into_iter().next().map(|info| info.id.to_string())
}

/// What was said in a session before the bridge knew it, as events.
pub(crate) async fn conversation(store: &Store, claude_id: &str, project: &Path) -> Vec<Event> {
    let Ok(id) = claude_id.parse() else { return Vec::new() };
    let (store, project) = (store.clone(), project.to_owned());
    let read = tokio::task::spawn_blocking(move || {
        let options = MessageOptions::default();
        store.messages(id, Some(&project), &options).map(|(messages, _)| messages).unwrap_or_default()
    });
    let messages = read.await.unwrap_or_default();
    let older = messages.len().saturating_sub(TAKEN_OVER);
    let mut calls = Calls::default();
    messages.into_iter().skip(older).flat_map(|message| events(message, &mut calls)).collect()
}

fn events(message: SessionMessage, calls: &mut Calls) -> Vec<Event> {
    let blocks = || message.message.get("content").and_then(Value::as_array).into_iter().flatten();
    if message.kind == MessageKind::Assistant {
        for block in blocks().filter(|block| block.get("type").and_then(Value::as_str) == Some("tool_use")) {
            let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
            calls.begin(text("id"), text("name"), || Json::of(&block.get("input")));
        }
        let (message, parent_tool_use_id) = (Json::of(&message.message), message.parent_tool_use_id);
        let rendered = Vec::new();
        let said = Assistant { message, parent_tool_use_id, rendered, error: None, error_status: None };
        return vec![said.into()];
    }
    let mut events: Vec<Event> = Vec::new();
    for block in blocks() {
        if block.get("type").and_then(Value::as_str) != Some("tool_result") {
            continue;
        }
        let text = |name: &str| block.get(name).and_then(Value::as_str).map(str::to_owned);
        let content = match block.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(blocks)) => {
                blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect()
            }
            _ => String::new(),
        };
        let tool_use_id = text("tool_use_id").unwrap_or_default();
        let is_error = block.get("is_error").and_then(Value::as_bool);
        let call = calls.end(&tool_use_id);
        let result = ToolResult {
            tool_use_id,
            content,
            diff: call.as_ref().and_then(|call| call.diff(is_error, None)),
            tool_name: call.map(|call| call.tool),
            images: Vec::new(),
            is_error,
            not_run: None,
            parent_tool_use_id: message.parent_tool_use_id.clone(),
            details: None,
            truncated: None,
            truncated_details: None,
        };
        events.push(result.into());
    }
    let text = message.text();
    // The prompt of a subagent is in the call that started it.
    if !text.trim().is_empty() && message.parent_tool_use_id.is_none() {
        let input = UserInput {
            input_id: InputId(message.uuid.to_string()),
            text,
            images: Vec::new(),
            delivery: Delivery::Queue,
            state: InputStateChange::Delivered,
            client_message_id: None,
            by: "transcript".to_owned(),
            rendered: None,
        };
        events.push(input.into());
    }
    events
}

fn matches(info: &SessionInfo, wanted: &str) -> bool {
    let texts =
        [Some(&info.summary), info.first_prompt.as_ref(), info.cwd.as_ref(), info.git_branch.as_ref()];
    texts.into_iter().flatten().any(|text| text.to_lowercase().contains(wanted))
}

fn entry(info: SessionInfo, leases: &HashMap<String, SessionId>) -> RecentSession {
    let session_id = info.id.to_string();
    RecentSession {
        in_use_by: leases.get(&session_id).cloned(),
        session_id,
        summary: info.summary,
        first_prompt: info.first_prompt,
        project_path: info.cwd,
        git_branch: info.git_branch,
        created_at: info.created_at,
        modified_at: info.last_modified,
    }
}
