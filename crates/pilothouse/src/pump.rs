//! Hands events to turns, to the stream of all events, and to the stream of turns that the CLI started.
//!
//! One task per session takes the events of the connection and sorts them into a queue for each reader. It runs ahead of
//! the readers by [`AHEAD`]. Beyond that it waits, and the connection holds back the CLI; unless a reader has nothing left,
//! because that one must not wait for another one that does not read.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use pilothouse_link::{Ended, Events, Handle, Host, Progress, WeakHandle};
use pilothouse_proc::Ladder;
use pilothouse_proto::{AgentFrame, System};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::error::Error;
use crate::event::Event;
use crate::fold::Fold;
use crate::turns::{Outcome, RunState, Signal, TurnKey, Turns};

/// How long the run has to be quiet before sends that no result named are settled.
const QUIET: Duration = Duration::from_secs(3);

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
pub(crate) struct ListenerKey(u64);

/// Names one turn handle. Several may be about the same turn, when several listen for turns of the CLI's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotKey(u64);

struct State {
    hides_mirror: bool,
    turns: Turns,
    slots: Vec<Slot>,
    listeners: Vec<Listener>,
    /// Counts listeners and slots.
    next_key: u64,
    fold: Fold,
    /// The newest state that the CLI has declared; none from a CLI that never does.
    run: Option<RunState>,
    ended: Option<Arc<Ended>>,
    /// Closes the connection, which it does not keep open.
    handle: WeakHandle<Host>,
    /// Everything that came before the first reader, who may want it; none since.
    early: Option<Vec<Event>>,
    /// About how many bytes are queued, `early` included.
    queued: usize,
    /// How many wait for an idle run.
    idlers: usize,
    /// One of them waits until everything that has arrived is sorted.
    sorting: bool,
    /// The session is gone.
    abandoned: bool,
}

/// One turn handle that still exists.
#[derive(Debug)]
struct Slot {
    key: SlotKey,
    turn: TurnKey,
    queue: VecDeque<Event>,
    fate: Fate,
    /// Set while the reader waits with an empty queue.
    waker: Option<Waker>,
}

impl Slot {
    fn is_open(&self) -> bool {
        matches!(self.fate, Fate::Open)
    }
}

#[derive(Debug)]
struct Listener {
    key: ListenerKey,
    queue: Queue,
    /// Set while the reader waits with an empty queue.
    waker: Option<Waker>,
}

#[derive(Debug)]
enum Queue {
    Events(VecDeque<Event>),
    Turns(VecDeque<SlotKey>),
}

impl Pump {
    /// Starts the task. `hides_mirror` keeps frames from everybody that are for the session store.
    pub(crate) fn new(events: Events<AgentFrame>, handle: &Handle<Host>, hides_mirror: bool) -> Self {
        let state = State {
            hides_mirror,
            turns: Turns::default(),
            slots: Vec::new(),
            listeners: Vec::new(),
            next_key: 0,
            fold: Fold::default(),
            run: None,
            ended: None,
            handle: handle.downgrade(),
            early: Some(Vec::new()),
            queued: 0,
            idlers: 0,
            sorting: false,
            abandoned: false,
        };
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

    /// The next event of a turn; the fate it came to when there are no more.
    pub(crate) fn poll_turn(&self, key: SlotKey, cx: &mut Context<'_>) -> Poll<Result<Event, Fate>> {
        let mut state = self.0.lock();
        let Some(slot) = state.slots.iter_mut().find(|slot| slot.key == key) else {
            return Poll::Ready(Err(Fate::Withdrawn));
        };
        if let Some(event) = slot.queue.pop_front() {
            self.0.taken(state, &event);
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
                Queue::Events(queue) => state.queued -= queue.iter().map(size).sum::<usize>(),
                // Turns that it was to hear of and never took have no reader.
                Queue::Turns(untaken) => untaken.into_iter().for_each(|key| drop(state.close_slot(key))),
            }
        }
        self.0.look_if_wanted(state);
    }

