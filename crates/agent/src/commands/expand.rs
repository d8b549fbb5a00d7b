//! A command of a file becomes a prompt.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use pilothouse_catalog::{Entry, Invocation, RunShell, Variables};
use pilothouse_proc::{Limits, Outcome};
use pilothouse_proto::ContentBlock;
use pilothouse_rules::{Behavior, Entry as RuleEntry, Rule, Source, ToolCall as RulesCall};

use super::{Dispatch, LocalOutcome, local};
use crate::hooks::Occasion;
use crate::session::Session;

/// How long a command inside a prompt may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// How much of its output goes into the prompt.
const LARGEST_OUTPUT: usize = 30_000;

/// The text of a command with its arguments put in and its shell commands run.
///
/// # Errors
/// What to tell the user.
pub(super) async fn text(session: &Arc<Session>, entry: &Entry, arguments: &str) -> Result<String, String> {
    let config = Some(session.launch().locations().config);
    let variables = Variables { session_id: Some(session.id().into_string()), config };
    let failed = |problem: String| format!("/{} was not run: {problem}", entry.name);
    let expansion = entry.expand(arguments, &variables).map_err(|error| failed(error.to_string()))?;
    let mut outputs = VecDeque::new();
    for call in expansion.shell_calls() {
        let output = shell(session, entry, &call.command).await;
        let stops = output.is_err();
        outputs.push_back(output);
        if stops {
            break;
        }
    }
    expansion.run(&mut Prepared(outputs)).map_err(|error| failed(error.to_string()))
}

/// Outputs that were made beforehand, in order.
struct Prepared(VecDeque<Result<String, String>>);

impl RunShell for Prepared {
    fn run(&mut self, _: &str) -> Result<String, String> {
        self.0.pop_front().unwrap_or_else(|| Err("an earlier command failed".to_owned()))
    }
}

/// Runs a shell command of a prompt. Nobody is asked: it must be harmless, or allowed by the command itself or a rule.
async fn shell(session: &Session, entry: &Entry, command: &str) -> Result<String, String> {
    let mut call = RulesCall::bash(command);
    call.input.insert("description".to_owned(), format!("of /{}", entry.name).into());
    let mut engine = session.engine();
    engine.change(|context| rules(entry).for_each(|rule| context.rules.push(rule)));
    let judged = call.clone();
    let decision =
        Session::decide(&call, move || engine.decide(&judged)).await.map_err(|error| error.to_string())?;
    if decision.behavior != Behavior::Allow {
        return Err(format!("{}; allow it with `allowed-tools` or a rule", decision.reason));
    }
    let spawn =
        session.workspace().spawn("bash", command).args(["-c", command]).no_stdin().cwd(session.cwd());
    let limits = Limits { timeout: PATIENCE, stdout: LARGEST_OUTPUT };
    let finished = spawn.run(&[], limits).await.map_err(|error| error.to_string())?;
    match finished.outcome {
        Outcome::Exited(exit) if exit.success() => Ok(String::from_utf8_lossy(&finished.stdout).into_owned()),
        Outcome::Exited(exit) => Err(format!("it ended with {exit}: {}", finished.stderr_tail.trim())),
        Outcome::TimedOut => Err(format!("it took longer than {} seconds", PATIENCE.as_secs())),
    }
}

fn rules(entry: &Entry) -> impl Iterator<Item = RuleEntry> {
    entry.allowed_tools.iter().map(|text| RuleEntry {
        source: Source::Command,
        behavior: Behavior::Allow,
        rule: Rule::parse(text),
        place: None,
    })
}

/// What the command allows holds for this turn.
pub(super) fn allow(session: &Session, entry: &Entry) {
    if !entry.allowed_tools.is_empty() {
        session
            .rules(|engine| engine.change(|context| rules(entry).for_each(|rule| context.rules.push(rule))));
    }
}

/// A new turn begins: what commands of the last one allowed is over.
pub(crate) fn forget_command_rules(session: &Session) {
    session.rules(|engine| {
        let has_some = engine.context().rules.entries().iter().any(|entry| entry.source == Source::Command);
        if has_some {
            engine.change(|context| context.rules.clear(Source::Command, Behavior::Allow));
        }
    });
}

/// Lets hooks look at the prompt that a command became, and gives it.
pub(super) async fn tell(
    session: &Arc<Session>,
    called: &Invocation<'_>,
    entry: Option<&Entry>,
    prompt: String,
) -> Dispatch {
    let scene = session.scene(None);
    let source = Some(entry.map_or_else(|| "builtin".to_owned(), |entry| entry.scope.to_string()));
    let (name, arguments) = (called.name.to_owned(), called.arguments.to_owned());
    let occasion = Occasion::user_prompt_expansion(&scene, name, arguments, source, prompt.clone());
    let report = session.hooks().fire(session, &scene, occasion).await;
    if let Some(reason) = report.block.or(report.stop) {
        return Dispatch::Local(local(called, reason, LocalOutcome::NotRun));
    }
    let mut tags =
        format!("<command-message>{0}</command-message>\n<command-name>/{0}</command-name>", called.name);
    if !called.arguments.is_empty() {
        tags.push_str(&format!("\n<command-args>{}</command-args>", called.arguments));
    }
    Dispatch::Prompt {
        blocks: vec![ContentBlock::text(tags), ContentBlock::text(prompt)],
        model: entry.and_then(|entry| entry.model.clone()),
        contexts: report.contexts,
    }
}
