//! The end of a turn.

use std::collections::BTreeMap;
use std::time::Duration;

use pilothouse_model::{FailureKind, Ledger, full_usage};
use pilothouse_proto::message::{
    FastModeState, ResultSubtype, StopReason, SubagentStats, TerminalReason, Usage,
};
use pilothouse_proto::{MessageOrigin, ModelUsage, Opt, Texts, TurnResult};
use serde_json::Number;

use super::blank;
use crate::machine::{End, Stop};
use crate::session::Session;
use crate::talk::Said;

/// What a result says beside how the conversation went.
#[derive(Debug, Default)]
pub(crate) struct Circumstances {
    pub(crate) duration: Duration,
    pub(crate) stop: Option<Stop>,
    /// The prompts that the turn took, by the ids their sender chose.
    pub(crate) prompts: Vec<String>,
    pub(crate) origin: Option<MessageOrigin>,
    /// What was spent since the last result.
    pub(crate) spent: Ledger,
    pub(crate) queued: usize,
}

/// The result of a conversation.
pub(crate) fn of_talk(session: &Session, said: &Said, facts: Circumstances) -> TurnResult {
    let (subtype, reason, errors) = how(session, said, facts.stop);
    let mut result = begin(session, subtype, &facts);
    result.is_error = (result.subtype != ResultSubtype::Success || said.failure.is_some()).into();
    result.terminal_reason = reason.into();
    result.num_turns = match (said.end, session.launch().max_turns) {
        // The round that was not allowed counts, and calls that ran together count once.
        (End::MaxTurns, Some(most)) => most + 1,
        _ => said.user_frames + 1,
    }
    .into();
    result.duration_api_ms = millis(session.stamp().took(said.api_time)).into();
    if said.end != End::Budget {
        result.usage = full_usage(&said.usage).into();
    }
    result.stop_reason = said.stop_reason.clone().map_or(Opt::Null, Opt::Some);
    result.ttft_ms = said.first_piece.map(|time| millis(session.stamp().took(time))).into();
    match errors {
        Some(errors) => result.errors = Texts::from(errors).into(),
        None => {
            result.result = text(said).into();
            result.api_error_status = Opt::Null;
            result.structured_output = said.structured.clone().into();
        }
    }
    if said.end == End::Deferred {
        result.stop_reason = StopReason::from("tool_deferred").into();
        result.deferred_tool_use = said.deferred.clone().into();
        result.api_error_status = Opt::Absent;
    }
    if said.end == End::Unjudged {
        result.extra.insert("stopped_by_permission_check", true);
    }
    if let Some(failure) = &said.failure {
        result.api_error_status = failure.status.map_or(Opt::Null, |status| Opt::Some(status.into()));
        result.api_error_type = failure.api_type.clone().into();
        result.api_error = super::synthetic::named(failure).into();
    }
    result
}

/// The result of something that needed no model.
pub(crate) fn of_local(session: &Session, text: &str, facts: Circumstances) -> TurnResult {
    let mut result = begin(session, ResultSubtype::Success, &facts);
    result.is_error = false.into();
    result.num_turns = 0.into();
    result.result = text.into();
    result
}

/// The result of a session that could not begin.
pub(crate) fn of_failed_start(session: &Session, error: &str) -> TurnResult {
    let mut result = begin(session, ResultSubtype::ErrorDuringExecution, &Circumstances::default());
    result.is_error = true.into();
    result.num_turns = 0.into();
    result.errors = Texts::from(vec![error]).into();
    result
}

