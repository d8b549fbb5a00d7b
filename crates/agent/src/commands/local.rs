//! Commands that are answered without the model.

use std::fmt::Write as _;
use std::sync::Arc;

use pilothouse_model::ModelInfo;
use serde_json::Value;

use super::configure;
use crate::compact;
use crate::session::Session;

/// How subagents are made, for those who look for a dialog.
const AGENTS: &str = "Subagents are files: .claude/agents/NAME.md in the project, or agents/NAME.md in the configuration directory. \
     Ask the model to write one, or write it yourself.";

/// Runs a command and says what came of it.
pub(super) async fn answer(session: &Arc<Session>, name: &str, arguments: &str) -> String {
    match name {
        "model" => model(session, arguments),
        "usage" => usage(session),
        "context" => context(session).await,
        "rename" => rename(session, arguments),
        "config" => configure::answer(session, arguments),
        "mcp" => mcp(session),
        "agents" => AGENTS.to_owned(),
        "fast" => "Fast mode is not available in this session.".to_owned(),
        other => format!("/{other} does nothing here."),
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

fn usage(session: &Session) -> String {
    let ledger = session.ledger();
    let mut text = format!("Total cost: ${:.4}", ledger.total_cost().to_f64());
    for (model, spent) in ledger.by_model() {
        let _ = write!(
            text,
            "\n{model}: {} input, {} output, {} cache read, {} cache write (${})",
            spent.input_tokens,
            spent.output_tokens,
            spent.cache_read_input_tokens,
            spent.cache_creation_input_tokens,
            spent.cost_usd
        );
    }
    text
}

/// What fills the context.
async fn context(session: &Arc<Session>) -> String {
    let usage = compact::context_usage(session).await;
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
