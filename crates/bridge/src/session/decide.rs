//! From what a user decided to what the CLI is told.

use pilothouse::proto::{PermissionUpdateDestination, RulesUpdate};
use pilothouse::rules::Rule;
use pilothouse::{PermissionMode, PermissionUpdate};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::refusal::Refusal;
use crate::api::{Answer, ApproveAlways, Decision, ErrorCode, PermissionRequest, Reject};
use crate::auth::{Scope, Scopes};

/// A decision about an open approval.
#[derive(Debug, Clone)]
pub(crate) enum Verdict {
    Allow,
    /// By a device that may do this: what it picks is known only here.
    Always(ApproveAlways, Scopes),
    Deny(Reject),
    Answer(Answer),
}

/// What a verdict comes to for one request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ruling {
    pub(crate) decision: Decision,
    pub(crate) message: Option<String>,
    /// What is stored, for the log.
    pub(crate) rules: Vec<String>,
    pub(crate) answer: ToTheCli,
}

/// What the CLI is told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ToTheCli {
    Allow,
    AllowUpdating(Vec<PermissionUpdate>),
    AllowWithAnswers(Vec<(String, String)>),
    Deny { message: String, stop: bool },
}

impl Verdict {
    /// What it comes to.
    pub(crate) fn on(&self, request: &PermissionRequest) -> Result<Ruling, Refusal> {
        match self {
            Self::Allow => Ok(ruling(Decision::Allowed, ToTheCli::Allow)),
            Self::Always(always, scopes) => always_allow(always, *scopes, request),
            Self::Deny(reject) => {
                let message = reject.message.clone().filter(|message| !message.trim().is_empty());
                let told = message.clone().unwrap_or_else(|| "The user refused this.".to_owned());
                let answer = ToTheCli::Deny { message: told, stop: reject.stop == Some(true) };
                Ok(Ruling { message, ..ruling(Decision::Denied, answer) })
            }
            Self::Answer(answer) => {
                let answers = answers(&answer.result, request)?;
                let shown = answers.iter().map(|(_, answer)| answer.as_str()).collect::<Vec<_>>().join("; ");
                Ok(Ruling {
                    message: Some(shown),
                    ..ruling(Decision::Answered, ToTheCli::AllowWithAnswers(answers))
                })
            }
        }
    }
}

impl ToTheCli {
    /// Tells the CLI.
    pub(crate) fn tell(self, request: pilothouse::PermissionRequest) {
        match self {
            Self::Allow => request.allow(),
            Self::AllowUpdating(updates) => request.allow_updating(updates),
            Self::AllowWithAnswers(answers) => {
                let answered = answers
                    .into_iter()
                    .fold(request, |request, (question, answer)| request.answer(&question, answer));
                answered.allow();
            }
            Self::Deny { message, stop: false } => request.deny(message),
            Self::Deny { message, stop: true } => request.deny_and_stop(message),
        }
    }
}

fn ruling(decision: Decision, answer: ToTheCli) -> Ruling {
    Ruling { decision, message: None, rules: Vec::new(), answer }
}

fn always_allow(
    always: &ApproveAlways,
    scopes: Scopes,
    request: &PermissionRequest,
) -> Result<Ruling, Refusal> {
    let mut updates = Vec::new();
    match &always.suggestions {
        Some(picked) => {
            for index in picked {
                let Some(update) = request.suggestions.get(*index) else {
                    let message = format!(
                        "there is no suggestion {index}; the request has {}",
                        request.suggestions.len()
                    );
                    return Err(Refusal::new(ErrorCode::MalformedMessage, message));
                };
                may_pick(update, scopes)?;
                let update = update.clone();
                updates.push(if always.for_session == Some(true) { for_session(update) } else { update });
            }
        }
        // A client that shows no suggestions gets the narrowest meaning of "always": what it asked about, until the end.
        None => {
            let rules =
                request.suggestions.iter().find(|update| matches!(update, PermissionUpdate::AddRules(_)));
            updates.extend(rules.cloned().map(for_session));
        }
    }
    if updates.is_empty() {
        return Ok(ruling(Decision::Allowed, ToTheCli::Allow));
    }
    let rules = updates.iter().flat_map(shown).collect();
    Ok(Ruling { rules, ..ruling(Decision::AllowedAlways, ToTheCli::AllowUpdating(updates)) })
}

