//! What the session says in its own words to the model. Markers that hosts look for are kept to the letter.

use pilothouse_proto::ContentBlock;

use crate::machine::{MOST_STOP_BLOCKS, Nudge};
use crate::session::Session;

/// Said in the user's name when the user stops an answer. Hosts look for it.
pub(crate) const INTERRUPTED: &str = "[Request interrupted by user]";
/// The same while tools run.
pub(crate) const INTERRUPTED_TOOLS: &str = "[Request interrupted by user for tool use]";

/// The error of a turn that was stopped while hooks looked at its prompt. Hosts know it by how it begins.
pub(crate) const PROMPT_UNCHECKED: &str = "prompt_check: the turn was stopped before its prompt was checked";

/// What a model is told whose turn an earlier process did not bring to its end.
pub(crate) const GO_ON: &str = "Go on where you were interrupted.";

/// The result of a command that the end of the process took along, as a shell would tell it.
pub(crate) const KILLED: &str = "Exit code 137";

pub(crate) const REJECTED: &str = "The user did not let this call run, and wants you to stop here. Nothing was changed by it. Wait for what \
     the user says next.";
pub(crate) const STOPPED_WHILE_RUNNING: &str = "The user stopped this call while it was running. It may have taken effect in part or as a \
     whole: check before you repeat it. Wait for what the user says next.";
pub(crate) const NEVER_RAN: &str = "This call was not run, because the turn ended before it.";

/// The result of a call whose tool panicked.
pub(crate) fn broke_down(tool: &str, panic: &str) -> String {
    format!(
        "{tool} broke down inside the agent: {panic}. It may have taken effect in part: check before you repeat it."
    )
}

/// What a model that stopped too early is told.
pub(crate) fn nudge(nudge: Nudge) -> &'static str {
    match nudge {
        Nudge::OutputLimit => {
            "Your answer reached the output limit and was cut off. Continue exactly where it ends, without an apology or a \
             summary, and do what is left in smaller steps."
        }
        Nudge::Refusal => {
            "A safety check stopped the answer above; this is no error of a tool or of the connection. Do not write that \
             content again in any form. Say what you can do instead."
        }
        Nudge::Empty => {
            "[Nothing of your last answer can be shown. Continue, and say something the user can see.]"
        }
        Nudge::Structured => "[The answer must be given by calling the StructuredOutput tool. Call it now.]",
    }
}

/// What is said to the user about a refusal.
pub(crate) fn refusal_notice(model: &str) -> String {
    format!("A safety check of {model} stopped the answer above; it goes on once with a note about that")
}

/// Said of a prompt that is none.
pub(crate) const BLANK: &str =
    "The prompt is blank: it has nothing but white space, so the model was not asked.";

/// Context that hooks or the session add to what the model reads.
pub(crate) fn reminder(context: &str) -> ContentBlock {
    ContentBlock::text(format!("<system-reminder>\n{context}\n</system-reminder>"))
}

/// What is said to the user of a model that hits its output limit however often it is told to go on.
pub(crate) fn output_limit_reached(most: u64) -> String {
    format!("API Error: the answer is longer than the {most} tokens that the model may write at a time")
}

/// What is said to the user of a model that was stopped by a safety check a second time.
pub(crate) fn refused_again(model: &str) -> String {
    format!(
        "API Error: a safety check of {model} stopped the answer again. Word the request differently, begin a new session, or \
         choose another model."
    )
}

/// What is said to the user when a hook that was to judge the end of a turn gave no answer.
pub(crate) const STOP_HOOK_TIMED_OUT: &str =
    "Stop says: the host did not answer in time, so the turn ends without its word";

/// What is said to the user when a model goes on calling what no check can judge.
pub(crate) const TOO_MUCH_UNJUDGED: &str = "The model goes on with calls that no safety check can judge here, so the turn ends. Use another permission mode \
     to go on.";

/// What is said to the user when hooks never let a turn end.
pub(crate) fn stop_hooks_overruled() -> String {
    let times = MOST_STOP_BLOCKS + 1;
    format!(
        "Stop hooks kept the turn from ending {times} times in a row, so it ends all the same. A hook that finds stop_hook_active \
         set in its input should let the turn end."
    )
}

pub(crate) fn no_such_tool(session: &Session, name: &str) -> String {
    if session.toolbox().is_known(name) {
        format!("Error: No such tool available: {name}. {name} is switched off in this session.")
    } else {
        format!("Error: No such tool available: {name}")
    }
}
