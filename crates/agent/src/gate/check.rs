use std::sync::Arc;

use pilothouse_proto::hook::{HookSpecificOutput, PermissionRequestDecision};
use pilothouse_proto::{HookEvent, Lazy, Opt, PermissionUpdate};
use pilothouse_rules::{Behavior, Classifier, Decision, Engine, Mode, Source, Step, ToolCall as RulesCall};
use pilothouse_tools::Outcome;
use serde_json::json;

use super::answer::Answer;
use super::ask::question;
use super::confined;
use super::refuse::{meta, note, refused};
use super::{links, words};
use crate::heartbeat::Heartbeat;
use crate::hooks::{Failure, Hooks, Occasion, Report, ToolUse};
use crate::launch::Asks;
use crate::plan::Plan;
use crate::scene::Scene;
use crate::session::Session;
use crate::tool::{AgentTool, ToolCall, Verdict};

/// Decides whether tool calls may run.
#[derive(Clone, Debug)]
pub struct Gate {
    hooks: Hooks,
    plan: Arc<Plan>,
}

/// A call on its way through the gate.
struct Passing<'a> {
    session: &'a Arc<Session>,
    call: &'a ToolCall,
    scene: Scene,
    tool: ToolUse,
    /// The configuration of its server wants it asked about.
    always_asked: bool,
}

impl Gate {
    /// A gate that asks these hooks first.
    pub fn new(hooks: Hooks, plan: Arc<Plan>) -> Self {
        Self { hooks, plan }
    }

    /// The hooks it asks.
    pub fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// Decides about a call: says what becomes of it, and has told the host and remembered for the turn's result what
    /// there is to tell. Waits as long as the host takes; `call.stop` ends the wait.
    pub async fn check(&self, session: &Arc<Session>, call: &ToolCall, tool: &dyn AgentTool) -> Verdict {
        let scene = session.scene(call.caller.as_ref());
        let always_asked = tool.is_always_asked();
        let tool = ToolUse {
            id: call.id.clone(),
            name: call.name.clone(),
            input: call.input.clone(),
            cwd: scene.cwd.clone(),
            mcp_server: tool.mcp_server(),
            title: tool.title(),
        };
        let mut passing = Passing { session, call, scene, tool, always_asked };
        let occasion = Occasion::pre_tool_use(&passing.scene, &passing.tool);
        let beat = self.hooks.wants(&HookEvent::PreToolUse).then(|| {
            Heartbeat::start(session, format!("hook-PreToolUse-{}", call.id), "PreToolUse", &call.id)
        });
        let report = tokio::select! {
            report = self.hooks.fire(session, &passing.scene, occasion) => report,
            () = call.stop.cancelled() => return Verdict::Interrupt,
        };
        drop(beat);
        if report.told > 0 {
            call.pace.end().await;
        }
        if let Some(failure) = report.failure {
            let (message, kind) = match failure {
                Failure::TimedOut => (words::HOOK_TIMED_OUT, None),
                Failure::Replaced => (words::HOOKS_REPLACED, None),
                Failure::Failed => (words::HOOK_FAILED, None),
                Failure::HostGone => (words::HOST_GONE, Some("cancelled")),
            };
            return refused(message, None, kind);
        }
        if let Some(input) = &report.updated_input {
            passing.tool.input = input.clone();
        }
        // A subagent has nobody who could take the call up again.
        if report.deferred && !report.denies() && call.caller.is_none() {
            return Verdict::Defer;
        }
        let verdict = self.decide(&passing, &report).await;
        if passing.tool.name == "Bash" && matches!(verdict, Verdict::Run { .. }) {
            session.rules(Engine::shell_runs);
        }
        with_report(verdict, report)
    }

    async fn decide(&self, passing: &Passing<'_>, report: &Report) -> Verdict {
        let Passing { session, scene, tool, .. } = passing;
        if !report.denies() && self.plan.is_about(session, tool) {
            return run(passing, Some(meta("accept", "config", Some("mode"))));
        }
        if !report.denies()
            && let Some(refusal) = links::refusal(session, tool)
        {
            passing.call.pace.question(&tool.name, false).await;
            return Self::refuse(session, scene, tool, refusal, &report.opinions);
        }
        if let Some(verdict) = confined::refusal(session, scene, tool).filter(|_| !report.denies()) {
            return verdict;
        }
        let asked = RulesCall::new(&tool.name, tool.input.clone());
        let of_caller = passing.call.caller.as_ref().and_then(|caller| caller.mode);
        let mode = held_mode(session, tool, of_caller).or(of_caller);
        let classifier = session.judge();
        let mut engine = session.engine();
        if mode.is_some() || passing.always_asked || !matches!(classifier, Classifier::None) {
            engine.change(|context| {
                context.mode = mode.unwrap_or(context.mode);
                if passing.always_asked {
                    context.rules.add(Source::Session, Behavior::Ask, &tool.name);
                }
                context.classifier = classifier;
            });
        }
        // The decision looks at the disk, so the lock does not wait for it.
        let (opinions, judged) = (report.opinions.clone(), asked.clone());
        let deciding = Session::decide(&asked, move || engine.decide_with_hooks(&judged, &opinions));
        let decision = tokio::select! {
            biased;
            decided = deciding => match decided {
                Ok(decision) => decision,
                Err(error) => {
                    tracing::error!(%error, "a call was not judged");
                    return refused(words::NOT_JUDGED, None, None);
                }
            },
            () = passing.call.stop.cancelled() => return Verdict::Interrupt,
        };
        if decision.behavior != Behavior::Allow {
            passing.call.pace.question(&tool.name, tool.mcp_server.is_some()).await;
        }
        match decision.behavior {
            Behavior::Allow => run(passing, Some(accepted(tool, &decision))),
            Behavior::Deny => self.deny(session, scene, tool, &decision, &report.opinions).await,
            Behavior::Ask => self.ask(passing, &decision).await,
        }
    }

