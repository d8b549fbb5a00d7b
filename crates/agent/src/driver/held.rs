//! What is told a moment later than it could be.
//!
//! After a result the real CLI takes a few milliseconds before it tells what became of the prompts. A host that acts at
//! once has then spoken in between, and hears what was held back before the answer. So it is here: what the host says next
//! comes first, however fast it is.

use std::time::Duration;

use tokio::time::Instant;

use crate::machine::Doing;

/// How long a host has that wants to speak first. One that waits to be told hears it after that.
const MOMENT: Duration = Duration::from_millis(30);

/// What is held back, until the host speaks or the moment is over.
#[derive(Debug, Default)]
pub(super) struct Held {
    doing: Vec<Doing>,
    until: Option<Instant>,
}

impl Held {
    /// A turn ended, and only the fate of its prompts is left to tell.
    pub(super) fn turn_ended(&mut self, doing: Vec<Doing>) {
        if !doing.is_empty() {
            self.doing.extend(doing);
            self.until = Some(Instant::now() + MOMENT);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.doing.is_empty()
    }

    pub(super) fn take(&mut self) -> Vec<Doing> {
        self.until = None;
        std::mem::take(&mut self.doing)
    }

    /// Waits until it is time; for ever when nothing is held back.
    pub(super) async fn due(&self) {
        match self.until {
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
    }
}
