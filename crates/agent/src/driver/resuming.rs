//! A turn that an earlier process did not bring to its end, taken up again without a word of the host: one that was
//! interrupted, if that is wanted, and always one whose last call a hook had put off.

use pilothouse_proto::{Content, ContentBlock, Role, User};

use super::Running;
use crate::machine::{Doing, Lifecycle, Prompt};
use crate::session::Session;
use crate::words;

/// Has a session that goes on with such a turn take it up by itself.
const SWITCH: &str = "CLAUDE_CODE_RESUME_INTERRUPTED_TURN";
/// Why it was interrupted, as hosts are told.
const REASON: &str = "CLAUDE_CODE_RESUME_REASON";

/// The prompt that takes up the last turn again; none when that is not wanted, or the turn came to its end.
pub(super) fn prompt(session: &Session) -> Option<Prompt> {
    let go_on = || {
        let frame = User { uuid: session.stamp().uuid().into(), ..User::prompt(words::GO_ON) };
        Prompt::from_host(frame)
    };
    if let Some(call) = session.take_put_off() {
        return Some(Prompt { takes_up: Some(call), ..go_on() });
    }
    let env = &session.launch().env;
    if !env.is_on(SWITCH) || !is_unanswered(session) {
        return None;
    }
    let reason = env.get(REASON).unwrap_or("interrupted_turn").to_owned();
    Some(Prompt { resumes: Some(reason), ..go_on() })
}

/// Whether the last word is the user's. One that stopped the turn wanted no answer.
fn is_unanswered(session: &Session) -> bool {
    let messages = session.history().messages();
    let Some(last) = messages.last().filter(|last| last.role == Role::User) else { return false };
    let last_text = match &last.content {
        Content::Text(text) => Some(text.as_str()),
        Content::Blocks(blocks) => blocks.last().and_then(ContentBlock::as_text),
    };
    !matches!(last_text, Some(words::INTERRUPTED | words::INTERRUPTED_TOOLS))
}

impl Running {
    /// Tells the host that the turn will be taken up, before anything else.
    pub(super) fn announce_resumption(&mut self) {
        let Some(uuid) = self.resuming.as_ref().and_then(Prompt::uuid).map(str::to_owned) else { return };
        if !std::mem::replace(&mut self.resumption_told, true) {
            self.session().tell_lifecycle(&uuid, Lifecycle::Started);
        }
    }

    /// Takes the turn up.
    pub(super) fn resume_turn(&mut self) {
        self.announce_resumption();
        let Some(prompt) = self.resuming.take() else { return };
        let mut doing = self.queue(|queue| queue.prompt(prompt));
        doing.retain(|step| !matches!(step, Doing::Tell(_, Lifecycle::Queued | Lifecycle::Started)));
        self.perform(doing);
    }
}
