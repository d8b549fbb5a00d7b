//! What the user might say next, for hosts that want to offer it.

use std::sync::Arc;

use pilothouse_model::Purpose;
use pilothouse_proto::{AgentFrame, Extra, PromptSuggestion, Role};
use tokio_util::sync::CancellationToken;

use crate::compact::{push_user, say};
use crate::control::as_it_stands;
use crate::session::Session;

/// From so many answers on there is something to go by.
const ENOUGH_ANSWERS: usize = 2;

/// Switched off, it forbids suggestions.
const SWITCH: &str = "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION";

const TASK: &str = "Leave the work for a moment. What is the user most likely to type next, in their own words and their own style? Answer with \
     that text alone, on one line, in two to twelve words. If nothing is likely, answer with nothing. Call no tools.";

/// Asks for a suggestion after a turn, if the host wants one. `stop` fires when the user has said something.
pub(crate) fn after_turn(session: &Arc<Session>, stop: CancellationToken) {
    if !is_wanted(session) || session.output().last_failed() || answers(session) < ENOUGH_ANSWERS {
        return;
    }
    let session = session.clone();
    tokio::spawn(async move {
        let mut request = as_it_stands(&session);
        request.purpose = Purpose::Side("suggestion".to_owned());
        push_user(&mut request.messages, TASK.to_owned());
        let Ok(answer) = say(&session, request, stop.clone()).await else { return };
        let Some(suggestion) = usable(&answer).filter(|_| !stop.is_cancelled()) else { return };
        let frame = PromptSuggestion {
            suggestion: suggestion.to_owned(),
            uuid: session.stamp().uuid(),
            session_id: session.id(),
            extra: Extra::new(),
        };
        session.output().emit(AgentFrame::PromptSuggestion(Box::new(frame)));
    });
}

/// The host has the last word, unless the environment forbids it.
fn is_wanted(session: &Session) -> bool {
    let launch = session.launch();
    let is_off = launch.env.get(SWITCH).is_some() && !launch.env.is_on(SWITCH);
    let host = session.initialize().prompt_suggestions.as_ref().copied();
    !is_off && host.unwrap_or(launch.prompt_suggestions)
}

fn answers(session: &Session) -> usize {
    session.history().messages().iter().filter(|message| message.role == Role::Assistant).count()
}

/// A suggestion that somebody might type: a few words on one line.
fn usable(answer: &str) -> Option<&str> {
    let text = answer.trim();
    let words = text.split_whitespace().count();
    ((2..=12).contains(&words) && !text.contains('\n')).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_few_words_on_one_line_are_offered() {
        for (answer, offered) in [
            (" run the tests ", Some("run the tests")),
            ("commit this", Some("commit this")),
            ("two", None),
            ("", None),
            ("run the\ntests", None),
            ("one two three four five six seven eight nine ten eleven twelve thirteen", None),
        ] {
            assert_eq!(usable(answer), offered, "{answer:?}");
        }
    }
}
