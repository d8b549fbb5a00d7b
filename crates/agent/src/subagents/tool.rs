//! The tool that hands work to a subagent.

use std::collections::BTreeMap;
use std::sync::Arc;

use pilothouse_proto::Opt;
use pilothouse_proto::message::SubagentStats;
use pilothouse_proto::system::TaskEnd;
use pilothouse_tools::{Done, Input, Outcome};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::kind::{GENERAL, Kind};
use super::run::{Job, Report, resolve};
use super::running::Silence;
use crate::session::Session;
use crate::tasks::{TaskNote, TaskOver};
use crate::tool::{AgentTool, Ran, ToolCall, Working};
use crate::voice::Audience;

/// `Agent`, also called `Task`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agent;

impl AgentTool for Agent {
    fn name(&self) -> &str {
        "Agent"
    }

    fn description(&self) -> String {
        "Hands a task to a subagent, which works on it in a conversation of its own and reports once. Say everything it must \
         know: it has seen nothing of this conversation. It runs in the background unless run_in_background is false; its \
         report then comes as a later message. Start several at once when their tasks do not depend on each other."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "The task in three to five words"},
                "prompt": {"type": "string", "description": "The whole task"},
                "subagent_type": {"type": "string", "description": "The type of agent; general-purpose when absent"},
                "model": {"type": "string", "description": "Another model than the agent's own"},
                "run_in_background": {"type": "boolean", "description": "false waits for the report"},
            },
            "required": ["description", "prompt"],
        })
    }

    fn runs_in_parallel(&self, _: &Input) -> bool {
        true
    }

    fn run<'a>(&'a self, call: &'a ToolCall, session: &'a Arc<Session>) -> Working<'a> {
        Box::pin(async move {
            let job = match prepare(call, session) {
                Ok(job) => job,
                Err(message) => return Outcome::Failed { message, misuse: true }.into(),
            };
            if let Some(message) = job.refusal(session) {
                return Outcome::Failed { message, misuse: false }.into();
            }
            let wanted = call.input.get("run_in_background").and_then(Value::as_bool);
            // What a subagent hands on it waits for: nobody else would hear the report.
            let background = session.has_background()
                && call.caller.is_none()
                && wanted.or(job.kind.background).unwrap_or(true);
            session.count_subagents(|stats| count_start(stats, &job, wanted, background));
            if background { start(job, session) } else { wait(job, call, session).await }
        })
    }
}

fn prepare(call: &ToolCall, session: &Session) -> Result<Job, String> {
    let text = |field: &str| call.input.get(field).and_then(Value::as_str);
    let prompt = text("prompt").ok_or("`prompt` must say what the subagent is to do")?;
    let kind = Kind::find(session, text("subagent_type").unwrap_or(GENERAL))?;
    let description = text("description").unwrap_or_default();
    let mut job = Job::new(session, kind, description, prompt, &call.id, call.caller.as_ref());
    if let Some(model) = text("model").filter(|model| !model.trim().is_empty()) {
        job.model = resolve(session, Some(model));
    }
    Ok(job)
}

/// Whether the host wants to see what subagents say.
pub(crate) fn forwards_text(session: &Session) -> bool {
    session.launch().forward_subagent_text
        || session.initialize().forward_subagent_text.as_ref() == Some(&true)
}

/// Starts it in the background; the end is told later, as a prompt of the session itself.
fn start(mut job: Job, session: &Arc<Session>) -> Ran {
    job.audience = Audience::Background;
    let (note, model, stop) = (job.note.clone(), job.model.clone(), job.stop.clone());
    session.running_agents().began(note.id.clone(), stop);
    session.task_began(note.clone());
    let mut work = JoinSet::new();
    work.spawn(job.run(session.clone()));
    goes_on(work, &note, session);
    launched(session, &note, &model)
}

/// Looks after a subagent in the background to its end.
fn goes_on(mut work: JoinSet<Report>, note: &TaskNote, session: &Arc<Session>) {
    let (worker, note) = (session.clone(), note.clone());
    tokio::spawn(async move {
        let Some(Ok(report)) = work.join_next().await else {
            // It broke down; the debug log says how.
            worker.running_agents().ended(&note.id);
            let over = TaskOver { end: TaskEnd::Failed, ..worker.stopped(&note) };
            return worker.task_over(&note.id, over);
        };
        let silence = worker.running_agents().ended(&note.id);
        count_end(&worker, &report);
        let over = report.over(&worker, &note);
        match silence {
            None => worker.task_over(&note.id, over),
            Some(Silence::ButForTheModel) => worker.tell_model_over(&note, &over),
            Some(Silence::ForGood) => {}
        }
    });
}

