//! Hands events to turns, to the stream of all events, and to the stream of turns that the CLI started.
//!
//! One task per session takes the events of the connection and sorts them into a queue for each reader. It runs ahead of
//! the readers by [`AHEAD`]. Beyond that it waits, and the connection holds back the CLI; unless a reader has nothing left,
//! because that one must not wait for another one that does not read.

mod state;
mod task;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use pilothouse_link::{Ended, Events, Handle, Host, Progress};
use pilothouse_proto::AgentFrame;
use tokio::sync::Notify;

use crate::error::Error;
use crate::event::Event;
use crate::fold::Fold;
use state::{Queue, State, queue_size, size, wait};
use task::{Task, Wants};

/// About how many bytes of events may wait for readers that have not read what they have.
const AHEAD: usize = 256 * 1024;

/// The pump of one session, shared by its handles. Dropping it stops the task.
pub(crate) struct Pump(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Tells the task to look at the state again.
    look: Notify,
    /// Tells those who wait for an idle run to look at the state again.
    changed: Notify,
    /// Tells the connection that its events are being read.
    progress: Progress,
}

/// How a turn handle came to its end.
#[derive(Debug, Clone)]
pub(crate) enum Fate {
    /// It has not.
    Open,
    /// Its result is the last event in its queue.
    Result,
    /// No result named it; this one, of the last turn, is what it got.
    Settled(Bytes),
    /// The run became idle without a result, and none came before.
    NoResult,
    /// It was withdrawn before a turn took it.
    Withdrawn,
    /// The connection ended first.
    Ended(Arc<Ended>),
    /// This end refuses to go on.
    Refused(Error),
}

/// Names one listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListenerKey(pub(super) u64);

/// Names one turn handle. Several may be about the same turn, when several listen for turns of the CLI's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotKey(pub(super) u64);

