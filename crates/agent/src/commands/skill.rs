//! The tool by which a model uses a skill or a command.

use std::sync::Arc;

use pilothouse_catalog::Entry;
use pilothouse_proto::system::TaskEnd;
use pilothouse_proto::{Content, ContentBlock, ToolUseId};
use pilothouse_tools::{Done, Input, Outcome};
use serde_json::{Value, json};

use super::expand;
use crate::session::Session;
use crate::subagents::{Job, Kind, forwards_text};
use crate::tool::{AgentTool, Ran, ToolCall, Working};
use crate::voice::Audience;

/// How the text of a skill begins.
const BASE_DIRECTORY: &str = "Base directory for this skill:";

/// `Skill`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skill;

impl AgentTool for Skill {
    fn name(&self) -> &str {
        "Skill"
    }

    fn description(&self) -> String {
        "Loads a skill: instructions for a kind of task, written by the user, the project or a plugin. When a task fits one of \
         the skills that you were told of, load it before you do anything else. A prompt that begins with a slash is such \
         a call already; do not load it again."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "skill": {"type": "string", "description": "The skill's name"},
                "args": {"type": "string", "description": "What to tell it"},
            },
            "required": ["skill"],
        })
    }

    fn runs_in_parallel(&self, _: &Input) -> bool {
        false
    }

    fn run<'a>(&'a self, call: &'a ToolCall, session: &'a Arc<Session>) -> Working<'a> {
        Box::pin(async move {
            match launch(call, session).await {
                Ok(ran) => ran,
                Err(message) => Outcome::Failed { message, misuse: true }.into(),
            }
        })
    }
}

/// What a model is told about the skills and agents that it may use; none when it may use neither.
pub(crate) fn offered(session: &Session) -> Option<String> {
    let tools = session.tools_in_force();
    let has = |name: &str| tools.iter().any(|tool| tool.name() == name);
    let mut lists = Vec::new();
    let lines: Vec<String> = offered_skills(session).iter().map(line).collect();
    if !lines.is_empty() {
        lists.push(format!("Skills for the Skill tool:\n{}", lines.join("\n")));
    }
    if has("Agent") {
        let agents = crate::offers::agents(session).into_iter();
        let lines: Vec<String> =
            agents.map(|agent| format!("- {}: {}", agent.name, agent.description)).collect();
        lists.push(format!("Types of subagents for the Agent tool:\n{}", lines.join("\n")));
    }
    let lists = lists.join("\n\n");
    (!lists.is_empty()).then(|| format!("<system-reminder>\n{lists}\n</system-reminder>"))
}

/// The skills that the model may call, if it can call any.
pub(crate) fn offered_skills(session: &Session) -> Vec<Entry> {
    if !session.tools_in_force().iter().any(|tool| tool.name() == "Skill") {
        return Vec::new();
    }
    let wanted = session.initialize().skills.as_ref().cloned();
    let may = |entry: &&Entry| entry.model_invocable && entry.described;
    let wants = |entry: &&Entry| wanted.as_ref().is_none_or(|wanted| wanted.contains(&entry.name));
    session.catalog().entries.iter().filter(may).filter(wants).cloned().collect()
}

/// A skill as the model reads of it.
pub(crate) fn line(entry: &Entry) -> String {
    match &entry.when_to_use {
        Some(when) => format!("- {}: {} {when}", entry.name, entry.description),
        None => format!("- {}: {}", entry.name, entry.description),
    }
}

/// The text of a skill, for an agent that is to know it from the start.
///
/// # Errors
/// Why there is none.
pub(crate) async fn skill_text(session: &Arc<Session>, name: &str) -> Result<String, String> {
    let catalog = session.catalog();
    let entry = catalog.find(name).ok_or_else(|| format!("there is no skill {name}"))?;
    let text = expand::text(session, entry, "").await?;
    Ok(format!("<skill name=\"{}\">\n{text}\n</skill>", entry.name))
}

