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
}

impl RunningAgents {
    pub(crate) fn began(&self, id: TaskId, stop: CancellationToken) {
        self.agents().insert(id, Running { stop, answered: false });
    }

    /// One has had its first answer; nothing happens when it had more before, or is none of these.
    pub(crate) fn answered(&self, id: &str) {
        if let Some(agent) = self.agents().get_mut(id) {
            agent.answered = true;
        }
        self.progress.notify_waiters();
    }

    pub(crate) fn ended(&self, id: &TaskId) {
        self.agents().remove(id);
        self.progress.notify_waiters();
    }

    /// Stops one. False: no such agent runs.
    pub(crate) fn stop(&self, id: &str) -> bool {
        self.agents().get(id).map(|agent| agent.stop.cancel()).is_some()
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