impl Pump {
    /// Starts the task. `hides_mirror` keeps frames from everybody that are for the session store.
    pub(crate) fn new(events: Events<AgentFrame>, handle: &Handle<Host>, hides_mirror: bool) -> Self {
        let state = State::new(handle.downgrade(), hides_mirror);
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            look: Notify::new(),
            changed: Notify::new(),
            progress: events.progress(),
        });
        tokio::spawn(Task(Arc::clone(&shared)).run(events, handle.downgrade()));
        Self(shared)
    }

    /// Makes the handle of a message that is about to be written.
    pub(crate) fn sent(&self, uuid: &str) -> SlotKey {
        let mut state = self.0.lock();
        // A message that is not even written has no part in what came before.
        state.sort_early();
        state.sent(uuid)
    }

    /// Makes the handle of a message that was written before there was a session.
    pub(crate) fn was_sent(&self, uuid: &str) -> SlotKey {
        let mut state = self.0.lock();
        let key = state.sent(uuid);
        state.sort_early();
        key
    }

    /// Takes back a message that could not be written.
    pub(crate) fn unsent(&self, key: SlotKey) {
        let mut state = self.0.lock();
        if let Some(slot) = state.close_slot(key) {
            state.turns.unsent(slot.turn);
        }
        drop(state);
        self.0.changed.notify_waiters();
    }

    /// Whether a turn handle has not come to its end, as far as events were sorted.
    pub(crate) fn is_open(&self, key: SlotKey) -> bool {
        self.0.lock().slots.iter().any(|slot| slot.key == key && slot.is_open())
    }

    /// A turn handle was dropped: its events need not be kept.
    pub(crate) fn forget_turn(&self, key: SlotKey) {
        let mut state = self.0.lock();
        state.close_slot(key);
        self.0.look_if_wanted(state);
    }

    /// The next event of a turn; the fate it came to when there are no more. `taken` holds what its reader took before.
    pub(crate) fn poll_turn(
        &self,
        key: SlotKey,
        taken: &mut VecDeque<Event>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Event, Fate>> {
        if let Some(event) = self.0.next_taken(taken) {
            return Poll::Ready(Ok(event));
        }
        let mut state = self.0.lock();
        let Some(slot) = state.slots.iter_mut().find(|slot| slot.key == key) else {
            return Poll::Ready(Err(Fate::Withdrawn));
        };
        std::mem::swap(taken, &mut slot.queue);
        if let Some(event) = self.0.next_taken(taken) {
            self.0.took(state, size(&event) + queue_size(taken));
            return Poll::Ready(Ok(event));
        }
        if !slot.is_open() {
            return Poll::Ready(Err(slot.fate.clone()));
        }
        wait(&mut slot.waker, cx);
        self.0.look_if_wanted(state);
        Poll::Pending
    }

    /// Begins to keep every event from here on.
    pub(crate) fn listen_to_events(&self) -> ListenerKey {
        self.0.lock().listen(Queue::Events(VecDeque::new()))
    }

    /// Begins to keep the turns that the CLI starts from here on.
    pub(crate) fn listen_to_turns(&self) -> ListenerKey {
        self.0.lock().listen(Queue::Turns(VecDeque::new()))
    }

    pub(crate) fn forget_listener(&self, key: ListenerKey) {
        let mut state = self.0.lock();
        if let Some(index) = state.listeners.iter().position(|listener| listener.key == key) {
            match state.listeners.swap_remove(index).queue {
                Queue::Events(queue) => state.queued -= queue_size(&queue),
                // Turns that it was to hear of and never took have no reader.
                Queue::Turns(untaken) => untaken.into_iter().for_each(|key| drop(state.close_slot(key))),
            }
        }
        self.0.look_if_wanted(state);
    }

    /// The next event of a listener to all events; none after the end. `taken` holds what it took before.
    pub(crate) fn poll_listened_event(
        &self,
        key: ListenerKey,
        taken: &mut VecDeque<Event>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Event>> {
        if let Some(event) = self.0.next_taken(taken) {
            return Poll::Ready(Some(event));
        }
        let mut state = self.0.lock();
        if let Some(Queue::Events(queue)) = state.listener(key).map(|listener| &mut listener.queue) {
            std::mem::swap(taken, queue);
        }
        if let Some(event) = self.0.next_taken(taken) {
            self.0.took(state, size(&event) + queue_size(taken));
            return Poll::Ready(Some(event));
        }
        self.wait_as_listener(state, key, cx)
    }

    /// The next turn that the CLI started; none after the end.
    pub(crate) fn poll_listened_turn(&self, key: ListenerKey, cx: &mut Context<'_>) -> Poll<Option<SlotKey>> {
        let mut state = self.0.lock();
        let found = match state.listener(key).map(|listener| &mut listener.queue) {
            Some(Queue::Turns(queue)) => queue.pop_front(),
            _ => None,
        };
        match found {
            Some(turn) => Poll::Ready(Some(turn)),
            None => self.wait_as_listener(state, key, cx),
        }
    }

    /// Returns when nothing runs and nothing is queued. Cancel-safe.
    ///
    /// # Errors
    /// When the connection ends first.
    pub(crate) async fn idle(&self) -> Result<(), Error> {
        let _idler = Idler::new(&self.0);
        loop {
            let mut changed = std::pin::pin!(self.0.changed.notified());
            // Registered before the state is looked at, or a change in between would wake nobody.
            changed.as_mut().enable();
            {
                let state = self.0.lock();
                if let Some(ended) = &state.ended {
                    return Err(Error::Ended(Arc::clone(ended)));
                }
                if !state.sorting && state.is_idle() {
                    return Ok(());
                }
            }
            changed.await;
        }
    }

    /// Returns when the first `count` events of the connection are in the queues of their readers, or none will come any
    /// more. Cancel-safe.
    pub(crate) async fn sorted(&self, count: u64) {
        {
            let mut state = self.0.lock();
            state.awaited = state.awaited.max(count);
        }
        self.0.look.notify_one();
        loop {
            let mut changed = std::pin::pin!(self.0.changed.notified());
            // Registered before the state is looked at, or a change in between would wake nobody.
            changed.as_mut().enable();
            {
                let state = self.0.lock();
                if state.ended.is_some() || state.sorted >= count {
                    return;
                }
            }
            changed.await;
        }
    }

    /// Delivers an event that this end made itself.
    pub(crate) fn inject(&self, event: Event) {
        self.0.route(vec![event]);
    }

    /// Looks at what the events so far add up to.
    pub(crate) fn with_fold<T>(&self, look: impl FnOnce(&Fold) -> T) -> T {
        look(&self.0.lock().fold)
    }

    fn wait_as_listener<T>(
        &self,
        mut state: MutexGuard<'_, State>,
        key: ListenerKey,
        cx: &mut Context<'_>,
    ) -> Poll<Option<T>> {
        if state.ended.is_some() {
            return Poll::Ready(None);
        }
        if let Some(listener) = state.listener(key) {
            wait(&mut listener.waker, cx);
        }
        self.0.look_if_wanted(state);
        Poll::Pending
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.0.lock().abandoned = true;
        self.0.look.notify_one();
    }
}

/// Waits for an idle run.
struct Idler<'a>(&'a Shared);

