//! Slash commands and skills: what becomes of a prompt that begins with `/`, and the tool by which a model uses a skill.
//!
//! Commands are the agent's own ([`pilothouse_catalog::BUILTINS`]) or found on disk. Some are answered here without the
//! model, some become another prompt, some run as a subagent, and what nobody knows goes to the model as it is.

mod configure;
mod expand;
mod local;
mod prompts;
mod skill;

use std::sync::Arc;

use pilothouse_catalog::{Builtin, BuiltinKind, Entry, Invocation};
use pilothouse_proto::ContentBlock;

use crate::session::Session;
use crate::stop::StopSignal;
use crate::subagents::{Job, Kind};
use crate::voice::Audience;

pub(crate) use expand::forget_command_rules;
pub(crate) use skill::{Skill, line, offered, offered_skills, skill_text};

/// What becomes of a prompt.
#[derive(Debug)]
pub(crate) enum Dispatch {
    /// It is no command: the model gets it as it is.
    Plain,
    /// The model gets these blocks in its place.
    Prompt {
        /// What was called, then the text of the command.
        blocks: Vec<ContentBlock>,
        /// The model to use for this turn.
        model: Option<String>,
        /// What hooks want the model to know.
        contexts: Vec<String>,
    },
    /// It was answered.
    Local(Local),
    /// The conversation is to be compacted, with these instructions.
    Compact(Option<String>),
    /// The conversation starts over.
    Clear,
}

/// The answer to a command that needed no turn of the model.
#[derive(Debug, Default)]
pub(crate) struct Local {
    /// The command as it was called.
    pub(crate) name: String,
    /// What followed it.
    pub(crate) arguments: String,
    /// What the user is told.
    pub(crate) text: String,
    /// How it came about.
    pub(crate) outcome: LocalOutcome,
}

/// How a local answer came about.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum LocalOutcome {
    /// The command ran.
    Ran,
    /// It works only in a terminal.
    Unavailable,
    /// It ran as a subagent, which was told this.
    Forked {
        /// The subagent.
        caller: Box<crate::tool::Caller>,
        /// Its task.
        prompt: String,
    },
    /// It was not run; the text says why.
    #[default]
    NotRun,
}

/// Decides what becomes of a host's prompt, and does it as far as no turn of the model is needed.
pub(crate) async fn dispatch(session: &Arc<Session>, text: &str, stop: &StopSignal) -> Dispatch {
    let Some(called) = Invocation::parse(text) else { return Dispatch::Plain };
    let catalog = session.catalog();
    if session.launch().disable_slash_commands {
        return match catalog.find_builtin(called.name) {
            None => Dispatch::Plain,
            Some(_) => {
                let text =
                    format!("/{} is not available here: --disable-slash-commands is set.", called.name);
                Dispatch::Local(local(&called, text, LocalOutcome::Unavailable))
            }
        };
    }
    if let Some(entry) = catalog.find(called.name) {
        if !entry.user_invocable {
            let text = format!("Only the model may use the skill \"{}\". Ask it to.", entry.name);
            return Dispatch::Local(local(&called, text, LocalOutcome::NotRun));
        }
        return entry_called(session, entry, &called, stop).await;
    }
    if let Some(prompt) = session.mcp.prompts().into_iter().find(|prompt| prompt.command == called.name) {
        return match prompt.text(called.arguments).await {
            Ok(text) => expand::tell(session, &called, None, text).await,
            Err(problem) => Dispatch::Local(local(&called, problem, LocalOutcome::NotRun)),
        };
    }
    match catalog.find_builtin(called.name) {
        None => Dispatch::Plain,
        Some(builtin) => builtin_called(session, builtin, &called, stop).await,
    }
}

async fn builtin_called(
    session: &Arc<Session>,
    builtin: &Builtin,
    called: &Invocation<'_>,
    stop: &StopSignal,
) -> Dispatch {
    match builtin.kind {
        BuiltinKind::Gone => Dispatch::Plain,
        BuiltinKind::Unavailable => {
            let text = format!("/{} is not available here: it needs a terminal.", called.name);
            Dispatch::Local(local(called, text, LocalOutcome::Unavailable))
        }
        BuiltinKind::Prompt => {
            let prompt = prompts::of(builtin.name, called.arguments);
            if builtin.name == "review" {
                let described = format!("/{}", builtin.name);
                return fork(session, None, &described, called, prompt, stop).await;
            }
            expand::tell(session, called, None, prompt).await
        }
        BuiltinKind::Local => match builtin.name {
            "compact" => Dispatch::Compact(Some(called.arguments.to_owned()).filter(|text| !text.is_empty())),
            "clear" => Dispatch::Clear,
            name => {
                let text = local::answer(session, name, called.arguments).await;
                let mut answer = local(called, text, LocalOutcome::Ran);
                answer.name = name.to_owned();
                Dispatch::Local(answer)
            }
        },
    }
}

async fn entry_called(
    session: &Arc<Session>,
    entry: &Entry,
    called: &Invocation<'_>,
    stop: &StopSignal,
) -> Dispatch {
    let prompt = match expand::text(session, entry, called.arguments).await {
        Ok(prompt) => prompt,
        Err(problem) => return Dispatch::Local(local(called, problem, LocalOutcome::NotRun)),
    };
    if entry.forks {
        return fork(session, entry.agent.as_deref(), &entry.description, called, prompt, stop).await;
    }
    expand::allow(session, entry);
    expand::tell(session, called, Some(entry), prompt).await
}

/// Runs a command as a subagent; its report is the answer.
async fn fork(
    session: &Arc<Session>,
    agent: Option<&str>,
    description: &str,
    called: &Invocation<'_>,
    prompt: String,
    stop: &StopSignal,
) -> Dispatch {
    let kind = match Kind::find(session, agent.unwrap_or("general-purpose")) {
        Ok(kind) => kind,
        Err(problem) => return Dispatch::Local(local(called, problem, LocalOutcome::NotRun)),
    };
    let parent = format!("forked-command-{}", called.name);
    let mut job = Job::new(session, kind, description, &prompt, &parent.as_str().into(), None);
    job.audience = Audience::Nobody;
    job.stop = stop.token().child_token();
    let (mut note, caller) = (job.note.clone(), Box::new(job.caller.clone()));
    note.description = format!("/{}", called.name);
    session.tell_ambient_started(&note, false);
    let report = job.run(session.clone()).await;
    let mut over = report.over(session, &note);
    over.summary.clone_from(&note.description);
    session.output().emit(session.ambient_over(&note, &over, false));
    Dispatch::Local(local(called, report.text, LocalOutcome::Forked { caller, prompt }))
}

fn local(called: &Invocation<'_>, text: String, outcome: LocalOutcome) -> Local {
    Local { name: called.name.to_owned(), arguments: called.arguments.to_owned(), text, outcome }
}

/// What a later request tells the model about a command that it took no part in.
pub(crate) fn remembered(answer: &Local) -> Vec<ContentBlock> {
    const CAVEAT: &str = "<local-command-caveat>The user ran the command below in the program itself. It is here so that you \
         know of it; do not answer it.</local-command-caveat>";
    let command = format!(
        "<command-name>/{0}</command-name>\n<command-message>{0}</command-message>\n<command-args>{1}</command-args>",
        answer.name, answer.arguments
    );
    let output = format!("<local-command-stdout>{}</local-command-stdout>", answer.text);
    [CAVEAT.to_owned(), command, output].map(ContentBlock::text).to_vec()
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