    /// Asks the host, and hooks that may answer in its stead; whoever decides first.
    async fn ask(&self, passing: &Passing<'_>, decision: &Decision) -> Verdict {
        let Passing { session, call, scene, tool, always_asked } = passing;
        let mut stand_in = self.stand_in(passing, decision);
        if session.launch().asks == Asks::Nobody {
            let answer = tokio::select! {
                answer = &mut stand_in => answer,
                () = call.stop.cancelled() => return Verdict::Interrupt,
            };
            return match answer {
                Some(answer) => settle(passing, answer, "hook"),
                None => Self::deny_unasked(session, scene, tool, decision),
            };
        }
        if let Asks::Tool(name) = &session.launch().asks {
            let answer = tokio::select! {
                answer = ask_tool(passing, name) => answer,
                () = call.stop.cancelled() => {
                    note(session, tool);
                    return Verdict::Interrupt;
                }
            };
            return settle(passing, answer, "user");
        }
        let mut question = question(scene, tool, decision);
        if *always_asked && decision.step == Step::AskRule {
            question.decision_reason_rule_source = Opt::Some("mcpServerPolicy".to_owned());
            question.server_policy_ask_only = Opt::Some(true);
        }
        let is_edit = matches!(tool.name.as_str(), "Write" | "Edit" | "NotebookEdit");
        if session.launch().restricted && is_edit && question.decision_reason.as_ref().is_none() {
            question.server_policy_ask_only = Opt::Some(true);
        }
        session.asks_somebody();
        let asked = session.host().ask("can_use_tool", question.into(), None);
        tokio::pin!(asked);
        let mut hooks_have_spoken = false;
        loop {
            tokio::select! {
                biased;
                () = call.stop.cancelled() => {
                    note(session, tool);
                    return Verdict::Interrupt;
                }
                reply = &mut asked => {
                    // The hooks were asked, so they are heard out, though nothing depends on them any more.
                    session.was_answered();
                    if !hooks_have_spoken {
                        tokio::spawn(stand_in);
                    }
                    call.pace.end().await;
                    return settle(passing, Answer::read(reply), "user");
                }
                answer = &mut stand_in, if !hooks_have_spoken => match answer {
                    Some(answer) => {
                        session.was_answered();
                        return settle(passing, answer, "hook");
                    }
                    None => hooks_have_spoken = true,
                },
            }
        }
    }

    /// What `PermissionRequest` hooks decide, if they do.
    fn stand_in(&self, passing: &Passing<'_>, decision: &Decision) -> StandIn {
        let Passing { session, scene, tool, .. } = passing;
        if !self.hooks.wants(&HookEvent::PermissionRequest) {
            return Box::pin(std::future::ready(None));
        }
        let occasion = Occasion::permission_request(scene, tool, decision.suggestions.clone());
        let (hooks, session, scene) = (self.hooks.clone(), Arc::clone(session), scene.clone());
        Box::pin(async move {
            hooks.fire(&session, &scene, occasion).await.specific.into_iter().find_map(decided)
        })
    }
}

/// The mode that the host holds calls to a server to. It counts where the mode would let them pass, so it never allows more.
fn held_mode(session: &Session, tool: &ToolUse, of_caller: Option<Mode>) -> Option<Mode> {
    let held = session.mcp.held_to(&tool.mcp_server.as_ref()?.name)?;
    let mode = of_caller.unwrap_or_else(|| session.mode());
    matches!(mode, Mode::BypassPermissions | Mode::Auto).then_some(held)
}

