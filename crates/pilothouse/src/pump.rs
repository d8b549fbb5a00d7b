//! Hands events to whoever asks: turns, the stream of all events, the stream of turns that the CLI started.
//!
//! There is no task here. Whoever is polled takes the next batch from the connection and sorts it; an event for the
//! one who polls is handed over without touching a queue, others are queued and woken. So a stream that one consumer
//! reads costs no extra hop, and a session that nobody reads costs nothing but what the connection holds.

mod waiters;

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use pilothouse_link::{Ended, Events, Handle, Host};
use pilothouse_proc::Ladder;
use pilothouse_proto::{AgentFrame, System};
use tokio::time::Sleep;

use crate::boxed::BoxFuture;
use crate::error::Error;
use crate::event::Event;
use crate::fold::Fold;
use crate::turns::{Outcome, RunState, Signal, TurnKey, Turns};
use waiters::Waiters;

/// How long the run has to be quiet before sends that no result named are settled.
const QUIET: Duration = Duration::from_secs(3);

/// The pump of one session, shared by its handles.
pub(crate) struct Pump {
    state: Mutex<State>,
    waiters: Arc<Waiters>,
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
    events: Events<AgentFrame>,
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
    /// Closes the connection.
    handle: Handle<Host>,
    /// Finds out why there are no more events.
    ending: BoxFuture<'static, Arc<Ended>>,
    quiet: Option<Pin<Box<Sleep>>>,
    /// Wakes everybody who waits, whoever of them polled the source last.
    waker: Waker,
}

/// One turn handle that still exists.
#[derive(Debug)]
struct Slot {
    key: SlotKey,
    turn: TurnKey,
    queue: VecDeque<Event>,
    fate: Fate,
}

#[derive(Debug)]
struct Listener {
    key: ListenerKey,
    queue: Queue,
}

#[derive(Debug)]
enum Queue {
    Events(VecDeque<Event>),
    Turns(VecDeque<SlotKey>),
}

impl Pump {
    /// `hides_mirror` keeps frames from everybody that are for the session store.
    pub(crate) fn new(events: Events<AgentFrame>, handle: Handle<Host>, hides_mirror: bool) -> Self {
        let waiters = Arc::new(Waiters::default());
        let ending = handle.clone();
        let state = State {
            events,
            hides_mirror,
            turns: Turns::default(),
            slots: Vec::new(),
            listeners: Vec::new(),
            next_key: 0,
            fold: Fold::default(),
            run: None,
            ended: None,
            handle,
            ending: Box::pin(async move { ending.ended().await }),
            quiet: None,
            waker: Waker::from(Arc::clone(&waiters)),
        };
        Self { state: Mutex::new(state), waiters }
    }

    /// Makes the handle of a message that is about to be written.
    pub(crate) fn sent(&self, uuid: &str) -> SlotKey {
        let mut state = self.lock();
        let turn = state.turns.sent(uuid);
        state.open_slot(turn)
    }

    /// Takes back a message that could not be written.
    pub(crate) fn unsent(&self, key: SlotKey) {
        let mut state = self.lock();
        if let Some(index) = state.slots.iter().position(|slot| slot.key == key) {
            let slot = state.slots.swap_remove(index);
            state.turns.unsent(slot.turn);
        }
    }

    /// Whether a turn handle has not come to its end, as far as events were read.
    pub(crate) fn is_open(&self, key: SlotKey) -> bool {
        self.lock().slots.iter().any(|slot| slot.key == key && matches!(slot.fate, Fate::Open))
    }

    /// A turn handle was dropped: its events need not be kept.
    pub(crate) fn forget_turn(&self, key: SlotKey) {
        self.lock().slots.retain(|slot| slot.key != key);
        // Somebody else may have relied on this one's polling.
        self.waiters.wake_all();
    }

    /// The next event of a turn; the fate it came to when there are no more.
    pub(crate) fn poll_turn(&self, key: SlotKey, cx: &mut Context<'_>) -> Poll<Result<Event, Fate>> {
        let mut state = self.lock();
        loop {
            let Some(slot) = state.slots.iter_mut().find(|slot| slot.key == key) else {
                return Poll::Ready(Err(Fate::Withdrawn));
            };
            if let Some(event) = slot.queue.pop_front() {
                return Poll::Ready(Ok(event));
            }
            if !matches!(slot.fate, Fate::Open) {
                return Poll::Ready(Err(slot.fate.clone()));
            }
            if let Some(event) = ready!(state.poll_event(cx, &self.waiters))
                && let Some(mine) = state.route(event, Some(key), &self.waiters)
            {
                return Poll::Ready(Ok(mine));
            }
        }
    }