async fn launch(call: &ToolCall, session: &Arc<Session>) -> Result<Ran, String> {
    let text = |field: &str| call.input.get(field).and_then(Value::as_str);
    let name = text("skill").or_else(|| text("command")).map(|name| name.trim().trim_start_matches('/'));
    let name = name.filter(|name| !name.is_empty()).ok_or("`skill` must name a skill")?;
    let catalog = session.catalog();
    let entry = catalog.find(name).ok_or_else(|| format!("there is no skill {name}"))?;
    if !entry.model_invocable {
        return Err(format!("the skill {name} may only be used by the user"));
    }
    let arguments = text("args").unwrap_or_default();
    let prompt = expand::text(session, entry, arguments).await?;
    if entry.forks {
        return fork(call, session, entry, prompt).await;
    }
    expand::allow(session, entry);
    let mut ran: Ran =
        done(format!("Launching skill: {}", entry.name), json!({"success": true, "commandName": entry.name}));
    match loaded(call, session, &prompt) {
        Loaded::No => {}
        Loaded::Same => {
            let note = format!("The skill {} was loaded before and has not changed.", entry.name);
            ran.follow_ups.push(vec![ContentBlock::text(note)]);
            return Ok(ran);
        }
        Loaded::Other => {
            let note = format!("The skill {} was loaded before; this time it reads as follows.", entry.name);
            ran.follow_ups.push(vec![ContentBlock::text(note)]);
        }
    }
    ran.follow_ups.push(vec![ContentBlock::text(prompt)]);
    Ok(ran)
}

/// Whether the conversation has a skill already.
enum Loaded {
    No,
    /// Word for word.
    Same,
    /// With other arguments.
    Other,
}

fn loaded(call: &ToolCall, session: &Session, prompt: &str) -> Loaded {
    // A subagent has a conversation of its own, where nothing is known of this one.
    if call.caller.is_some() {
        return Loaded::No;
    }
    let place = prompt.lines().next().filter(|line| line.starts_with(BASE_DIRECTORY));
    let messages = session.history().messages();
    let mut found = Loaded::No;
    for message in &messages {
        let Content::Blocks(blocks) = &message.content else { continue };
        for text in blocks.iter().filter_map(ContentBlock::as_text) {
            if text == prompt {
                return Loaded::Same;
            }
            if place.is_some_and(|place| text.lines().next() == Some(place)) {
                found = Loaded::Other;
            }
        }
    }
    found
}

/// Runs a skill that wants an agent of its own.
async fn fork(call: &ToolCall, session: &Arc<Session>, entry: &Entry, prompt: String) -> Result<Ran, String> {
    let kind = Kind::find(session, entry.agent.as_deref().unwrap_or("general-purpose"))?;
    let parent: &ToolUseId = &call.id;
    let mut job = Job::new(session, kind, &entry.description, &prompt, parent, call.caller.as_ref());
    job.audience = Audience::Foreground { words: forwards_text(session) };
    job.shows_progress = false;
    job.stop = call.stop.child_token();
    let (mut note, agent) = (job.note.clone(), job.caller.agent_id.clone());
    note.description = format!("/{}", entry.name);
    session.tell_ambient_started(&note, true);
    let report = job.run(session.clone()).await;
    let mut over = report.over(session, &note);
    over.summary.clone_from(&note.description);
    let told = session.ambient_over(&note, &over, true);
    if report.end == TaskEnd::Stopped {
        return Ok(Ran { before: vec![told], ..Outcome::Stopped { partial: report.text }.into() });
    }
    session.output().emit(told);
    if report.end == TaskEnd::Failed {
        return Err(format!("the skill {} failed: {}", entry.name, report.text));
    }
    let structured = json!({
        "success": true, "commandName": entry.name, "status": "forked", "agentId": agent, "result": report.text,
    });
    Ok(done(report.text, structured))
}

fn done(content: String, structured: Value) -> Ran {
    Outcome::Done(Box::new(Done { content: Value::String(content), structured })).into()
}