/// A mode is changed by whom may change it, also where the CLI suggests it; one that never asks is granted on its own.
fn may_pick(update: &PermissionUpdate, scopes: Scopes) -> Result<(), Refusal> {
    let PermissionUpdate::SetMode(set) = update else { return Ok(()) };
    Refusal::without(Scope::Configure, scopes)?;
    if set.mode == PermissionMode::BypassPermissions {
        Refusal::without(Scope::Bypass, scopes)?;
    }
    Ok(())
}

fn for_session(mut update: PermissionUpdate) -> PermissionUpdate {
    let session = PermissionUpdateDestination::Session;
    match &mut update {
        PermissionUpdate::AddRules(update)
        | PermissionUpdate::ReplaceRules(update)
        | PermissionUpdate::RemoveRules(update) => update.destination = session.into(),
        PermissionUpdate::SetMode(update) => update.destination = session.into(),
        PermissionUpdate::AddDirectories(update) | PermissionUpdate::RemoveDirectories(update) => {
            update.destination = session.into();
        }
        _ => {}
    }
    update
}

/// An update in words: what, and where it is stored.
fn shown(update: &PermissionUpdate) -> Vec<String> {
    let rules = |verb: &str, update: &RulesUpdate| -> Vec<String> {
        let place = update.destination.as_ref().map_or("session", PermissionUpdateDestination::as_str);
        let rules = update.rules.iter();
        rules
            .map(|rule| {
                let rule = Rule::new(&rule.tool_name, rule.rule_content.as_deref());
                format!("{verb}{} {rule} in {place}", update.behavior)
            })
            .collect()
    };
    match update {
        PermissionUpdate::AddRules(update) => rules("", update),
        PermissionUpdate::ReplaceRules(update) => rules("only ", update),
        PermissionUpdate::RemoveRules(update) => rules("no longer ", update),
        PermissionUpdate::SetMode(update) => vec![format!("mode {}", update.mode)],
        PermissionUpdate::AddDirectories(update) => {
            update.directories.iter().map(|path| format!("directory {path}")).collect()
        }
        PermissionUpdate::RemoveDirectories(update) => {
            update.directories.iter().map(|path| format!("no longer directory {path}")).collect()
        }
        other => vec![other.tag().to_owned()],
    }
}

/// Which answer goes to which question.
fn answers(result: &str, request: &PermissionRequest) -> Result<Vec<(String, String)>, Refusal> {
    #[derive(Deserialize)]
    struct Several {
        answers: Map<String, Value>,
    }
    // Before the answer is read: a tool call that asks nothing would run, with the answers among its input.
    if request.questions.is_empty() {
        let message = "this approval asks no question, so nothing was answered: approve or reject it";
        return Err(Refusal::new(ErrorCode::Refused, message));
    }
    if let Ok(several) = serde_json::from_str::<Several>(result) {
        let text = |value: Value| match value {
            Value::String(text) => text,
            Value::Array(labels) => {
                let labels: Vec<&str> = labels.iter().filter_map(Value::as_str).collect();
                labels.join(", ")
            }
            other => other.to_string(),
        };
        return Ok(several.answers.into_iter().map(|(question, answer)| (question, text(answer))).collect());
    }
    match request.questions.as_slice() {
        [only] => Ok(vec![(only.question.clone(), result.to_owned())]),
        several => {
            let message = format!(
                "there are {} questions: answer with JSON {{\"answers\": {{question: answer}}}}",
                several.len()
            );
            Err(Refusal::new(ErrorCode::Refused, message))
        }
    }
}