    /// Begins to keep every event from here on.
    pub(crate) fn listen_to_events(&self) -> ListenerKey {
        self.lock().listen(Queue::Events(VecDeque::new()))
    }

    /// Begins to keep the turns that the CLI starts from here on.
    pub(crate) fn listen_to_turns(&self) -> ListenerKey {
        self.lock().listen(Queue::Turns(VecDeque::new()))
    }

    pub(crate) fn forget_listener(&self, key: ListenerKey) {
        let mut state = self.lock();
        // Turns that it was to hear of and never took have no reader.
        if let Some(Queue::Turns(untaken)) =
            state.queue(key).map(|queue| std::mem::replace(queue, Queue::Turns(VecDeque::new())))
        {
            state.slots.retain(|slot| !untaken.contains(&slot.key));
        }
        state.listeners.retain(|listener| listener.key != key);
        drop(state);
        self.waiters.wake_all();
    }

    /// The next event of a listener to all events; none after the end.
    pub(crate) fn poll_listened_event(&self, key: ListenerKey, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.poll_until(cx, |state| match state.queue(key) {
            Some(Queue::Events(queue)) => queue.pop_front(),
            _ => None,
        })
    }

    /// The next turn that the CLI started; none after the end.
    pub(crate) fn poll_listened_turn(&self, key: ListenerKey, cx: &mut Context<'_>) -> Poll<Option<SlotKey>> {
        self.poll_until(cx, |state| match state.queue(key) {
            Some(Queue::Turns(queue)) => queue.pop_front(),
            _ => None,
        })
    }

