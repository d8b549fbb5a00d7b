//! Which reader gets which event, and what is queued for each.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Waker};

use pilothouse_link::{Ended, Host, WeakHandle};
use pilothouse_proc::Ladder;
use pilothouse_proto::{AgentFrame, System};

use super::{AHEAD, Fate, ListenerKey, SlotKey};
use crate::event::Event;
use crate::fold::Fold;
use crate::turns::{Outcome, RunState, Signal, TurnKey, Turns};

pub(super) struct State {
    pub(super) hides_mirror: bool,
    pub(super) turns: Turns,
    pub(super) slots: Vec<Slot>,
    pub(super) listeners: Vec<Listener>,
    /// Counts listeners and slots.
    pub(super) next_key: u64,
    pub(super) fold: Fold,
    /// The newest state that the CLI has declared; none from a CLI that never does.
    pub(super) run: Option<RunState>,
    pub(super) ended: Option<Arc<Ended>>,
    /// Closes the connection, which it does not keep open.
    pub(super) handle: WeakHandle<Host>,
    /// Everything that came before the first reader, who may want it; none since.
    pub(super) early: Option<Vec<Event>>,
    /// About how many bytes are queued, `early` included.
    pub(super) queued: usize,
    /// How many wait for an idle run.
    pub(super) idlers: usize,
    /// One of them waits until everything that has arrived is sorted.
    pub(super) sorting: bool,
    /// How many events of the connection are sorted.
    pub(super) sorted: u64,
    /// How many must be sorted before a handler goes on.
    pub(super) awaited: u64,
    /// The session is gone.
    pub(super) abandoned: bool,
}

/// One turn handle that still exists.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) key: SlotKey,
    pub(super) turn: TurnKey,
    pub(super) queue: VecDeque<Event>,
    pub(super) fate: Fate,
    /// Set while the reader waits with an empty queue.
    pub(super) waker: Option<Waker>,
}

impl Slot {
    pub(super) fn is_open(&self) -> bool {
        matches!(self.fate, Fate::Open)
    }
}

#[derive(Debug)]
pub(super) struct Listener {
    pub(super) key: ListenerKey,
    pub(super) queue: Queue,
    /// Set while the reader waits with an empty queue.
    pub(super) waker: Option<Waker>,
}

#[derive(Debug)]
pub(super) enum Queue {
    Events(VecDeque<Event>),
    Turns(VecDeque<SlotKey>),
}

impl State {
    pub(super) fn new(handle: WeakHandle<Host>, hides_mirror: bool) -> Self {
        Self {
            hides_mirror,
            turns: Turns::default(),
            slots: Vec::new(),
            listeners: Vec::new(),
            next_key: 0,
            fold: Fold::default(),
            run: None,
            ended: None,
            handle,
            early: Some(Vec::new()),
            queued: 0,
            idlers: 0,
            sorting: false,
            sorted: 0,
            awaited: 0,
            abandoned: false,
        }
    }

    /// Whether the task should take more: while readers are not far behind, one of them has nothing, or a handler waits
    /// for what came before its request.
    pub(super) fn wants_events(&self) -> bool {
        self.queued < AHEAD
            || self.sorted < self.awaited
            || self.idlers > 0
            || self.slots.iter().any(|slot| slot.waker.is_some())
            || self.listeners.iter().any(|listener| listener.waker.is_some())
    }

    pub(super) fn sent(&mut self, uuid: &str) -> SlotKey {
        let turn = self.turns.sent(uuid);
        self.open_slot(turn)
    }

    /// There is a reader: from here on nothing is kept for later ones.
    pub(super) fn sort_early(&mut self) {
        for event in self.early.take().into_iter().flatten() {
            self.queued -= size(&event);
            self.route(event);
        }
    }

    /// Gives an event to everybody it concerns.
    pub(super) fn route(&mut self, event: Event) {
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
    pub(super) fn woken(&mut self) -> Vec<Waker> {
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

    pub(super) fn open_slot(&mut self, turn: TurnKey) -> SlotKey {
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

    pub(super) fn close_slot(&mut self, key: SlotKey) -> Option<Slot> {
        let index = self.slots.iter().position(|slot| slot.key == key)?;
        let slot = self.slots.swap_remove(index);
        self.queued -= queue_size(&slot.queue);
        Some(slot)
    }

    pub(super) fn is_at_work(&self) -> bool {
        self.run == Some(RunState::Busy)
    }

    pub(super) fn settle(&mut self) {
        let settled = self.turns.settle(self.is_at_work());
        if settled.is_empty() {
            return;
        }
        let fate = self.fold.last_result().map_or(Fate::NoResult, Fate::Settled);
        for key in settled {
            self.set_fate(key, &fate);
        }
    }

    pub(super) fn end(&mut self, ended: Arc<Ended>) {
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

    pub(super) fn is_idle(&self) -> bool {
        self.turns.is_idle() && !self.is_at_work()
    }

    pub(super) fn listen(&mut self, queue: Queue) -> ListenerKey {
        self.next_key += 1;
        let key = ListenerKey(self.next_key);
        self.listeners.push(Listener { key, queue, waker: None });
        self.sort_early();
        key
    }

    pub(super) fn listener(&mut self, key: ListenerKey) -> Option<&mut Listener> {
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
pub(super) fn size(event: &Event) -> usize {
    let raw = match event {
        Event::Frame { raw, .. } => 2 * raw.len(),
        Event::Noise { raw } | Event::Malformed { raw, .. } | Event::StrayReply { raw, .. } => raw.len(),
        Event::TooLong(line) => line.head.len(),
    };
    size_of::<Event>() + raw
}

pub(super) fn queue_size(queue: &VecDeque<Event>) -> usize {
    queue.iter().map(size).sum()
}

pub(super) fn wait(waker: &mut Option<Waker>, cx: &Context<'_>) {
    match waker {
        Some(waker) => waker.clone_from(cx.waker()),
        none => *none = Some(cx.waker().clone()),
    }
}
