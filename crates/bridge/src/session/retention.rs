//! How long logs are kept.

use std::time::Duration;

use super::channel::Channel;
use super::recorder::now;
use crate::api::{SessionId, SessionView};
use crate::log::{Log, StorageError};

const DAY: i64 = 24 * 60 * 60 * 1000;

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
    sessions.sort_by_key(|view| view.updated_at);
    let too_old = now() - i64::from(retention.days) * DAY;
    let mut forgotten = Vec::new();
    for view in sessions {
        let stays =
            view.updated_at >= too_old && log.blocking(|store| store.bytes()).await? <= retention.bytes;
        if stays {
            break;
        }
        let session = view.session_id.clone();
        log.blocking(move |store| store.forget(&session)).await?;
        forgotten.push(view.session_id);
    }
    Ok(forgotten)
}
