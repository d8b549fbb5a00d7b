//! What the host asks to know.

use std::sync::Arc;

use pilothouse_link::{Agent, Responder};
use pilothouse_model::{Purpose, Request};
use pilothouse_proto::control::RewindFiles;
use pilothouse_proto::{ContentBlock, MessageParam, SlashCommand};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::compact;
use crate::offers;
use crate::prompt;
use crate::session::Session;
use crate::turn::{offers as offered, request_for};

/// Suggestions for one mention.
const MOST_SUGGESTIONS: usize = 20;
/// Directories looked through for one mention.
const MOST_DIRECTORIES: usize = 500;

/// What the session cost, for people.
pub(crate) fn cost(session: &Session) -> String {
    let ledger = session.ledger();
    let (added, removed) = session.lines();
    let mut lines = vec![
        format!("Total cost: ${:.4}", ledger.total_cost().to_f64()),
        format!("Total duration (API): {} s", session.api_time().as_secs()),
        format!("Total duration (wall): {} s", session.age().as_secs()),
        format!("Total code changes: {added} lines added, {removed} lines removed"),
    ];
    if ledger.by_model().is_empty() {
        lines.push("Usage: 0 input, 0 output, 0 cache read, 0 cache write".to_owned());
    }
    for (model, usage) in ledger.by_model() {
        lines.push(format!(
            "{model}: {} input, {} output, {} cache read, {} cache write (${:.4})",
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_input_tokens,
            usage.cache_creation_input_tokens,
            usage.cost_usd.as_f64().unwrap_or_default(),
        ));
    }
    lines.join("\n")
}

pub(super) fn usage(session: &Session, responder: Responder<Agent>) {
    let ledger = session.ledger();
    let (added, removed) = session.lines();
    let models: serde_json::Map<String, Value> = ledger
        .by_model()
        .into_iter()
        .filter_map(|(model, usage)| Some((model, serde_json::to_value(usage).ok()?)))
        .collect();
    responder.success(&json!({
        "session": {
            "total_cost_usd": ledger.total_cost().to_number(),
            "total_api_duration_ms": session.api_time().as_millis() as u64,
            "total_duration_ms": session.age().as_millis() as u64,
            "total_lines_added": added,
            "total_lines_removed": removed,
            "model_usage": models,
        },
        "subscription_type": null,
        "rate_limits_available": false,
        "rate_limits": null,
        "behaviors": null,
    }));
}

pub(super) fn status(session: &Session, responder: Responder<Agent>) {
    let row = |label: &str, value: String| json!({"label": label, "value": value});
    let rows = vec![
        row("Version", crate::PROTOCOL_VERSION.to_owned()),
        row("Session ID", session.id().into_string()),
        row("cwd", session.cwd().display().to_string()),
        row("Model", session.model_info().id),
        row("Permission mode", session.mode().name().to_owned()),
    ];
    responder.success(&json!({"sections": [{"title": "Session", "rows": rows}]}));
}

pub(super) fn plan(session: &Session, responder: Responder<Agent>) {
    match session.plan().text(session) {
        Some(text) => {
            let path = session.plan().file(session).display().to_string();
            responder.success(&json!({"exists": true, "plan": text, "path": path}));
        }
        None => responder.success(&json!({"exists": false})),
    }
}

pub(super) fn skills(session: &Session, responder: Responder<Agent>) {
    session.rediscover();
    offers::tell_changes(session);
    let catalog = session.catalog();
    let skills: Vec<SlashCommand> = catalog
        .skills()
        .filter(|skill| skill.user_invocable)
        .map(|skill| SlashCommand {
            name: skill.name.clone(),
            description: skill.description.clone(),
            argument_hint: skill.argument_hint.clone().unwrap_or_default(),
            ..SlashCommand::default()
        })
        .collect();
    responder.success(&json!({"skills": skills}));
}

/// Files whose path contains what was typed.
pub(super) fn files(session: &Session, query: &str, responder: Responder<Agent>) {
    let cwd = session.cwd();
    let mut found = Vec::new();
    let mut waiting = vec![cwd.clone()];
    let mut looked = 0;
    while let Some(directory) = waiting.pop() {
        looked += 1;
        if looked > MOST_DIRECTORIES || found.len() >= MOST_SUGGESTIONS {
            break;
        }
        // A directory that cannot be read has nothing to suggest.
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            let shown = path.strip_prefix(&cwd).unwrap_or(&path).display().to_string();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push(path);
            } else if !query.is_empty() && shown.to_lowercase().contains(&query.to_lowercase()) {
                found.push(shown);
            }
        }
    }
    found.sort();
    found.truncate(MOST_SUGGESTIONS);
    let suggestions: Vec<Value> = found.into_iter().map(|path| json!({"path": path})).collect();
    responder.success(&json!({"suggestions": suggestions, "cwd": cwd}));
}

/// Takes edits back to where they were before a prompt.
pub(super) fn rewind(session: &Session, rewind: &RewindFiles, responder: Responder<Agent>) {
    match session.rewind(&rewind.user_message_id, rewind.dry_run.as_ref() == Some(&true)) {
        Ok(answer) => responder.success(&answer),
        Err(error) => responder.error(error),
    }
}

/// Asks the model for a title.
pub(super) async fn title(session: &Arc<Session>, description: &str, responder: Responder<Agent>) {
    let mut request: Request = request_for(session, &session.model_info().id);
    request.purpose = Purpose::Side("title".to_owned());
    request.max_tokens = Some(64);
    let text = format!(
        "Give a title of at most six words, and nothing else, for a session about this:\n\n{description}"
    );
    request.messages.push(MessageParam { content: text.into(), ..MessageParam::default() });
    match compact::say(session, request, CancellationToken::new()).await {
        Ok(title) => responder.success(&json!({"title": title.trim()})),
        Err(error) => responder.error(format!("generate_session_title: {error}")),
    }
}

/// A request as the main conversation would make it now: what counts tokens counts this.
pub(crate) fn as_it_stands(session: &Session) -> Request {
    let mut request = request_for(session, &session.model_info().id);
    request.system = prompt::system(session);
    request.tools = offered(&session.tools_in_force());
    request.messages = session.history().messages();
    if request.messages.is_empty() {
        let nothing = vec![ContentBlock::text("(nothing was said yet)")];
        request.messages.push(MessageParam { content: nothing.into(), ..MessageParam::default() });
    }
    request
}
