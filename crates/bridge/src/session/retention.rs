//! How long logs are kept.

use std::time::Duration;

use super::channel::Channel;
use super::recorder::now;
use crate::api::{SessionId, SessionView};
use crate::log::{Log, StorageError};

const DAY: i64 = 24 * 60 * 60 * 1000;

/// No log is older than this program, from the beginning of 2026. Where one says so the clock was wrong, as it is on machines that
/// do not know the time before the network tells it; what was said then may be from today.
const FIRST: i64 = 1_767_225_600_000;

/// How long logs are kept. Sessions that have a CLI are never forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// So many events of a session at most, besides those of what is still going on.
    pub events_per_session: u64,
    /// Sessions without a CLI in which nothing happened for so many days are forgotten.
    pub days: u32,
    /// Above so many bytes, the sessions are forgotten in which nothing happened for the longest time.
    pub bytes: u64,
    /// How often it is looked at, besides when the bridge starts.
    pub every: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            events_per_session: 100_000,
            days: 90,
            bytes: 2 * 1024 * 1024 * 1024,
            every: Duration::from_secs(10 * 60),
        }
    }
}

/// Forgets the oldest events of a session that has too many, whether it has a CLI or not.
pub(crate) async fn forget_oldest(
    log: &Log,
    channel: &Channel,
    retention: Retention,
) -> Result<(), StorageError> {
    let Some(first) = channel.forget_oldest(retention.events_per_session) else { return Ok(()) };
    let session = (*channel.id).clone();
    log.blocking(move |store| store.forget_before(&session, first)).await
}

/// Forgets what is too old or too much of these sessions, which have no CLI; tells which.
pub(crate) async fn forget_old(
    log: &Log,
    mut sessions: Vec<SessionView>,
    retention: Retention,
) -> Result<Vec<SessionId>, StorageError> {
    // Those of which nobody knows when they were come last.
    sessions.sort_by_key(|view| if view.updated_at < FIRST { i64::MAX } else { view.updated_at });
    let now = now();
    let mut forgotten = Vec::new();
    for view in sessions {
        let stays = !is_too_old(view.updated_at, now, retention.days)
            && log.blocking(|store| store.bytes()).await? <= retention.bytes;
        if stays {
            break;
        }
        let session = view.session_id.clone();
        log.blocking(move |store| store.forget(&session)).await?;
        forgotten.push(view.session_id);
    }
    Ok(forgotten)
}

/// Whether nothing happened for so many days, as far as the clock can be believed.
fn is_too_old(updated_at: i64, now: i64, days: u32) -> bool {
    (FIRST..now - i64::from(days) * DAY).contains(&updated_at)
}

#[cfg(test)]
#[path = "retention_tests.rs"]
mod tests;
