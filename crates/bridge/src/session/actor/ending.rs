//! How a session comes to its end.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::Actor;
use crate::api::{InterruptRequested, Lifecycle, Seq};
use crate::log::StorageError;
use crate::session::recorder::Ending;

/// How long a turn may take to come to its own end when the bridge shuts down.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Somebody ended it.
pub(super) fn stopped(by: String) -> Ending {
    let why = format!("stopped by {by}");
    Ending {
        lifecycle: Lifecycle::Ended,
        subtype: "stopped",
        always_a_result: true,
        why,
        by: Some(by),
        handed_over: false,
    }
}

/// Something that nobody wanted ended it.
pub(super) fn interrupted(why: String) -> Ending {
    Ending {
        lifecycle: Lifecycle::Interrupted,
        subtype: "process_ended",
        always_a_result: false,
        why,
        by: None,
        handed_over: false,
    }
}

/// It never began.
pub(super) fn start_failed(error: &pilothouse::Error) -> Ending {
    Ending {
        lifecycle: Lifecycle::Ended,
        subtype: "start_failed",
        always_a_result: true,
        ..interrupted(error.to_string())
    }
}

/// The bridge ends: with it what is at rest, while the next one goes on with what was at work.
pub(super) fn shut_down(at_work: bool, by: Option<String>) -> Ending {
    if at_work {
        let why = "the bridge was shut down while this session worked".to_owned();
        return Ending { by, handed_over: true, ..interrupted(why) };
    }
    let why = "the bridge was shut down".to_owned();
    Ending { lifecycle: Lifecycle::Ended, subtype: "stopped", by, ..interrupted(why) }
}

impl Actor {
    /// Brings a running turn to its end, if the CLI does so soon; tells how the session ends.
    pub(super) async fn shut_down(&mut self, by: String) -> Ending {
        let state = &self.recorder.state;
        let at_work = state.turn_open || !state.inputs.is_empty() || !state.view.approvals.is_empty();
        if state.turn_open
            && let Ok(session) = self.session()
        {
            self.recorder.note(InterruptRequested { by: by.clone() }).await;
            // Whether the CLI took it is seen from what it writes.
            tokio::spawn(async move { drop(session.interrupt().await) });
            let deadline = Instant::now() + LAST_WORDS;
            while self.recorder.state.turn_open {
                let Some(cli) = &mut self.cli else { break };
                let Ok(Some(event)) = timeout_at(deadline, cli.events.next()).await else { break };
                self.frame(&event).await;
            }
        }
        shut_down(at_work, Some(by))
    }

    pub(super) fn cli_ended(&self) -> Ending {
        let ended = self.cli.as_ref().and_then(|cli| cli.session.try_ended());
        interrupted(ended.map_or_else(|| "the CLI ended".to_owned(), |ended| ended.to_string()))
    }

    pub(super) async fn close_cli(&mut self) {
        if let Some(cli) = self.cli.take() {
            cli.session.close().await;
        }
    }

    pub(super) async fn end(&mut self, ending: &Ending) -> Result<Seq, StorageError> {
        let open = std::mem::take(&mut self.open);
        let stored = self.recorder.end(open, ending).await;
        self.approvals.clear();
        stored
    }
}
