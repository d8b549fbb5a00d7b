//! What the host asks to know.

use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use pilothouse_link::{Agent, Responder};
use pilothouse_model::{Purpose, Request};
use pilothouse_proc::{Limits, Spawn};
use pilothouse_proto::control::{ReadFile, RewindFiles};
use pilothouse_proto::{ContentBlock, MessageParam, SlashCommand};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::compact;
use crate::offers;
use crate::prompt;
use crate::session::Session;
use crate::turn::{offers as offered, request_for};

/// The most of a file that is read unless the host asks for less.
const LARGEST_READ: u64 = 1 << 20;
/// The end of a task's output that is shown.
const LARGEST_TAIL: usize = 64 << 10;
/// Suggestions for one mention.
const MOST_SUGGESTIONS: usize = 20;
/// Directories looked through for one mention.
const MOST_DIRECTORIES: usize = 500;

/// What fills the context, counted by the API where it can be.
pub(super) async fn context_usage(session: &Arc<Session>, responder: Responder<Agent>) {
    let usage = compact::context_usage(session).await;
    responder.success(&usage);
}

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

/// What changed in the repository since the last commit.
pub(super) async fn diff(session: &Session, responder: Responder<Agent>) {
    let cwd = session.cwd();
    if !cwd.ancestors().any(|directory| directory.join(".git").exists()) {
        responder.success(&json!({"diff": null, "noDiffReason": "no-repository"}));
        return;
    }
    match Spawn::new("git").args(["diff", "HEAD"]).cwd(&cwd).run(&[], Limits::default()).await {
        Ok(ran) if ran.success() => {
            let text = String::from_utf8_lossy(&ran.stdout).into_owned();
            responder.success(&json!({"diff": text}));
        }
        Ok(ran) => responder.error(format!("get_workspace_diff: git failed: {}", ran.stderr_tail)),
        Err(error) => responder.error(format!("get_workspace_diff: {error}")),
    }
}

pub(super) fn plugins(session: &Session, responder: Responder<Agent>) {
    session.rediscover();
    let catalog = session.catalog();
    let plugins: Vec<Value> = catalog
        .plugins
        .iter()
        .map(|plugin| json!({"name": plugin.name, "path": plugin.directory, "version": plugin.version}))
        .collect();
    responder.success(&json!({
        "commands": offers::commands(session),
        "agents": offers::agents(session),
        "plugins": plugins,
        "mcpServers": [],
        "error_count": 0,
    }));
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

/// Reads a file for the host, if the model could read it without asking.
pub(super) async fn read_file(session: &Session, read: &ReadFile, responder: Responder<Agent>) {
    let path = session.workspace().resolve(&read.path);
    let inside = session.rules(|engine| engine.context().is_working_path(&path.display().to_string()));
    // What is not there is not told apart from what may not be seen.
    let denied = || format!("read denied: {}", read.path);
    if read.path.is_empty() || !inside {
        return responder.error(denied());
    }
    let most = read.max_bytes.as_ref().copied().filter(|most| *most > 0).unwrap_or(LARGEST_READ);
    let Ok((bytes, truncated)) = read_start(&path, most.min(LARGEST_READ)).await else {
        return responder.error(denied());
    };
    let mut answer = json!({"absPath": path, "requested_path": read.path});
    if read.encoding.as_ref().is_some_and(|encoding| encoding.as_str() == "base64") {
        answer["contents"] = BASE64.encode(&bytes).into();
        answer["encoding"] = "base64".into();
    } else {
        // A character that the limit cuts in two is left out.
        let whole = match std::str::from_utf8(&bytes) {
            Err(error) if truncated && error.error_len().is_none() => error.valid_up_to(),
            _ => bytes.len(),
        };
        let text = String::from_utf8_lossy(bytes.get(..whole).unwrap_or_default());
        answer["lossy"] = matches!(text, std::borrow::Cow::Owned(_)).into();
        answer["contents"] = text.into();
    }
    if truncated {
        answer["truncated"] = true.into();
    }
    responder.success(&answer);
}

async fn read_start(path: &Path, most: u64) -> std::io::Result<(Vec<u8>, bool)> {
    let path = path.to_owned();
    let read = move || {
        use std::io::Read as _;
        let kind = fs_err::metadata(&path)?;
        if !kind.is_file() {
            return Err(std::io::Error::other(format!("{} is no plain file", path.display())));
        }
        let mut bytes = Vec::new();
        fs_err::File::open(&path)?.take(most).read_to_end(&mut bytes)?;
        Ok((bytes, kind.len() > most))
    };
    tokio::task::spawn_blocking(read).await.map_err(std::io::Error::other)?
}

/// The end of what a command in the background has printed.
pub(super) fn task_output(session: &Session, id: &str, responder: Responder<Agent>) {
    let Some(task) = session.background().tasks().into_iter().find(|task| task.id == id) else {
        responder.error(format!("No task found with ID: {id}"));
        return;
    };
    match fs_err::read(&task.output) {
        Ok(bytes) => {
            let tail = bytes.get(bytes.len().saturating_sub(LARGEST_TAIL)..).unwrap_or_default();
            responder.success(&json!({
                "output": String::from_utf8_lossy(tail),
                "total_bytes": bytes.len(),
                "truncated": tail.len() < bytes.len(),
            }));
        }
        Err(error) => responder.error(format!("get_task_output: {error}")),
    }
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
