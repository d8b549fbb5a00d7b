//! Work that takes long without waiting for anybody: it must not keep the session from hearing an interrupt.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::tool::Outcome;

/// Searches end themselves earlier than this, unless a pattern is slow within one block of a file.
const LONGEST: Duration = Duration::from_secs(30);

/// Runs it beside the session. Work that does not end in time, or when it is stopped, is left to its thread.
pub(crate) async fn aside(
    stop: &CancellationToken,
    work: impl FnOnce() -> Outcome + Send + 'static,
) -> Outcome {
    let mut running = tokio::task::spawn_blocking(work);
    let done = tokio::select! {
        done = &mut running => Some(done),
        () = tokio::time::sleep(LONGEST) => None,
        // The work looks at `stop` itself, so that it usually ends at once.
        () = async { stop.cancelled().await; tokio::time::sleep(Duration::from_secs(1)).await } => {
            return Outcome::Stopped { partial: String::new() };
        }
    };
    match done {
        Some(done) => done.unwrap_or_else(|_| {
            Outcome::failed("the tool failed in a way that it should not; try something else")
        }),
        None => Outcome::failed(format!(
            "the search took longer than {} s: use a simpler pattern, or fewer files",
            LONGEST.as_secs()
        )),
    }
}
