use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::machine::Stop;

/// How a running turn is stopped. Clones share it.
///
/// Stopping has two steps, because a host is answered between them: work stops and withdraws what it asked the host, the
/// host learns that its interrupt was taken, and only then is the end of the turn told.
#[derive(Clone, Debug, Default)]
pub(crate) struct StopSignal {
    token: CancellationToken,
    told: CancellationToken,
    why: Arc<Mutex<Option<Stop>>>,
    /// Fires when the process ends with this turn.
    last: CancellationToken,
}

impl StopSignal {
    /// Fires when work is to stop.
    pub(crate) fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// A signal for work that nobody but this token stops.
    pub(crate) fn of(token: CancellationToken) -> Self {
        Self { token, ..Self::default() }
    }

    /// Stops the work. The first reason counts.
    pub(crate) fn fire(&self, why: Stop) {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.token.cancel();
    }

    /// The process ends with this turn.
    pub(crate) fn leave(&self) {
        self.last.cancel();
    }

    /// Whether the process ends with this turn.
    pub(crate) fn is_last(&self) -> bool {
        self.last.is_cancelled()
    }

    /// The host knows: the end may be told.
    pub(crate) fn tell(&self) {
        self.told.cancel();
    }

    /// Waits until the end may be told.
    pub(crate) async fn told(&self) {
        self.told.cancelled().await;
    }

    /// Why it was stopped, if it was.
    pub(crate) fn why(&self) -> Option<Stop> {
        *self.why.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
