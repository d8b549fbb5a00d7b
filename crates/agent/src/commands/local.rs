//! Commands that are answered without the model.

use std::fmt::Write as _;
use std::sync::Arc;

use pilothouse_model::{ModelInfo, Purpose};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::configure;
use crate::context_usage::Counter;
use crate::session::Session;
use crate::{compact, context_usage, control};

/// How subagents are made, for those who look for a dialog.
const AGENTS: &str = "Subagents are files: .claude/agents/NAME.md in the project, or agents/NAME.md in the configuration directory. \
     Ask the model to write one, or write it yourself.";

/// Runs a command and says what came of it.
pub(super) async fn answer(session: &Arc<Session>, name: &str, arguments: &str) -> String {
    match name {
        "model" => model(session, arguments),
        "usage" => control::cost(session),
        "context" => context(session).await,
        "rename" => rename(session, arguments),
        "config" => configure::answer(session, arguments),
        "mcp" => mcp(session),
        "agents" => AGENTS.to_owned(),
        "autocompact" => autocompact(session),
        "color" => color(arguments),
        "focus" => "/focus is not available here.".to_owned(),
        "list-agents" => list_agents(session),
        "recap" => recap(session).await,
        "reload-plugins" | "reload-skills" => reload(session),
        "effort" => effort(session, arguments),
        "goal" => "No goal is set: this agent ends a turn when the model does.".to_owned(),
        "output-style" => "Output style: default, which is the only one here.".to_owned(),
        "fast" => "Fast mode is not available in this session.".to_owned(),
        other => format!("/{other} does nothing here."),
    }
}

fn autocompact(session: &Session) -> String {
    match compact::threshold(session) {
        Some(tokens) => format!(
            "The conversation is compacted when it has about {tokens} tokens. Start the session with --autocompact to change that."
        ),
        None => "The conversation is not compacted by itself.".to_owned(),
    }
}

fn list_agents(session: &Session) -> String {
    let running: Vec<String> = session.tasks(|tasks| {
        let agents = tasks.iter().filter(|note| note.kind == "local_agent");
        agents.map(|note| format!("- {}: {}", note.id, note.description)).collect()
    });
    match running.is_empty() {
        true => "No subagents are running.".to_owned(),
        false => running.join("\n"),
    }
}

async fn recap(session: &Session) -> String {
    const TASK: &str = "Leave the work for a moment and say in two or three sentences what was done so far and what is next, for a user who has \
         been away. Call no tools.";
    if session.history().is_empty() {
        return "There is nothing to recap yet.".to_owned();
    }
    let mut request = crate::control::as_it_stands(session);
    request.purpose = Purpose::Side("recap".to_owned());
    compact::push_user(&mut request.messages, TASK.to_owned());
    match compact::say(session, request, CancellationToken::new()).await {
        Ok(text) => text,
        Err(error) => format!("There is no recap: {error}"),
    }
}

fn reload(session: &Session) -> String {
    session.rediscover();
    let catalog = session.catalog();
    format!(
        "Looked again: there are {} commands and skills and {} agents.",
        catalog.entries.len(),
        catalog.agents.len()
    )
}

/// Colours that terminals show a session in. Programs do not, so there is nothing to keep.
const COLORS: &str = "red, blue, green, yellow, purple, orange, pink, cyan, default";

fn color(wanted: &str) -> String {
    match wanted {
        "" => "Session color set to: default".to_owned(),
        known if COLORS.split(", ").any(|color| color == known) => format!("Session color set to: {known}"),
        other => format!("There is no color \"{other}\". Choose one of {COLORS}."),
    }
}

const LEVELS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

fn effort(session: &Session, wanted: &str) -> String {
    match wanted {
        "" => format!("Usage: /effort <{}|auto>", LEVELS.join("|")),
        "auto" => {
            session.set_effort(None);
            "The effort is left to the model, for this session only.".to_owned()
        }
        level if LEVELS.contains(&level) => {
            session.set_effort(Some(level.to_owned()));
            format!("Set effort level to {level}, for this session only.")
        }
        other => format!("There is no effort \"{other}\". Choose one of {}, auto.", LEVELS.join(", ")),
    }
}

fn model(session: &Session, wanted: &str) -> String {
    if wanted.is_empty() {
        let known: Vec<&str> = ModelInfo::aliases().map(|(alias, _)| alias).collect();
        let current = session.model_info();
        return format!(
            "Current model: `{}`\nUsage: /model <name>. Available: {}, or a full model ID.",
            current.display_name,
            known.join(", ")
        );
    }
    session.want_model(if wanted == "default" { None } else { Some(wanted.to_owned()) });
    format!("Set model to `{}` for this session only", session.model_info().display_name)
}

/// What fills the context.
async fn context(session: &Arc<Session>) -> String {
    let usage = context_usage::report(session, Counter::Api).await;
    let number = |field: &str| usage.get(field).and_then(Value::as_u64).unwrap_or_default();
    let mut text = format!(
        "## Context Usage\n\n**Model:** {}\n**Tokens:** {} / {} ({}%)\n\n| Category | Tokens |\n|---|---|",
        usage.get("model").and_then(Value::as_str).unwrap_or_default(),
        number("totalTokens"),
        number("rawMaxTokens"),
        number("percentage"),
    );
    for category in usage.get("categories").and_then(Value::as_array).into_iter().flatten() {
        let name = category.get("name").and_then(Value::as_str).unwrap_or_default();
        let tokens = category.get("tokens").and_then(Value::as_u64).unwrap_or_default();
        let _ = write!(text, "\n| {name} | {tokens} |");
    }
    text
}

fn rename(session: &Session, title: &str) -> String {
    let title = if title.is_empty() { first_words(session) } else { Some(title.to_owned()) };
    let Some(title) = title else { return "There is nothing yet to name the session after.".to_owned() };
    match session.rename(&title) {
        Ok(()) => format!("Session renamed to: {title}"),
        Err(error) => format!("The session was not renamed: {error}"),
    }
}

/// The beginning of the conversation, short enough for a title.
fn first_words(session: &Session) -> Option<String> {
    let messages = session.history().messages();
    let text = messages.first()?.content.text().into_owned();
    let words: Vec<&str> = text.split_whitespace().take(6).collect();
    (!words.is_empty()).then(|| words.join(" ").chars().take(60).collect())
}

/// The servers whose tools there are.
fn mcp(session: &Session) -> String {
    let mut servers: Vec<String> = session
        .tools_in_force()
        .iter()
        .filter_map(|tool| tool.mcp_server())
        .map(|server| format!("{} ({}): connected", server.name, server.source))
        .collect();
    servers.dedup();
    if servers.is_empty() {
        return "No MCP servers are connected.".to_owned();
    }
    servers.join("\n")
}
