use std::time::Duration;

use pilothouse_link::{Agent, Handle, RequestError};
use pilothouse_proto::control::{AgentRequest, HookCallback, Request as _, SuccessReply};
use pilothouse_proto::hook::HookSpecificOutput;
use pilothouse_proto::{Extra, HookOutput, Opt};
use tokio_util::sync::CancellationToken;

use super::occasion::Occasion;
use super::report::Failure;

/// What came of asking the host.
pub(crate) enum Called {
    Answered(Box<HookOutput>),
    /// The host said that it failed, or said nothing that can be read.
    Failed(String),
    Unanswered(Failure),
}

/// What a host answered. Nothing at all is not the same as an answer in which it has no opinion.
fn read(reply: &SuccessReply) -> Called {
    if reply.response.as_ref().is_none_or(|response| response.get() == "null") {
        return Called::Failed("its answer is empty".to_owned());
    }
    match reply.payload::<HookOutput>() {
        Ok(output) if !is_usable(&output) => Called::Failed("its decision is none that there is".to_owned()),
        Ok(output) => Called::Answered(Box::new(output)),
        Err(error) => Called::Failed(error.to_string()),
    }
}

/// Whether a decision about a call is one of those there are.
fn is_usable(output: &HookOutput) -> bool {
    match output.hook_specific_output.as_ref() {
        Some(HookSpecificOutput::PreToolUse(pre)) => pre
            .permission_decision
            .as_ref()
            .is_none_or(|decision| matches!(decision.as_str(), "allow" | "deny" | "ask" | "defer")),
        _ => true,
    }
}

/// Runs a hook of the host; `names` is what the occasion goes by. Dropping the future withdraws the request.
pub(crate) async fn call(
    host: &Handle<Agent>,
    id: &str,
    occasion: &Occasion,
    names: &str,
    timeout: Duration,
    replaced: &CancellationToken,
) -> Called {
    let request: AgentRequest = HookCallback {
        callback_id: id.to_owned(),
        input: occasion.input.clone().into(),
        tool_use_id: Opt::Some(names.into()),
        extra: Extra::new(),
    }
    .into();
    let answer = tokio::select! {
        answer = host.ask(HookCallback::SUBTYPE, request, Some(timeout)) => answer,
        () = replaced.cancelled() => return Called::Unanswered(Failure::Replaced),
    };
    match answer {
        Ok(reply) => read(&reply),
        Err(RequestError::TimedOut { .. }) => Called::Unanswered(Failure::TimedOut),
        Err(RequestError::Refused { message, .. }) => Called::Failed(message),
        // The host is gone: what it would have said nobody knows.
        Err(RequestError::Send(_)) => Called::Unanswered(Failure::HostGone),
        Err(error) => Called::Failed(error.to_string()),
    }
}