/// How the end is told: the subtype, the reason, and the error of those subtypes that have one.
fn how(
    session: &Session,
    said: &Said,
    stop: Option<Stop>,
) -> (ResultSubtype, TerminalReason, Option<Vec<String>>) {
    use ResultSubtype::{
        ErrorDuringExecution, ErrorMaxBudgetUsd, ErrorMaxStructuredOutputRetries, ErrorMaxTurns, Success,
    };
    let launch = session.launch();
    match said.end {
        End::Completed => (Success, TerminalReason::Completed, None),
        End::HookStopped => (Success, TerminalReason::HookStopped, None),
        End::Deferred => (Success, TerminalReason::ToolDeferred, None),
        End::StopHookPrevented => (Success, TerminalReason::StopHookPrevented, None),
        End::ApiError => {
            let status = said.failure.as_ref().and_then(|failure| failure.status);
            let reason = match said.failure.as_ref().map(|failure| failure.kind) {
                // Without a status nobody was asked: the conversation was seen to be too long before.
                Some(FailureKind::PromptTooLong { .. }) if status.is_none() => TerminalReason::BlockingLimit,
                Some(FailureKind::PromptTooLong { .. }) => TerminalReason::PromptTooLong,
                Some(FailureKind::RequestTooLarge) => TerminalReason::ImageError,
                _ => TerminalReason::ApiError,
            };
            (Success, reason, None)
        }
        End::MaxTurns => {
            let most = launch.max_turns.unwrap_or_default();
            let error = format!("Reached maximum number of turns ({most})");
            (ErrorMaxTurns, TerminalReason::MaxTurns, Some(vec![error]))
        }
        End::Budget => {
            let most = launch.max_budget.as_ref().map_or("0", |(written, _)| written);
            (
                ErrorMaxBudgetUsd,
                TerminalReason::BudgetExhausted,
                Some(vec![format!("Reached maximum budget (${most})")]),
            )
        }
        End::SchemaFailures => {
            let error = "The structured output did not fit its schema, however often it was tried".to_owned();
            (
                ErrorMaxStructuredOutputRetries,
                TerminalReason::StructuredOutputRetryExhausted,
                Some(vec![error]),
            )
        }
        End::Unjudged => {
            let error = "The turn was ended, because what the model wants to do cannot be judged".to_owned();
            let errors = vec![diagnostic(said), error];
            (ErrorDuringExecution, TerminalReason::AbortedStreaming, Some(errors))
        }
        End::AbortedStreaming | End::AbortedTools => {
            let reason = match said.end {
                End::AbortedTools => TerminalReason::AbortedTools,
                _ => TerminalReason::AbortedStreaming,
            };
            match stop {
                Some(Stop::Urgent) => (Success, reason, None),
                _ => (ErrorDuringExecution, reason, Some(vec![diagnostic(said)])),
            }
        }
    }
}

/// The error of a turn that was cut off. Hosts tell an interrupt from a failure by its marker and its fields, which are those of
/// the real CLI on every recorded tape: the last message is in the user's role and has no content of a model.
fn diagnostic(said: &Said) -> String {
    let stop_reason = said.stop_reason.as_ref().map_or("null", |reason| reason.as_str());
    format!("[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={stop_reason}")
}

fn text(said: &Said) -> String {
    match (&said.structured, said.end) {
        (Some(structured), _) => structured.to_string(),
        (None, End::HookStopped | End::Deferred) => String::new(),
        (None, _) => said.text.clone(),
    }
}

fn begin(session: &Session, subtype: ResultSubtype, facts: &Circumstances) -> TurnResult {
    let mut result = blank::result(subtype, session.stamp().uuid(), session.id());
    result.duration_ms = millis(session.stamp().took(facts.duration)).into();
    result.duration_api_ms = Number::from(0).into();
    result.stop_reason = Opt::Null;
    result.usage = full_usage(&Usage::default()).into();
    let ledger = session.ledger();
    result.total_cost_usd = ledger.total_cost().to_number().into();
    result.model_usage = by_model(&ledger).into();
    result.model_usage_since_last_result = by_model(&facts.spent).into();
    result.permission_denials = session.take_denials().into();
    result.fast_mode_state = FastModeState::from("off").into();
    result.queued_turn_count = (facts.queued as u64).into();
    result.result_index = session.next_result().into();
    result.subagent_stats = session.subagent_stats().into();
    result.safety_stops = 0.into();
    result.origin = facts.origin.clone().into();
    if !facts.prompts.is_empty() {
        result.user_message_uuid = facts.prompts.first().cloned().into();
        result.user_message_uuids = facts.prompts.clone().into();
        let first = session.first_request_usage();
        result.first_request_input_tokens = first.map(|(input, _)| input).into();
        result.first_request_cache_read_input_tokens = first.map(|(_, cached)| cached).into();
    }
    result.resume_reason = session.resume_reason().into();
    result
}

/// No subagents yet.
pub(crate) fn no_subagents() -> SubagentStats {
    let zeros = |names: &[&str]| -> BTreeMap<String, u64> {
        names.iter().map(|name| ((*name).to_owned(), 0)).collect()
    };
    SubagentStats {
        spawned: 0,
        requested: zeros(&["background", "foreground", "unset"]).into(),
        started_in_background: 0.into(),
        max_depth: 0.into(),
        spawned_by_subagents: 0.into(),
        completed: 0.into(),
        failed: 0.into(),
        killed: zeros(&["parent", "user", "system"]).into(),
        refused: zeros(&["depth_limit", "concurrency_limit", "budget"]).into(),
        by_type: BTreeMap::new().into(),
        ..SubagentStats::default()
    }
}

fn by_model(ledger: &Ledger) -> BTreeMap<String, Box<ModelUsage>> {
    ledger.by_model().into_iter().map(|(model, usage)| (model, Box::new(usage))).collect()
}

fn millis(time: Duration) -> Number {
    Number::from(time.as_millis() as u64)
}
