//! What the session says in its own words to the model. Markers that hosts look for are kept to the letter.

use crate::machine::Nudge;
use crate::session::Session;

/// Said in the user's name when the user stops an answer. Hosts look for it.
pub(crate) const INTERRUPTED: &str = "[Request interrupted by user]";
/// The same while tools run.
pub(crate) const INTERRUPTED_TOOLS: &str = "[Request interrupted by user for tool use]";

pub(crate) const REJECTED: &str = "The user did not let this call run, and wants you to stop here. Nothing was changed by it. Wait for what \
     the user says next.";
pub(crate) const STOPPED_WHILE_RUNNING: &str = "The user stopped this call while it was running. It may have taken effect in part or as a \
     whole: check before you repeat it. Wait for what the user says next.";
pub(crate) const NEVER_RAN: &str = "This call was not run, because the turn ended before it.";

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

pub(crate) fn no_such_tool(session: &Session, name: &str) -> String {
    if session.toolbox().is_known(name) {
        format!("Error: No such tool available: {name}. {name} is switched off in this session.")
    } else {
        format!("Error: No such tool available: {name}")
    }
}
