//! Calls that do not run: what the model, the host and the hooks are told.

use std::sync::Arc;

use pilothouse_proto::hook::HookSpecificOutput;
use pilothouse_proto::system::PermissionDenied;
use pilothouse_proto::{AgentFrame, PermissionDecisionMeta, PermissionDenial, System};
use pilothouse_rules::{Behavior, Decision, HookOpinion, ReasonType, Step};
use serde_json::Value;

use super::ask::shown_input;
use super::check::Gate;
use super::words;
use crate::hooks::{Occasion, ToolUse};
use crate::scene::Scene;
use crate::session::Session;
use crate::tool::Verdict;

/// Who decided, for `tool_result_meta`.
pub(super) fn meta(decision: &str, source: &str, reason: Option<&str>) -> PermissionDecisionMeta {
    PermissionDecisionMeta {
        decision: decision.to_owned(),
        source: source.to_owned(),
        reason_type: reason.map(str::to_owned).into(),
        ..PermissionDecisionMeta::default()
    }
}

/// The call did not run, and this is the model's text.
pub(super) fn refused(
    message: impl Into<String>,
    by: Option<PermissionDecisionMeta>,
    kind: Option<&str>,
) -> Verdict {
    Verdict::Refuse {
        message: message.into(),
        structured: None,
        decision: by,
        non_execution_kind: kind.map(str::to_owned),
        then_stop: None,
        contexts: Vec::new(),
    }
}

/// Why a call is refused whatever rules and modes say.
pub(super) struct Refusal {
    /// For the host.
    pub(super) reason: String,
    /// For the model.
    pub(super) message: String,
}

const BY_RULE: Option<&str> = Some("permission-rule");

impl Gate {
    /// The rules, a mode or a hook refuse a call.
    pub(super) async fn deny(
        &self,
        session: &Arc<Session>,
        scene: &Scene,
        tool: &ToolUse,
        decision: &Decision,
        opinions: &[HookOpinion],
    ) -> Verdict {
        let reason_type = decision.reason_type.map(|kind| kind.name());
        let by_config = Some(meta("reject", "config", reason_type));
        match decision.step {
            Step::HookDeny => {
                note(session, tool);
                let message = format!("PreToolUse:{} hook error: {}", tool.name, decision.reason);
                refused(message, Some(meta("reject", "hook", reason_type)), BY_RULE)
            }
            // There is nothing to refuse: the tool itself says why the call makes no sense.
            Step::ToolCheck => refused(decision.reason.clone(), None, None),
            Step::DenyRule if is_file_tool(&tool.name) => {
                note(session, tool);
                let message = words::denied_file(&tool.name);
                Verdict::Refuse {
                    message: format!("<tool_use_error>{message}</tool_use_error>"),
                    structured: Some(Value::String(format!("Error: {message}"))),
                    decision: by_config,
                    non_execution_kind: None,
                    then_stop: None,
                    contexts: Vec::new(),
                }
            }
            // A rule about one type of subagent forbids the type and not the tool, so it is no refusal of the call.
            Step::DenyRule if is_about_a_type(tool, decision) => {
                refused(words::denied(&tool.name, &tool.input), Some(meta("accept", "config", None)), None)
            }
            step => {
                let message = match step {
                    Step::Mode => words::not_asked(&tool.name, scene.mode),
                    Step::Classifier => words::unjudged(&tool.name, decision),
                    _ => words::denied(&tool.name, &tool.input),
                };
                let unjudged = step == Step::Classifier;
                if unjudged {
                    session.count_unjudged();
                }
                let kind = if unjudged { Some("automode-unavailable") } else { BY_RULE };
                let why = unjudged.then(|| decision.reason.clone());
                if is_told(opinions) {
                    tell(session, scene, tool, reason_type, why, &message);
                }
                note(session, tool);
                let message = match unjudged {
                    true => self.retry_or(session, scene, tool, message).await,
                    false => message,
                };
                refused(message, by_config, kind)
            }
        }
    }

    /// Nobody could allow a call.
    pub(super) fn refuse(
        session: &Session,
        scene: &Scene,
        tool: &ToolUse,
        refusal: Refusal,
        opinions: &[HookOpinion],
    ) -> Verdict {
        let other = Some(ReasonType::Other.name());
        if is_told(opinions) {
            tell(session, scene, tool, other, Some(refusal.reason), &refusal.message);
        }
        note(session, tool);
        refused(refusal.message, Some(meta("reject", "config", other)), BY_RULE)
    }

    /// A call would have to be asked about, and nobody is there.
    pub(super) fn deny_unasked(
        session: &Session,
        scene: &Scene,
        tool: &ToolUse,
        decision: &Decision,
    ) -> Verdict {
        let message = words::nobody_asked(&tool.name, decision);
        let (reason_type, why) = match session.launch().prompts_off {
            true => (Some("asyncAgent"), Some(words::PROMPTS_OFF.to_owned())),
            false => (decision.reason_type.map(|kind| kind.name()), words::asked_because(decision)),
        };
        tell(session, scene, tool, reason_type, why, &message);
        note(session, tool);
        refused(message, Some(meta("reject", "config", None)), Some("user-rejected"))
    }

    /// Tells hooks that a call was not judged. Gives what the model is told: a hook may let it try again.
    async fn retry_or(
        &self,
        session: &Arc<Session>,
        scene: &Scene,
        tool: &ToolUse,
        message: String,
    ) -> String {
        let occasion = Occasion::permission_denied(scene, tool, message.clone());
        let report = self.hooks().fire(session, scene, occasion).await;
        let retry = report.specific.iter().any(|specific| match specific {
            HookSpecificOutput::PermissionDenied(output) => output.retry.as_ref() == Some(&true),
            _ => false,
        });
        if retry { format!("{message} A hook lets you try it again.") } else { message }
    }
}

/// A host whose hook allowed the call hears of its refusal through the result alone.
fn is_told(opinions: &[HookOpinion]) -> bool {
    !opinions.iter().any(|opinion| opinion.behavior == Behavior::Allow)
}

/// Remembers the refusal for the turn's result.
pub(super) fn note(session: &Session, tool: &ToolUse) {
    session.note_denial(PermissionDenial {
        tool_name: tool.name.clone(),
        tool_use_id: tool.id.clone(),
        tool_input: shown_input(tool),
        ..PermissionDenial::default()
    });
}

pub(super) fn tell(
    session: &Session,
    scene: &Scene,
    tool: &ToolUse,
    reason_type: Option<&str>,
    reason: Option<String>,
    message: &str,
) {
    let mut frame = PermissionDenied {
        tool_name: tool.name.clone(),
        tool_use_id: tool.id.clone(),
        agent_id: scene.subagent.as_ref().map(|agent| agent.id.clone()).into(),
        decision_reason_type: reason_type.map(str::to_owned).into(),
        decision_reason: reason.into(),
        message: message.to_owned(),
        uuid: session.stamp().uuid(),
        session_id: scene.session_id.clone(),
        ..PermissionDenied::default()
    };
    if reason_type == Some(ReasonType::Classifier.name()) {
        frame.extra.insert("decision_reason_code", "auto_mode_no_check_in_session");
    }
    session.output().emit(AgentFrame::System(System::PermissionDenied(Box::new(frame))));
}

fn is_about_a_type(tool: &ToolUse, decision: &Decision) -> bool {
    matches!(tool.name.as_str(), "Agent" | "Task")
        && decision.rule.as_ref().is_some_and(|rule| rule.text.contains('('))
}

fn is_file_tool(name: &str) -> bool {
    matches!(name, "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "NotebookRead")
}