/// Asks the tool that the command line names in place of the host.
async fn ask_tool(passing: &Passing<'_>, name: &str) -> Answer {
    let Passing { session, call, tool, .. } = passing;
    let Some(asked) = session.tools_in_force().into_iter().find(|asked| asked.name() == name) else {
        return Answer::Unusable(words::request_failed(&format!("there is no tool {name} to ask")));
    };
    let question = json!({"tool_name": tool.name, "input": tool.input, "tool_use_id": tool.id});
    let input = question.as_object().cloned().unwrap_or_default();
    let id = session.stamp().uuid().into_string().into();
    let question = ToolCall { id, name: name.to_owned(), input, ..(*call).clone() };
    match asked.run(&question, session).await.outcome {
        Outcome::Done(done) => Answer::of_tool(&done.content),
        Outcome::Failed { message, .. } => Answer::Unusable(words::request_failed(&message)),
        Outcome::Stopped { .. } => Answer::Stop,
    }
}

type StandIn = std::pin::Pin<Box<dyn Future<Output = Option<Answer>> + Send>>;

fn decided(specific: HookSpecificOutput) -> Option<Answer> {
    let HookSpecificOutput::PermissionRequest(output) = specific else { return None };
    match output.decision {
        PermissionRequestDecision::Allow(allow) => Some(Answer::Allow {
            input: allow.updated_input.into_option().map(Lazy::into_value).filter(|input| !input.is_empty()),
            updates: allow.updated_permissions.unwrap_or_default(),
            classification: None,
        }),
        PermissionRequestDecision::Deny(deny) if deny.interrupt.as_ref() == Some(&true) => Some(Answer::Stop),
        PermissionRequestDecision::Deny(deny) => {
            Some(Answer::Deny(deny.message.into_option().unwrap_or_else(|| "A hook refused it.".to_owned())))
        }
        _ => None,
    }
}

/// What an answer comes to; `who` gave it.
fn settle(passing: &Passing<'_>, answer: Answer, who: &str) -> Verdict {
    let Passing { session, tool, .. } = passing;
    let by_host = who == "user";
    match answer {
        Answer::Allow { input, updates, classification } => {
            apply(session, &updates);
            let source = match classification {
                Some(given) => given.as_str().to_owned(),
                None if by_host => "user_temporary".to_owned(),
                None => who.to_owned(),
            };
            let reason = (!by_host).then_some("hook");
            let decision = Some(meta("accept", &source, reason));
            let input = input.unwrap_or_else(|| tool.input.clone());
            Verdict::Run { input, decision, then_stop: None, contexts: Vec::new() }
        }
        Answer::Deny(message) => {
            note(session, tool);
            let source = if by_host { "user_reject" } else { who };
            let reason = (!by_host).then_some("hook");
            refused(message, Some(meta("reject", source, reason)), Some("permission-rule"))
        }
        Answer::Stop => {
            note(session, tool);
            Verdict::Interrupt
        }
        Answer::Unusable(message) => {
            note(session, tool);
            refused(message, Some(meta("reject", "config", Some("other"))), Some("permission-rule"))
        }
    }
}

/// Makes the changes that came with an answer: in the session at once, and in the files they name. What cannot be
/// applied is left out; the leave to run stands.
fn apply(session: &Session, updates: &[PermissionUpdate]) {
    let before = session.mode();
    for update in updates {
        if let Err(error) = session.rules(|engine| engine.apply(update)) {
            tracing::warn!(%error, "a permission update was not applied");
            continue;
        }
        if let Err(error) = session.launch().locations().save_update(update) {
            tracing::warn!(%error, "a permission update holds for this session only");
        }
    }
    if session.mode() != before {
        session.announce_mode();
    }
}

fn run(passing: &Passing<'_>, decision: Option<pilothouse_proto::PermissionDecisionMeta>) -> Verdict {
    Verdict::Run { input: passing.tool.input.clone(), decision, then_stop: None, contexts: Vec::new() }
}

/// Who let a call run that nobody was asked about.
fn accepted(tool: &ToolUse, decision: &Decision) -> pilothouse_proto::PermissionDecisionMeta {
    let of_parts = decision.rule.as_ref().is_none_or(|rule| rule.text.contains('('));
    let reason = match (decision.step, tool.name.as_str()) {
        (Step::HookAllow, _) => return meta("accept", "hook", Some("hook")),
        (Step::BypassMode, _) => Some("mode"),
        (Step::Classifier, _) => Some("classifier"),
        (Step::AllowRule | Step::ToolCheck | Step::Mode, "Bash") if of_parts => Some("subcommandResults"),
        (Step::AllowRule, _) => Some("rule"),
        (Step::ToolCheck | Step::Mode, "Read" | "Write" | "Edit" | "NotebookEdit" | "Glob" | "Grep") => {
            Some("mode")
        }
        _ => None,
    };
    meta("accept", "config", reason)
}

/// What hooks said beside their opinion goes along, whatever becomes of the call.
fn with_report(mut verdict: Verdict, report: Report) -> Verdict {
    match &mut verdict {
        Verdict::Run { then_stop, contexts, .. } | Verdict::Refuse { then_stop, contexts, .. } => {
            *then_stop = report.stop;
            *contexts = report.contexts;
        }
        Verdict::Defer | Verdict::Interrupt => {}
    }
    verdict
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
