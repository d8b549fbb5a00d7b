//! A call that a hook put off: written down when its turn ends, made when the session is taken up again.

use std::sync::Arc;

use pilothouse_proto::message::DeferredToolUse;
use pilothouse_proto::{ContentBlock, Extra};
use pilothouse_store::{ChainKind, Past};
use serde_json::{Map, Value};

use crate::calls;
use crate::machine::{CallEnd, End, Prompt};
use crate::pace::Pace;
use crate::session::Session;
use crate::stop::StopSignal;
use crate::talk::{self, Said};
use crate::tool::ToolCall;
use crate::voice::Voice;
use crate::words;

/// The kind of line that says which call was put off.
const LINE: &str = "deferred-call";

/// Writes a call down for whoever takes the session up again.
pub(crate) fn write_down(session: &Session, call: &DeferredToolUse) {
    if let Ok(Value::Object(members)) = serde_json::to_value(call) {
        session.recorder().note(LINE, members);
    }
}

/// The call that the session was left with; none when anything came after it.
pub(crate) fn left_by(past: &Past) -> Option<DeferredToolUse> {
    let call: DeferredToolUse = serde_json::from_value(past.notes.get(LINE)?.clone().into()).ok()?;
    let said = |kinds: &[ChainKind]| past.entries.iter().rev().find(|entry| kinds.contains(&entry.kind));
    let last = said(&[ChainKind::User, ChainKind::Assistant])?.message.as_ref()?;
    let blocks = last.get("content").and_then(Value::as_array)?;
    let is_last =
        blocks.iter().any(|block| block.get("id").and_then(Value::as_str) == Some(call.id.as_str()));
    is_last.then_some(call)
}

/// Makes the call that a prompt takes up. The turn goes on unless there is an end of it.
pub(crate) async fn take_up(session: &Arc<Session>, prompts: &[Prompt], stop: &StopSignal) -> Option<Said> {
    let DeferredToolUse { id, name, input, .. } =
        prompts.iter().find_map(|prompt| prompt.takes_up.clone())?;
    // Whatever happens to this process: it is not made twice.
    session.recorder().note(LINE, Map::new());
    let tool = talk::find(&session.tools_in_force(), &name);
    let (stop, pace) = (stop.token().clone(), Pace::default());
    let call = ToolCall { id, name, input, caller: None, stop, pace };
    let performed = calls::perform(session.clone(), call, tool).await;
    if performed.end == CallEnd::Deferred {
        let ToolCall { id, name, input, .. } = performed.call;
        let deferred = DeferredToolUse { id, name, input, extra: Extra::new() };
        write_down(session, &deferred);
        return Some(Said { deferred: Some(deferred), ..Said::nothing(End::Deferred) });
    }
    talk::tell(session, &Voice::main(session, Vec::new()), &performed);
    session.history().replace_result(performed.result);
    let contexts = performed.contexts.iter().map(|context| words::reminder(context));
    let after: Vec<ContentBlock> = performed.follow_ups.into_iter().flatten().chain(contexts).collect();
    session.history().add_user(after);
    match performed.end {
        CallEnd::Interrupted => Some(Said::nothing(End::AbortedTools)),
        CallEnd::HookStopped => Some(Said::nothing(End::HookStopped)),
        _ => None,
    }
}
