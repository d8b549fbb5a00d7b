//! Stopping one turn from elsewhere.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use pilothouse_proto::Uuid;
use pilothouse_proto::control::CancelAsyncMessage;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::pump::SlotKey;
use crate::session::{Session, Shared};

/// Watches a token on behalf of a turn, in a task: a token also works while nobody reads the turn.
///
/// The task ends only when the CLI was told to stop and did not. Dropping this ends it.
#[derive(Debug)]
pub(crate) struct Abort {
    watch: JoinHandle<()>,
    limit: Duration,
}

impl Abort {
    /// `message` began the turn; none when the CLI started it by itself.
    pub(crate) fn on(
        token: CancellationToken,
        shared: &Arc<Shared>,
        turn: SlotKey,
        message: Option<Uuid>,
    ) -> Self {
        let limit = shared.interrupt_timeout;
        // The turn keeps the session alive, not the token.
        let shared = Arc::downgrade(shared);
        let watch = tokio::spawn(async move {
            token.cancelled().await;
            let since = Instant::now();
            if let Some(shared) = shared.upgrade() {
                let stopping = stop(Session { shared }, turn, message, limit);
                // The answer does not count: the turn's end does.
                drop(tokio::time::timeout(limit, stopping).await);
            }
            tokio::time::sleep(limit.saturating_sub(since.elapsed())).await;
        });
        Self { watch, limit }
    }

    /// Ready when the CLI was told to stop and had its time.
    pub(crate) fn poll_overdue(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        Pin::new(&mut self.watch).poll(cx).map(|_| Error::NotStopped { waited: self.limit })
    }
}

impl Drop for Abort {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

/// Takes the message back if no turn has it yet, else interrupts. An interrupt would hit whatever runs instead.
async fn stop(session: Session, turn: SlotKey, message: Option<Uuid>, limit: Duration) -> Result<(), Error> {
    if let Some(message) = message {
        let withdraw =
            CancelAsyncMessage { message_uuid: message.into_string(), ..CancelAsyncMessage::default() };
        // A CLI that does not know this request gets the interrupt in time.
        let withdrawn = session.shared.handle.request_within(withdraw, Some(limit / 2)).await;
        if withdrawn.is_ok_and(|reply| reply.cancelled) {
            return Ok(());
        }
    }
    if session.shared.pump.is_open(turn) {
        session.interrupt().await?;
    }
    Ok(())
}