/// What the model hears of a subagent in the background.
fn launched(session: &Session, note: &TaskNote, model: &str) -> Ran {
    let file = session.workspace().output_dir().join("tasks").join(format!("{}.output", note.id));
    let text = format!(
        "The subagent {} works on it in the background. Its report will come as a message of its own, so do not wait or \
         look for it: go on with other work, or end your turn and tell the user what was started.",
        note.id
    );
    done(
        text,
        json!({
            "isAsync": true,
            "status": "async_launched",
            "agentId": note.id,
            "description": note.description,
            "resolvedModel": model,
            "prompt": note.prompt,
            "outputFile": file,
            "canReadOutputFile": true,
        }),
    )
}

/// Runs it while the call waits, or until somebody lets it go.
async fn wait(mut job: Job, call: &ToolCall, session: &Arc<Session>) -> Ran {
    job.audience = Audience::Foreground { words: forwards_text(session) };
    job.pace = call.pace.clone();
    let (note, model, agent_type) = (job.note.clone(), job.model.clone(), job.kind.name.clone());
    let (stop, let_go) = (job.stop.clone(), job.let_go.clone());
    // Nobody would hear the report of one that a subagent started.
    if call.caller.is_none() && session.has_background() {
        session.foreground().began(note.clone(), let_go.clone(), stop.clone());
    }
    session.tell_task_started(&note, false);
    let mut work = JoinSet::new();
    work.spawn(job.run(session.clone()));
    let report = loop {
        tokio::select! {
            biased;
            () = let_go.cancelled() => {
                session.running_agents().began(note.id.clone(), stop);
                goes_on(work, &note, session);
                return launched(session, &note, &model);
            }
            () = call.stop.cancelled(), if !stop.is_cancelled() => stop.cancel(),
            report = work.join_next() => break report,
        }
    };
    let was_ours = session.foreground().over(&note) || call.caller.is_some() || !session.has_background();
    let Some(Ok(report)) = report else {
        session.tell_task_over(&note, &TaskOver { end: TaskEnd::Failed, ..session.stopped(&note) });
        let message = "The subagent broke down; see the debug log".to_owned();
        return Outcome::Failed { message, misuse: false }.into();
    };
    count_end(session, &report);
    let over = report.over(session, &note);
    if !was_ours && !call.stop.is_cancelled() {
        // Somebody ended it, and the host has heard of that; the turn goes on.
        let message = "[Request interrupted by user for tool use]".to_owned();
        return Outcome::Failed { message, misuse: false }.into();
    }
    if report.end == TaskEnd::Stopped {
        // The host hears of the stopped call first, then of its task.
        let after = session.task_over_frames(&note, &over);
        return Ran { after, ..Outcome::Stopped { partial: report.text }.into() };
    }
    session.tell_task_over(&note, &over);
    if report.end == TaskEnd::Failed {
        let message = format!("The subagent failed: {}", report.text);
        return Outcome::Failed { message, misuse: false }.into();
    }
    let content = json!([{"type": "text", "text": report.text}]);
    let structured = json!({
        "status": "completed",
        "prompt": note.prompt,
        "agentId": note.id,
        "agentType": agent_type,
        "content": content,
        "resolvedModel": model,
        "totalDurationMs": report.millis,
        "totalTokens": report.tokens(),
        "totalToolUseCount": report.tool_uses,
        "usage": report.usage,
    });
    let text =
        if report.text.trim().is_empty() { "The subagent ended without a report." } else { &report.text };
    done(text.to_owned(), structured)
}

fn count_start(stats: &mut SubagentStats, job: &Job, wanted: Option<bool>, background: bool) {
    stats.spawned += 1;
    let asked = match wanted {
        Some(true) => "background",
        Some(false) => "foreground",
        None => "unset",
    };
    count_in(&mut stats.requested, asked);
    count_in(&mut stats.by_type, &job.kind.name);
    let deepest = stats.max_depth.as_ref().copied().unwrap_or_default();
    stats.max_depth = Opt::Some(deepest.max(job.caller.depth));
    if job.caller.depth > 1 {
        count(&mut stats.spawned_by_subagents);
    }
    if background {
        count(&mut stats.started_in_background);
    }
}

fn count_end(session: &Session, report: &Report) {
    session.count_subagents(|stats| match report.end {
        TaskEnd::Completed => count(&mut stats.completed),
        TaskEnd::Stopped => count_in(&mut stats.killed, "user"),
        _ => count(&mut stats.failed),
    });
}

fn count(number: &mut Opt<u64>) {
    *number = Opt::Some(number.as_ref().copied().unwrap_or_default() + 1);
}

fn count_in(numbers: &mut Opt<BTreeMap<String, u64>>, key: &str) {
    let mut counted = std::mem::take(numbers).unwrap_or_default();
    *counted.entry(key.to_owned()).or_default() += 1;
    *numbers = Opt::Some(counted);
}

fn done(text: String, structured: Value) -> Ran {
    let content = json!([{"type": "text", "text": text}]);
    Outcome::Done(Box::new(Done { content, structured })).into()
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;
