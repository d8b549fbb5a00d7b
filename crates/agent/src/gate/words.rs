//! What the model and the user are told about calls that do not run.

use pilothouse_rules::{Decision, Mode, ReasonType};
use serde_json::{Map, Value};

/// The host's answer is not one.
pub(super) const BAD_ANSWER: &str = "The host's answer to the permission request cannot be used, so the call was not \
     run. An answer is {behavior: 'allow', updatedInput?: object} or {behavior: 'deny', message: string}, with at \
     most 4096 permission updates.";

/// A hook of the host did not answer in time.
pub(super) const HOOK_TIMED_OUT: &str = "A PreToolUse hook did not answer in time, so the call was not run. Other hooks may not have finished either.";

/// The host replaced its hooks while one was being asked.
pub(super) const HOOKS_REPLACED: &str = "The host registered its hooks anew while one of them was deciding, so the call was not run. Try it again.";

/// Looking at the rules broke down.
pub(super) const NOT_JUDGED: &str =
    "The call could not be judged by the permission rules, so it was not run.";

/// A hook failed that must not fail.
pub(super) const HOOK_FAILED: &str =
    "A PreToolUse hook failed, or answered what it was not asked, so the call was not run.";

/// The host went away while one of its hooks was deciding.
pub(super) const HOST_GONE: &str = "The host went away before its PreToolUse hook had decided, so the call was not run. Stop and wait for the user.";

pub(super) fn request_failed(why: &str) -> String {
    format!("Tool permission request failed: {why}")
}

/// A rule denies a call.
pub(super) fn denied(tool: &str, input: &Map<String, Value>) -> String {
    match input.get("command").and_then(Value::as_str) {
        Some(command) => format!("Permission to use {tool} with command {command} has been denied."),
        None => format!("Permission to use {tool} has been denied."),
    }
}

/// A rule denies a file: told as a mistake of the call.
pub(super) fn denied_file(tool: &str) -> &'static str {
    match tool {
        "Read" | "NotebookRead" => "The permission settings deny reading this file.",
        _ => "The permission settings deny access to this file, so it cannot be changed.",
    }
}

/// The mode refuses what it would have to ask.
pub(super) fn not_asked(tool: &str, mode: Mode) -> String {
    format!(
        "Permission to use {tool} has been denied because the permission mode is {mode}, in which nothing is asked: \
         only calls that a rule allows or that are plainly harmless run. Do not look for another way to the same \
         end. Go on with what can be done without it, or tell the user what is needed and why."
    )
}

/// Said to the user of a mode whose judge does not run.
pub(super) const NO_JUDGE: &str = "In this mode a safety check on the vendor's servers judges what is run, and this session is told to make no \
     such calls. What would need the check is refused; another permission mode lets you decide.";

/// Why nothing is asked where the host switched that off.
pub(super) const PROMPTS_OFF: &str = "this session asks for no approvals, so what would need one is refused";

/// Nobody is there to be asked.
pub(super) fn nobody_asked(tool: &str, decision: &Decision) -> String {
    format!(
        "{tool} needs approval and nobody can be asked in this session: {}. Rules or another permission mode would \
         allow it.",
        decision.reason
    )
}

/// The judge of `auto` did not answer.
pub(super) fn unjudged(tool: &str, decision: &Decision) -> String {
    format!(
        "{tool} was not run, because it could not be judged: {}. Reading and searching still work. Finish what can be \
         done without it and tell the user that another permission mode is needed for the rest.",
        decision.reason
    )
}

/// Why the host is asked, in a sentence; nothing where the kind of reason says it all.
pub(super) fn asked_because(decision: &Decision) -> Option<String> {
    match decision.reason_type {
        None | Some(ReasonType::Rule | ReasonType::Mode | ReasonType::SubcommandResults) => None,
        Some(_) => Some(decision.reason.clone()),
    }
}
