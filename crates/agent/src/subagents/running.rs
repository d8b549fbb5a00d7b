use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pilothouse_proto::TaskId;
use tokio_util::sync::CancellationToken;

/// The subagents of a session that run in the background.
#[derive(Debug, Default)]
pub(crate) struct RunningAgents {
    stops: Mutex<HashMap<TaskId, CancellationToken>>,
}

impl RunningAgents {
    pub(crate) fn began(&self, id: TaskId, stop: CancellationToken) {
        self.stops().insert(id, stop);
    }

    pub(crate) fn ended(&self, id: &TaskId) {
        self.stops().remove(id);
    }

    /// Stops one. False: no such agent runs.
    pub(crate) fn stop(&self, id: &str) -> bool {
        self.stops().get(id).map(CancellationToken::cancel).is_some()
    }

    fn stops(&self) -> MutexGuard<'_, HashMap<TaskId, CancellationToken>> {
        self.stops.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