    /// The next event of a listener to all events; none after the end.
    pub(crate) fn poll_listened_event(&self, key: ListenerKey, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let mut state = self.0.lock();
        let found = match state.listener(key).map(|listener| &mut listener.queue) {
            Some(Queue::Events(queue)) => queue.pop_front(),
            _ => None,
        };
        if let Some(event) = found {
            self.0.taken(state, &event);
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

/// The task that sorts. When the runtime drops it, its readers learn that nothing more will come.
struct Task(Arc<Shared>);

impl Task {
    async fn run(self, mut events: Events<AgentFrame>, handle: WeakHandle<Host>) {
        let mut quiet_at = Instant::now() + QUIET;
        loop {
            let Some(wants) = self.0.wants(!events.has_more()) else { return };
            tokio::select! {
                biased;
                // Cancel-safe: what there is to see is in the state.
                () = self.0.look.notified() => {}
                // Cancel-safe: a batch is taken whole or not at all.
                batch = events.next_batch(), if wants.events => {
                    let Some(batch) = batch else { break };
                    self.0.route(batch);
                    quiet_at = Instant::now() + QUIET;
                }
                // Cancel-safe: a point in time.
                () = sleep_until(quiet_at), if wants.quiet => self.0.settle(),
            }
        }
        // The cause is known by now; without a handle nobody is left to be told.
        if let Some(handle) = handle.upgrade() {
            self.0.end(handle.ended().await);
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        let cause = self.0.lock().handle.upgrade().and_then(|handle| handle.try_ended());
        self.0.end(cause.unwrap_or_else(|| Arc::new(Ended::closed())));
    }
}

/// What the task waits for.
struct Wants {
    events: bool,
    quiet: bool,
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

    /// A reader took an event out of its queue.
    fn taken(&self, mut state: MutexGuard<'_, State>, event: &Event) {
        self.progress.note();
        let before = state.queued;
        state.queued -= size(event);
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

impl State {
    /// Whether the task should take more: while readers are not far behind, or one of them has nothing.
    fn wants_events(&self) -> bool {
        self.queued < AHEAD
            || self.idlers > 0
            || self.slots.iter().any(|slot| slot.waker.is_some())
            || self.listeners.iter().any(|listener| listener.waker.is_some())
    }

    fn sent(&mut self, uuid: &str) -> SlotKey {
        let turn = self.turns.sent(uuid);
        self.open_slot(turn)
    }

    /// There is a reader: from here on nothing is kept for later ones.
    fn sort_early(&mut self) {
        for event in self.early.take().into_iter().flatten() {
            self.queued -= size(&event);
            self.route(event);
        }
    }

    /// Gives an event to everybody it concerns.
    fn route(&mut self, event: Event) {
        if self.hides_mirror && matches!(event.frame(), Some(AgentFrame::TranscriptMirror(_))) {
            return;
        }
        if let Some(early) = &mut self.early {
            self.queued += size(&event);
            return early.push(event);
        }
        let is_init = matches!(event.frame(), Some(AgentFrame::System(System::Init(_))));
        let outcome = match &event {
            Event::Frame { raw, frame } => {
                let signal = Signal::of(frame);
                self.fold.observe(frame, raw);
                if let Signal::State(run) = signal {
                    self.run = Some(run);
                }
                self.turns.observe(&signal)
            }
            _ => Outcome::default(),
        };
        if let Some(key) = outcome.started {
            self.announce(key);
        }
        for key in &outcome.cancelled {
            self.set_fate(*key, &Fate::Withdrawn);
        }
        self.share(event, &outcome.ended);
        if is_init {
            self.refuse_what_is_too_old();
        }
    }

    /// Queues an event for everybody who is to read it; for these turns it is the last one.
    fn share(&mut self, event: Event, ended: &[TurnKey]) {
        let ends = !ended.is_empty();
        let audience = if ends { ended } else { self.turns.audience() };
        let is_reader = |slot: &&mut Slot| slot.is_open() && audience.contains(&slot.turn);
        let slots = self.slots.iter_mut().filter(is_reader).map(|slot| {
            if ends {
                slot.fate = Fate::Result;
            }
            &mut slot.queue
        });
        let listeners = self.listeners.iter_mut().filter_map(|listener| match &mut listener.queue {
            Queue::Events(queue) => Some(queue),
            Queue::Turns(_) => None,
        });
        let mut readers = slots.chain(listeners);
        // Moved to the last one, so that a lone reader costs no copy.
        let Some(mut queue) = readers.next() else { return };
        let size = size(&event);
        for next in readers {
            queue.push_back(event.clone());
            self.queued += size;
            queue = next;
        }
        queue.push_back(event);
        self.queued += size;
    }

    /// Takes the wakers of those who have something to see.
    fn woken(&mut self) -> Vec<Waker> {
        let slots = self.slots.iter_mut().filter(|slot| !slot.queue.is_empty() || !slot.is_open());
        let mut woken: Vec<_> = slots.filter_map(|slot| slot.waker.take()).collect();
        let ended = self.ended.is_some();
        let listeners = self.listeners.iter_mut().filter(|listener| ended || !listener.queue.is_empty());
        woken.extend(listeners.filter_map(|listener| listener.waker.take()));
        woken
    }

    /// A turn of the CLI's own has begun; it is kept only if somebody listens for such turns.
    fn announce(&mut self, turn: TurnKey) {
        for index in 0..self.listeners.len() {
            if !matches!(self.listeners.get(index), Some(Listener { queue: Queue::Turns(_), .. })) {
                continue;
            }
            let key = self.open_slot(turn);
            if let Some(Listener { queue: Queue::Turns(queue), .. }) = self.listeners.get_mut(index) {
                queue.push_back(key);
            }
        }
    }

    fn open_slot(&mut self, turn: TurnKey) -> SlotKey {
        self.next_key += 1;
        let key = SlotKey(self.next_key);
        let fate = match (self.fold.too_old(), &self.ended) {
            (Some(error), _) => Fate::Refused(error.clone()),
            (None, Some(ended)) => Fate::Ended(Arc::clone(ended)),
            (None, None) => Fate::Open,
        };
        self.slots.push(Slot { key, turn, queue: VecDeque::new(), fate, waker: None });
        key
    }

    fn close_slot(&mut self, key: SlotKey) -> Option<Slot> {
        let index = self.slots.iter().position(|slot| slot.key == key)?;
        let slot = self.slots.swap_remove(index);
        self.queued -= slot.queue.iter().map(size).sum::<usize>();
        Some(slot)
    }

    fn is_at_work(&self) -> bool {
        self.run == Some(RunState::Busy)
    }

    fn settle(&mut self) {
        let settled = self.turns.settle(self.is_at_work());
        if settled.is_empty() {
            return;
        }
        let fate = self.fold.last_result().map_or(Fate::NoResult, Fate::Settled);
        for key in settled {
            self.set_fate(key, &fate);
        }
    }

    fn end(&mut self, ended: Arc<Ended>) {
        if self.ended.is_some() {
            return;
        }
        self.turns.end();
        for slot in self.slots.iter_mut().filter(|slot| slot.is_open()) {
            slot.fate = Fate::Ended(Arc::clone(&ended));
        }
        self.ended = Some(ended);
    }

    fn set_fate(&mut self, turn: TurnKey, fate: &Fate) {
        for slot in self.slots.iter_mut().filter(|slot| slot.turn == turn) {
            slot.fate = fate.clone();
        }
    }

    fn refuse_what_is_too_old(&mut self) {
        let Some(error) = self.fold.too_old() else { return };
        if let Some(handle) = self.handle.upgrade() {
            handle.begin_close(Ladder::now());
        }
        for slot in self.slots.iter_mut().filter(|slot| slot.is_open()) {
            slot.fate = Fate::Refused(error.clone());
        }
    }

    fn is_idle(&self) -> bool {
        self.turns.is_idle() && !self.is_at_work()
    }

    fn listen(&mut self, queue: Queue) -> ListenerKey {
        self.next_key += 1;
        let key = ListenerKey(self.next_key);
        self.listeners.push(Listener { key, queue, waker: None });
        self.sort_early();
        key
    }

    fn listener(&mut self, key: ListenerKey) -> Option<&mut Listener> {
        self.listeners.iter_mut().find(|listener| listener.key == key)
    }
}

impl Queue {
    fn is_empty(&self) -> bool {
        match self {
            Self::Events(queue) => queue.is_empty(),
            Self::Turns(queue) => queue.is_empty(),
        }
    }
}

/// About how much memory an event holds. What is typed is taken to be as large as its line.
fn size(event: &Event) -> usize {
    let raw = match event {
        Event::Frame { raw, .. } => 2 * raw.len(),
        Event::Noise { raw } | Event::Malformed { raw, .. } | Event::StrayReply { raw, .. } => raw.len(),
        Event::TooLong(line) => line.head.len(),
    };
    size_of::<Event>() + raw
}

fn wait(waker: &mut Option<Waker>, cx: &Context<'_>) {
    match waker {
        Some(waker) => waker.clone_from(cx.waker()),
        none => *none = Some(cx.waker().clone()),
    }
}
