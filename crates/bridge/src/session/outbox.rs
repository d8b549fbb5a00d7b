//! What waits to be sent to one client.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::api::{Seq, SessionId};

/// How many bytes may wait for one client.
const BYTES: usize = 1024 * 1024;

/// How many messages may wait for one client.
const MESSAGES: usize = 4096;

/// Messages for one client, at most so many.
///
/// A client that reads too slowly loses messages here, and nobody else is held up: events are read from the log again
/// when it has caught up, and words that are still being written come again as a snapshot.
#[derive(Debug, Default)]
pub struct Outbox {
    waiting: Mutex<Waiting>,
    filled: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    parcels: VecDeque<Parcel>,
    bytes: usize,
    behind: BTreeSet<SessionId>,
}

/// One message on its way to a client, encoded once for all clients.
#[derive(Debug, Clone)]
pub struct Parcel {
    /// The session that it is about.
    pub session: Arc<SessionId>,
    /// Its position, if it is an event.
    pub seq: Option<Seq>,
    /// Whether clients get it that have not said `hello`.
    pub original: bool,
    /// Whether it is for those who show a list, not for those who follow the session.
    pub listed: bool,
    /// The WebSocket frame, or several, one after the other.
    pub frame: Bytes,
}

/// So much room is kept for messages to come; what a burst needed beyond it is given back.
const ROOM_KEPT: usize = 8;

/// What was taken out of an outbox. Used again and again, so that a message costs no allocation.
#[derive(Debug, Default)]
pub struct Taken {
    /// Messages, in order.
    pub parcels: VecDeque<Parcel>,
    /// Sessions that have lost some.
    pub behind: BTreeSet<SessionId>,
}

impl Outbox {
    /// Puts a message in, or notes that its session has lost one.
    pub(crate) fn push(&self, parcel: Parcel) {
        let mut waiting = self.lock();
        if waiting.parcels.len() >= MESSAGES
            || waiting.bytes + parcel.frame.len() > BYTES && waiting.bytes > 0
        {
            waiting.behind.insert((*parcel.session).clone());
        } else {
            waiting.bytes += parcel.frame.len();
            waiting.parcels.push_back(parcel);
        }
        drop(waiting);
        self.filled.notify_one();
    }

    /// Puts an answer in, however full it is: what a client asks for is limited elsewhere, and nobody else has the answer.
    pub(crate) fn push_answer(&self, parcel: Parcel) {
        let mut waiting = self.lock();
        waiting.bytes += parcel.frame.len();
        waiting.parcels.push_back(parcel);
        drop(waiting);
        self.filled.notify_one();
    }

    /// Waits until there is something, and takes all of it in place of what was taken before.
    pub async fn take(&self, taken: &mut Taken) {
        taken.parcels.clear();
        taken.parcels.shrink_to(ROOM_KEPT);
        while !self.lock().give(taken) {
            self.filled.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Gives what there is; false if that is nothing.
    fn give(&mut self, taken: &mut Taken) -> bool {
        if self.parcels.is_empty() && self.behind.is_empty() {
            return false;
        }
        std::mem::swap(&mut self.parcels, &mut taken.parcels);
        taken.behind = std::mem::take(&mut self.behind);
        self.bytes = 0;
        true
    }
}
