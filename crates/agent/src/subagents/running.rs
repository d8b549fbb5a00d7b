use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pilothouse_proto::TaskId;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How long the main conversation lets new subagents go ahead.
const HEAD_START: Duration = Duration::from_millis(100);

/// The subagents of a session that run in the background.
#[derive(Debug, Default)]
pub(crate) struct RunningAgents {
    agents: Mutex<HashMap<TaskId, Running>>,
    /// Told whenever one has had its first answer or ends.
    progress: Notify,
}

#[derive(Debug)]
struct Running {
    stop: CancellationToken,
    /// It has had its first answer.
    answered: bool,
    /// It was stopped, and the host has heard of that.
    silence: Option<Silence>,
}

/// Who still hears of a subagent that was stopped. The host has heard of it already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// The model, by a prompt of the session's own.
    ButForTheModel,
    /// Nobody.
    ForGood,
}

impl RunningAgents {
    pub(crate) fn began(&self, id: TaskId, stop: CancellationToken) {
        self.agents().insert(id, Running { stop, answered: false, silence: None });
    }

    /// One has had its first answer; nothing happens when it had more before, or is none of these.
    pub(crate) fn answered(&self, id: &str) {
        if let Some(agent) = self.agents().get_mut(id) {
            agent.answered = true;
        }
        self.progress.notify_waiters();
    }

    /// One is over. Gives who is to hear of it, if it was stopped.
    pub(crate) fn ended(&self, id: &TaskId) -> Option<Silence> {
        let ended = self.agents().remove(id);
        self.progress.notify_waiters();
        ended.and_then(|agent| agent.silence)
    }

    /// Stops one that the host has heard, or is about to hear, the end of. False: no such agent runs.
    pub(crate) fn stop(&self, id: &str, silence: Silence) -> bool {
        match self.agents().get_mut(id) {
            Some(agent) => {
                agent.silence = Some(silence);
                agent.stop.cancel();
                true
            }
            None => false,
        }
    }

    /// Waits a moment until all have had their first answers. They were started first, so they are heard first.
    pub(crate) async fn head_start(&self) {
        let all = async {
            loop {
                let progress = self.progress.notified();
                if self.agents().values().all(|agent| agent.answered) {
                    return;
                }
                progress.await;
            }
        };
        if tokio::time::timeout(HEAD_START, all).await.is_err() {
            // They have had it: later questions do not wait for the same ones.
            self.agents().values_mut().for_each(|agent| agent.answered = true);
        }
    }

    fn agents(&self) -> MutexGuard<'_, HashMap<TaskId, Running>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
