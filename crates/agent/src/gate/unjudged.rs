//! Modes that leave a call to a safety check, where that check does not run.
//!
//! The check is the vendor's and runs on its servers. A session that is told to make no such calls has none, and refuses
//! what the check would have to judge, as the real CLI does; any other session asks the host instead.

use pilothouse_model::ThinkingStyle;
use pilothouse_proto::system::InformationalLevel;
use pilothouse_proto::{AgentFrame, System};
use pilothouse_rules::{Classifier, Outage};

use super::words;
use crate::session::Session;

/// Switched on, nothing but the model is called.
const QUIET: &str = "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC";

/// After so many refusals in a turn the model is not heard any more.
const MOST_IN_A_TURN: u32 = 10;

impl Session {
    /// Who judges calls in `auto` and `plan`. Models of older generations were never judged: there the host is asked.
    pub(super) fn judge(&self) -> Classifier {
        let judged = self.model_info().thinking == ThinkingStyle::Adaptive;
        match judged && self.launch().env.is_on(QUIET) {
            true => Classifier::Unavailable(Outage::Session),
            false => Classifier::None,
        }
    }

    /// A call could not be judged. The user is told of the first.
    pub(super) fn count_unjudged(&self) {
        if self.note_unjudged() {
            let mut frame = self.informational(InformationalLevel::Warning, words::NO_JUDGE.to_owned());
            frame.is_meta = false.into();
            frame.tag = "auto_mode_no_server_check".to_owned().into();
            self.output().emit(AgentFrame::System(System::Informational(Box::new(frame))));
        }
    }

    /// Whether so many calls could not be judged that the turn is to end.
    pub(crate) fn is_beyond_judging(&self) -> bool {
        self.unjudged() >= MOST_IN_A_TURN
    }
}
