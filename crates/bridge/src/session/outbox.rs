//! What waits to be sent to one client.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::api::{Seq, SessionId};

/// How many bytes may wait for one client.
const BYTES: usize = 1024 * 1024;

/// How many messages may wait for one client.
const MESSAGES: usize = 4096;

/// Words that are longer go through the client's own task, so that no session is kept from its work by many of them.
const SHORT: usize = 4096;

/// Writes bytes to the client if its connection takes them at once, and tells how many it took.
pub(crate) type Direct = Box<dyn Fn(&[u8]) -> usize + Send + Sync>;

/// Messages for one client, at most so many.
///
/// A client that reads too slowly loses messages here, and nobody else is held up: events are read from the log again
/// when it has caught up, and words that are still being written come again as a snapshot.
///
/// While the client's task has nothing to do, words are written from here: a task that is woken for each of them costs
/// half as much again as writing them.
#[derive(Default)]
pub struct Outbox {
    waiting: Mutex<Waiting>,
    filled: Notify,
    direct: OnceLock<Direct>,
}

#[derive(Debug, Default)]
struct Waiting {
    parcels: VecDeque<Parcel>,
    bytes: usize,
    behind: BTreeSet<SessionId>,
    /// The client's task waits and writes nothing.
    resting: bool,
    /// What is left of a frame whose beginning was written from here. Nothing else may be written before it.
    rest: Bytes,
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

    /// How words can be written while the client's task rests.
    pub(crate) fn write_directly(&self, direct: Direct) {
        // A second way would be the same connection.
        let (Ok(()) | Err(_)) = self.direct.set(direct);
    }

    /// Writes words at once if nothing is before them, else puts them in.
    pub(crate) fn push_words(&self, parcel: &Parcel) {
        let mut waiting = self.lock();
        let free = waiting.resting && waiting.is_empty() && parcel.frame.len() <= SHORT;
        let Some(direct) = self.direct.get().filter(|_| free) else {
            drop(waiting);
            return self.push(parcel.clone());
        };
        let written = direct(&parcel.frame);
        if written == parcel.frame.len() {
            return;
        }
        if written == 0 {
            drop(waiting);
            return self.push(parcel.clone());
        }
        waiting.rest = parcel.frame.slice(written..);
        drop(waiting);
        self.filled.notify_one();
    }

    /// From here on the client's task writes nothing, until it has called [`Outbox::wakes`].
    pub(crate) fn rests(&self) {
        self.lock().resting = true;
    }

    /// The client's task writes again: first of all what this gives.
    pub(crate) fn wakes(&self) -> Bytes {
        let mut waiting = self.lock();
        waiting.resting = false;
        std::mem::take(&mut waiting.rest)
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
    fn is_empty(&self) -> bool {
        self.parcels.is_empty() && self.behind.is_empty() && self.rest.is_empty()
    }

    /// Gives what there is; false if that is nothing.
    fn give(&mut self, taken: &mut Taken) -> bool {
        if self.is_empty() {
            return false;
        }
        std::mem::swap(&mut self.parcels, &mut taken.parcels);
        taken.behind = std::mem::take(&mut self.behind);
        self.bytes = 0;
        true
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "outbox_tests.rs"]
mod tests;