impl<'a> Idler<'a> {
    fn new(shared: &'a Shared) -> Self {
        let mut state = shared.lock();
        state.sort_early();
        state.idlers += 1;
        // A turn may have begun that nobody has read of yet.
        state.sorting = true;
        drop(state);
        shared.look.notify_one();
        Self(shared)
    }
}

impl Drop for Idler<'_> {
    fn drop(&mut self) {
        self.0.lock().idlers -= 1;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while sorting leaves queues that are still valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the task should wait for now; none when it should end. Notes whether all is sorted.
    fn wants(&self, all_sorted: bool) -> Option<Wants> {
        let mut state = self.lock();
        if state.abandoned {
            return None;
        }
        if all_sorted && std::mem::take(&mut state.sorting) {
            self.changed.notify_waiters();
        }
        let quiet = all_sorted && state.turns.waits_for_quiet(state.is_at_work());
        Some(Wants { events: state.wants_events(), quiet })
    }

    /// The next of the events that a reader took all at once, so that the lock is not taken for each.
    fn next_taken(&self, taken: &mut VecDeque<Event>) -> Option<Event> {
        let event = taken.pop_front()?;
        self.progress.note();
        Some(event)
    }

    /// A reader emptied its queue of this size.
    fn took(&self, mut state: MutexGuard<'_, State>, size: usize) {
        let before = state.queued;
        state.queued -= size;
        // Once at the limit and not at every event below it.
        if before >= AHEAD && state.queued < AHEAD {
            drop(state);
            self.look.notify_one();
        }
    }

    /// Wakes the task if it waits although somebody wants events.
    fn look_if_wanted(&self, state: MutexGuard<'_, State>) {
        if state.queued >= AHEAD && state.wants_events() {
            drop(state);
            self.look.notify_one();
        }
    }

    /// Sorts events of the connection.
    fn sort(&self, events: Vec<Event>) {
        self.change(|state| {
            state.sorted += events.len() as u64;
            events.into_iter().for_each(|event| state.route(event));
        });
    }

    /// Sorts events and wakes those who have got one.
    fn route(&self, events: Vec<Event>) {
        self.change(|state| events.into_iter().for_each(|event| state.route(event)));
    }

    fn settle(&self) {
        self.change(State::settle);
    }

    fn end(&self, ended: Arc<Ended>) {
        self.change(|state| state.end(ended));
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        let woken = state.woken();
        drop(state);
        // Outside of the lock: a waker may run its task at once.
        woken.into_iter().for_each(Waker::wake);
        self.changed.notify_waiters();
    }
}
