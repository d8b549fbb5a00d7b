//! What a session delivers besides the turns that were asked for.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::{Session, Shared};
use crate::event::Event;
use crate::pump::ListenerKey;
use crate::turn::Turn;

impl Session {
    /// Every event from here on, also between turns. Turns still get theirs: what both read is cloned.
    pub fn events(&self) -> AllEvents {
        let key = self.shared.pump.listen_to_events();
        AllEvents { shared: Arc::clone(&self.shared), key, taken: VecDeque::new() }
    }

    /// The turns that the CLI starts by itself from here on, for instance when a background task is done.
    pub fn own_turns(&self) -> OwnTurns {
        OwnTurns { shared: Arc::clone(&self.shared), key: self.shared.pump.listen_to_turns() }
    }
}

/// Every event of a session; ends when the session does.
#[must_use = "streams do nothing unless read"]
pub struct AllEvents {
    shared: Arc<Shared>,
    key: ListenerKey,
    /// Events that were taken from the pump and not read yet.
    taken: VecDeque<Event>,
}

impl AllEvents {
    /// The next event; none after the session has ended, see [`Session::try_ended`].
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.shared.pump.poll_listened_event(self.key, &mut self.taken, cx)
    }
}

impl Stream for AllEvents {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.get_mut().poll_event(cx)
    }
}

impl Drop for AllEvents {
    fn drop(&mut self) {
        self.shared.pump.forget_listener(self.key);
    }
}

/// The turns that the CLI starts by itself; ends when the session does.
#[must_use = "streams do nothing unless read"]
pub struct OwnTurns {
    shared: Arc<Shared>,
    key: ListenerKey,
}

impl OwnTurns {
    /// The next turn; none after the session has ended.
    pub async fn next(&mut self) -> Option<Turn> {
        poll_fn(|cx| self.poll_turn(cx)).await
    }

    fn poll_turn(&self, cx: &mut Context<'_>) -> Poll<Option<Turn>> {
        let polled = self.shared.pump.poll_listened_turn(self.key, cx);
        polled.map(|found| found.map(|key| Turn::new(Arc::clone(&self.shared), key, None)))
    }
}

impl Stream for OwnTurns {
    type Item = Turn;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Turn>> {
        self.poll_turn(cx)
    }
}

impl Drop for OwnTurns {
    fn drop(&mut self) {
        self.shared.pump.forget_listener(self.key);
    }
}

impl fmt::Debug for AllEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AllEvents").finish_non_exhaustive()
    }
}

impl fmt::Debug for OwnTurns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnTurns").finish_non_exhaustive()
    }
}