    /// Ready when nothing runs and nothing is queued.
    ///
    /// # Errors
    /// When the connection ends first.
    pub(crate) fn poll_idle(&self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let mut state = self.lock();
        // Everything that has arrived is sorted first: a turn may have begun that nobody has read of yet.
        loop {
            match state.poll_event(cx, &self.waiters) {
                Poll::Ready(Some(event)) => {
                    state.route(event, None, &self.waiters);
                }
                Poll::Ready(None) => {
                    if let Some(ended) = &state.ended {
                        return Poll::Ready(Err(Error::Ended(Arc::clone(ended))));
                    }
                }
                Poll::Pending if state.is_idle() => return Poll::Ready(Ok(())),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Delivers an event that this end made itself.
    pub(crate) fn inject(&self, event: Event) {
        self.lock().route(event, None, &self.waiters);
        self.waiters.wake_all();
    }

    /// Looks at what the events so far add up to.
    pub(crate) fn with_fold<T>(&self, look: impl FnOnce(&Fold) -> T) -> T {
        look(&self.lock().fold)
    }

    /// Sorts whatever has come in when nobody else will, so that a session whose handles were dropped does not pile up.
    pub(crate) fn drain_unread(&self) {
        let mut state = self.lock();
        if !state.slots.is_empty() || !state.listeners.is_empty() || !state.events.has_more() {
            return;
        }
        let waker = state.waker.clone();
        let mut cx = Context::from_waker(&waker);
        while state.ended.is_none()
            && let Poll::Ready(event) = state.poll_event(&mut cx, &self.waiters)
        {
            if let Some(event) = event {
                state.route(event, None, &self.waiters);
            }
        }
    }

    fn poll_until<T>(
        &self,
        cx: &mut Context<'_>,
        mut take: impl FnMut(&mut State) -> Option<T>,
    ) -> Poll<Option<T>> {
        let mut state = self.lock();
        loop {
            if let Some(found) = take(&mut state) {
                return Poll::Ready(Some(found));
            }
            if state.ended.is_some() {
                return Poll::Ready(None);
            }
            if let Some(event) = ready!(state.poll_event(cx, &self.waiters)) {
                state.route(event, None, &self.waiters);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while sorting leaves queues that are still valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The next event from the connection. `None` means that something changed without one: look again.
    fn poll_event(&mut self, cx: &mut Context<'_>, waiters: &Waiters) -> Poll<Option<Event>> {
        if self.ended.is_some() {
            return Poll::Ready(None);
        }
        let mut shared = Context::from_waker(&self.waker);
        let mut polled = self.events.poll_event(&mut shared);
        if polled.is_pending() {
            // Looked again after registering, or an event that came in between would wake nobody.
            waiters.add(cx.waker());
            if self.events.has_more() {
                polled = self.events.poll_event(&mut shared);
            }
        }
        match polled {
            Poll::Ready(Some(event)) => {
                self.quiet = None;
                let hidden =
                    self.hides_mirror && matches!(event.frame(), Some(AgentFrame::TranscriptMirror(_)));
                Poll::Ready((!hidden).then_some(event))
            }
            Poll::Ready(None) => {
                waiters.add(cx.waker());
                let ended = ready!(self.ending.as_mut().poll(&mut shared));
                self.end(ended);
                waiters.wake_all();
                Poll::Ready(None)
            }
            Poll::Pending if self.turns.waits_for_quiet(self.is_at_work()) => {
                let sleep = self.quiet.get_or_insert_with(|| Box::pin(tokio::time::sleep(QUIET)));
                ready!(sleep.as_mut().poll(&mut shared));
                self.quiet = None;
                self.settle();
                waiters.wake_all();
                Poll::Ready(None)
            }
            Poll::Pending => Poll::Pending,
        }
    }

    /// Gives an event to everybody it concerns; returned when it is for the one who asks.
    fn route(&mut self, event: Event, asker: Option<SlotKey>, waiters: &Waiters) -> Option<Event> {
        let before = self.run;
        let outcome = match &event {
            Event::Frame { raw, frame } => {
                let signal = Signal::of(frame);
                self.fold.observe(frame, raw);
                if matches!(frame, AgentFrame::System(System::Init(_))) {
                    self.refuse_what_is_too_old();
                }
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
        let ends = !outcome.ended.is_empty();
        let news = ends || outcome.started.is_some() || !outcome.cancelled.is_empty() || self.run != before;
        let audience = if ends { outcome.ended.as_slice() } else { self.turns.audience() };
        // Nearly always one turn is read and nobody else listens.
        if let ([slot], []) = (self.slots.as_mut_slice(), self.listeners.as_slice())
            && audience == [slot.turn]
            && asker == Some(slot.key)
        {
            if ends {
                slot.fate = Fate::Result;
                self.turns.recycle(outcome.ended);
            }
            if news {
                waiters.wake_all();
            }
            return Some(event);
        }
        let (mine, queued) = self.share(event, asker, &outcome);
        if news || queued {
            waiters.wake_all();
        }
        mine
    }

    /// Gives an event to everybody who is to read it: what is for the one who asks, and whether somebody else has one.
    #[inline(never)]
    fn share(&mut self, event: Event, asker: Option<SlotKey>, outcome: &Outcome) -> (Option<Event>, bool) {
        let ends = !outcome.ended.is_empty();
        let audience = if ends { outcome.ended.as_slice() } else { self.turns.audience() };
        let hears = |listener: &&Listener| matches!(listener.queue, Queue::Events(_));
        let slots = self.slots.iter().filter(|slot| audience.contains(&slot.turn)).count();
        let readers = slots + self.listeners.iter().filter(hears).count();
        let mut left = readers;
        // Moved to the last who gets it, so that a lone reader costs no copy.
        let mut event = Some(event);
        let mut copy = || {
            left -= 1;
            if left == 0 { event.take() } else { event.clone() }
        };
        let mut mine = None;
        for slot in self.slots.iter_mut().filter(|slot| audience.contains(&slot.turn)) {
            // Whoever asks has read its queue to the end.
            if asker == Some(slot.key) {
                mine = copy();
            } else {
                slot.queue.extend(copy());
            }
            if ends {
                slot.fate = Fate::Result;
            }
        }
        for listener in &mut self.listeners {
            if let Queue::Events(queue) = &mut listener.queue {
                queue.extend(copy());
            }
        }
        let queued = readers > usize::from(mine.is_some());
        (mine, queued)
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
        self.slots.push(Slot { key, turn, queue: VecDeque::new(), fate });
        key
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
        self.turns.end();
        for slot in self.slots.iter_mut().filter(|slot| matches!(slot.fate, Fate::Open)) {
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
        self.handle.begin_close(Ladder::now());
        for slot in self.slots.iter_mut().filter(|slot| matches!(slot.fate, Fate::Open)) {
            slot.fate = Fate::Refused(error.clone());
        }
    }

    fn is_idle(&self) -> bool {
        self.turns.is_idle() && !self.is_at_work()
    }

    fn listen(&mut self, queue: Queue) -> ListenerKey {
        self.next_key += 1;
        let key = ListenerKey(self.next_key);
        self.listeners.push(Listener { key, queue });
        key
    }

    fn queue(&mut self, key: ListenerKey) -> Option<&mut Queue> {
        self.listeners.iter_mut().find(|listener| listener.key == key).map(|listener| &mut listener.queue)
    }
}
