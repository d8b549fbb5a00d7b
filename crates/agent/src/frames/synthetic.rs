//! Messages that look like the model's but are the session's own.

use pilothouse_model::{ApiFailure, FailureKind, full_usage};
use pilothouse_proto::message::{StopReason, Usage};
use pilothouse_proto::{Assistant, ContentBlock};

use super::blank;
use crate::session::Session;

const MODEL: &str = "<synthetic>";

/// The message that stands for an API failure.
pub(crate) fn api_error(session: &Session, failure: &ApiFailure) -> Assistant {
    let mut frame = words(session, &failure.text);
    frame.message.stop_reason = StopReason::StopSequence.into();
    frame.message.stop_sequence = "".into();
    frame.error = failure.class.clone().into();
    frame.request_id = failure.request_id.clone().into();
    frame.is_api_error_message = true.into();
    frame.api_error_status = failure.status.map(|status| u64::from(status).into()).into();
    frame.api_error_type = failure.api_type.clone().into();
    frame.api_error = named(failure).into();
    frame
}

/// A name for failures that have no status.
pub(crate) fn named(failure: &ApiFailure) -> Option<String> {
    let name = match failure.kind {
        FailureKind::Connection => "connection_failed",
        FailureKind::OutputLimit => "max_output_tokens",
        _ => return None,
    };
    Some(name.to_owned())
}

/// What a slash command printed.
pub(crate) fn local_command(session: &Session, text: &str, is_error: bool) -> Assistant {
    let mut frame = words(session, text);
    let stream = if is_error { "local-command-stderr" } else { "local-command-stdout" };
    frame.local_command_source = format!("<{stream}>{text}</{stream}>").into();
    frame
}

fn words(session: &Session, text: &str) -> Assistant {
    let id = session.stamp().uuid().into_string();
    let mut message = blank::message(id, MODEL.to_owned(), vec![ContentBlock::text(text)]);
    message.stop_reason = StopReason::EndTurn.into();
    message.usage = full_usage(&Usage::default()).into();
    blank::assistant(message, session.stamp().uuid(), session.id())
}
