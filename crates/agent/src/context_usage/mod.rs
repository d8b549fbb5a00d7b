//! What fills the context, as `get_context_usage` and `/context` show it.
//!
//! The API counts the whole request, and what it is without tools and without the system prompt; a summary does without it.
//! What these consist of is guessed from lengths: asking about each part would be a request for each.

mod breakdown;
mod grid;
mod parts;

use std::sync::Arc;

use pilothouse_model::{Request, ToolOffer};
use pilothouse_proto::message::Usage;
use pilothouse_proto::{ContentBlock, MessageParam, Opt};
use serde_json::{Value, json};

use crate::compact::{letters, threshold};
use crate::control::as_it_stands;
use crate::session::Session;
use parts::Parts;

/// One row of the listing.
struct Category {
    id: &'static str,
    name: &'static str,
    tokens: u64,
    color: &'static str,
    kind: &'static str,
}

/// Who counts the tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counter {
    /// The API, which takes a moment.
    Api,
    /// We, by the lengths of texts.
    Length,
}

/// What fills the context.
pub(crate) async fn report(session: &Arc<Session>, counter: Counter) -> Value {
    let request = with_first_words(session, as_it_stands(session));
    let parts = Parts::of(session, &request);
    let counted = Counted::by(counter, session, &request).await;
    let info = session.model_info();
    let window = info.context_window;
    let categories = categories(session, &counted, &parts, window);
    let mut report = json!({
        "categories": categories.iter().map(Category::to_json).collect::<Vec<_>>(),
        "totalTokens": counted.whole,
        "maxTokens": window,
        "rawMaxTokens": window,
        "autocompactSource": "model-default",
        "percentage": percentage(counted.whole, window),
        "gridRows": grid::rows(&categories, window),
        "model": info.id,
        "memoryFiles": parts.memory_files(),
        "mcpTools": parts.mcp_tools(),
        "mcpInstructions": parts.mcp_instructions(),
        "systemTools": parts.system_tools(),
        "agents": parts.agents(),
        "slashCommands": parts.slash_commands(session),
        "skills": parts.skills(),
        "messageBreakdown": breakdown::of(&request.messages),
        "isAutoCompactEnabled": threshold(session).is_some(),
        "apiUsage": session.last_usage().as_ref().map(api_usage),
    });
    if let Some(most) = threshold(session) {
        report["autoCompactThreshold"] = most.into();
    }
    report
}

impl Category {
    fn to_json(&self) -> Value {
        let Self { id, name, tokens, color, kind } = self;
        json!({"id": id, "name": name, "tokens": tokens, "color": color, "kind": kind})
    }
}

/// Before anything was said the context is what the first prompt brings along.
fn with_first_words(session: &Session, mut request: Request) -> Request {
    if session.history().is_empty() {
        let words = [crate::prompt::reminder(session), crate::commands::offered(session)];
        let blocks: Vec<ContentBlock> = words.into_iter().flatten().map(ContentBlock::text).collect();
        if !blocks.is_empty() {
            request.messages = vec![MessageParam { content: blocks.into(), ..MessageParam::default() }];
        }
    }
    request
}

/// Tokens as the API counts them, or as their length tells.
struct Counted {
    whole: u64,
    tools: u64,
    system: u64,
    messages: u64,
}

impl Counted {
    async fn by(counter: Counter, session: &Session, request: &Request) -> Self {
        let mut bare = request.clone();
        bare.tools.clear();
        let mut words = bare.clone();
        words.system.clear();
        let whole = count(counter, session, request.clone()).await;
        let bare = count(counter, session, bare).await;
        let messages = count(counter, session, words).await;
        Self { whole, tools: whole.saturating_sub(bare), system: bare.saturating_sub(messages), messages }
    }
}

async fn count(counter: Counter, session: &Session, request: Request) -> u64 {
    let guess = guess(&request);
    match counter {
        Counter::Api => session.model().count_tokens(request).await.unwrap_or(guess),
        Counter::Length => guess,
    }
}

/// About how many tokens a request has: system prompt, tools and messages.
fn guess(request: &Request) -> u64 {
    let system: u64 = request.system.iter().map(|block| tokens(&block.text)).sum();
    let tools: u64 = request.tools.iter().map(tool_tokens).sum();
    let message = |message: &MessageParam| serde_json::to_value(message).map_or(0, |json| letters(&json) / 4);
    system + tools + request.messages.iter().map(message).sum::<u64>()
}

/// About how many tokens a text has.
fn tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

fn tool_tokens(tool: &ToolOffer) -> u64 {
    match tool {
        ToolOffer::Client { name, description, input_schema } => {
            tokens(name) + tokens(description) + tokens(&input_schema.to_string())
        }
        ToolOffer::Server(fields) => tokens(&Value::Object(fields.clone()).to_string()),
    }
}

fn categories(session: &Session, counted: &Counted, parts: &Parts, window: u64) -> Vec<Category> {
    // What is guessed is never more than what was counted.
    let mcp_tools = share(counted.tools, parts.mcp_tool_tokens(), parts.tool_tokens());
    let mcp_instructions = parts.mcp_instruction_tokens().min(counted.system);
    let memory = parts.memory_tokens().min(counted.messages);
    let skills = parts.skill_tokens().min(counted.messages - memory);
    let agents = parts.agent_tokens().min(counted.messages - memory - skills);
    let messages = counted.messages - memory - skills - agents;
    let buffer = threshold(session).map_or(0, |most| window.saturating_sub(most));
    let free = window.saturating_sub(counted.whole + buffer);
    let used = |id, name, tokens, color| Category { id, name, tokens, color, kind: "used" };
    let always = ["system_prompt", "system_tools", "messages", "autocompact_buffer", "free_space"];
    let all = [
        used("system_prompt", "System prompt", counted.system - mcp_instructions, "promptBorder"),
        used("system_tools", "System tools", counted.tools - mcp_tools, "inactive"),
        used("mcp_tools", "MCP tools", mcp_tools, "cyan"),
        used("mcp_instructions", "MCP instructions", mcp_instructions, "cyan"),
        used("custom_agents", "Custom agents", agents, "permission"),
        used("memory_files", "Memory files", memory, "claude"),
        used("skills", "Skills", skills, "warning"),
        used("messages", "Messages", messages, "purple"),
        Category { kind: "buffer", ..used("autocompact_buffer", "Autocompact buffer", buffer, "inactive") },
        Category { kind: "free", ..used("free_space", "Free space", free, "promptBorder") },
    ];
    all.into_iter().filter(|row| row.tokens > 0 || always.contains(&row.id)).collect()
}

/// The part of a counted whole that its guessed part stands for.
fn share(counted: u64, part: u64, whole: u64) -> u64 {
    (counted.saturating_mul(part) / whole.max(1)).min(counted)
}

/// Rounded to whole per cent.
fn percentage(tokens: u64, window: u64) -> u64 {
    (tokens.saturating_mul(200) / window.max(1)).div_ceil(2)
}

fn api_usage(usage: &Usage) -> Value {
    let count = |tokens: &Opt<u64>| tokens.as_ref().copied().unwrap_or_default();
    json!({
        "input_tokens": count(&usage.input_tokens),
        "output_tokens": count(&usage.output_tokens),
        "cache_creation_input_tokens": count(&usage.cache_creation_input_tokens),
        "cache_read_input_tokens": count(&usage.cache_read_input_tokens),
    })
}
