//! The task that reads the connection and sorts.

use std::sync::Arc;
use std::time::Duration;

use pilothouse_link::{Ended, Events, Host, WeakHandle};
use pilothouse_proto::AgentFrame;
use tokio::time::{Instant, sleep_until};

use super::Shared;

/// How long the run has to be quiet before sends that no result named are settled.
const QUIET: Duration = Duration::from_secs(3);

/// The task that sorts. When the runtime drops it, its readers learn that nothing more will come.
pub(super) struct Task(pub(super) Arc<Shared>);

impl Task {
    pub(super) async fn run(self, mut events: Events<AgentFrame>, handle: WeakHandle<Host>) {
        let mut quiet_at = Instant::now() + QUIET;
        loop {
            let Some(wants) = self.0.wants(!events.has_more()) else { return };
            tokio::select! {
                biased;
                // Cancel-safe: what there is to see is in the state.
                () = self.0.look.notified() => {}
                // Cancel-safe: a batch is taken whole or not at all.
                batch = events.next_batch(), if wants.events => {
                    let Some(batch) = batch else { break };
                    self.0.sort(batch);
                    quiet_at = Instant::now() + QUIET;
                }
                // Cancel-safe: a point in time.
                () = sleep_until(quiet_at), if wants.quiet => self.0.settle(),
            }
        }
        // The cause is known by now; without a handle nobody is left to be told.
        if let Some(handle) = handle.upgrade() {
            self.0.end(handle.ended().await);
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        let cause = self.0.lock().handle.upgrade().and_then(|handle| handle.try_ended());
        self.0.end(cause.unwrap_or_else(|| Arc::new(Ended::closed())));
    }
}

/// What the task waits for.
pub(super) struct Wants {
    pub(super) events: bool,
    pub(super) quiet: bool,
}
