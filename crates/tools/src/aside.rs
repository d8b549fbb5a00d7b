//! Work that takes long without waiting for anybody: it must not keep the session from hearing an interrupt.

use crate::tool::Outcome;

/// Runs it beside the session.
pub(crate) async fn aside(work: impl FnOnce() -> Outcome + Send + 'static) -> Outcome {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| {
        Outcome::failed("the tool failed in a way that it should not; try something else")
    })
}
