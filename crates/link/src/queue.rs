//! From the router to whoever reads events: batches, one per read.
//!
//! This is the one unbounded queue of a connection. Bounding it would let a reader of events who is busy, or who waits
//! for a reply, stop the router, and with it the reply and every request of the other end. Instead the router pauses
//! reading at [`PAUSE_AT`], but only while the reader of events is seen to make progress.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_core::Stream;
use pilothouse_proto::Wire;

use crate::event::Event;
use crate::reading;

/// The router pauses reading when so much is queued and the reader of events keeps reading. Enough for sixteen reads ahead;
/// with four times as much a burst took a host of 5 MB beyond 9, and was no faster.
pub(crate) const PAUSE_AT: usize = 1 << 20;

/// Creates the two ends of a queue.
pub(crate) fn queue<F>() -> (EventSender<F>, Events<F>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            batches: VecDeque::new(),
            weight: 0,
            consumer: None,
            router: None,
            sender_gone: false,
            consumer_gone: false,
        }),
        polls: AtomicU64::new(0),
    });
    (
        EventSender { shared: shared.clone() },
        Events { shared, current: Vec::new().into_iter(), current_weight: 0 },
    )
}

/// Everything that arrives and is neither a request nor a reply, in order. Ends when the connection does.
///
/// Dropping it discards later events; the connection goes on.
#[derive(Debug)]
pub struct Events<F> {
    shared: Arc<Shared<F>>,
    current: std::vec::IntoIter<Queued<F>>,
    current_weight: usize,
}

/// What waits in the queue.
#[derive(Debug)]
pub(crate) enum Queued<F> {
    /// A line that the reader of events types when it comes to it.
    Line(Bytes),
    /// What the router has typed already.
    Event(Box<Event<F>>),
}

impl<F> Queued<F> {
    /// About how much memory it holds. What is typed is taken to be as large as its line.
    fn weight(&self) -> usize {
        let bytes = match self {
            Self::Line(raw) => raw.len(),
            Self::Event(event) => match &**event {
                Event::Frame { raw, .. } => size_of::<Event<F>>() + 2 * raw.len(),
                Event::Noise { raw } | Event::Malformed { raw, .. } | Event::StrayReply { raw, .. } => {
                    raw.len()
                }
                Event::TooLong(line) => line.head.len(),
            },
        };
        size_of::<Self>() + bytes
    }
}

/// The router's end.
#[derive(Debug)]
pub(crate) struct EventSender<F> {
    shared: Arc<Shared<F>>,
}

#[derive(Debug)]
struct Shared<F> {
    state: Mutex<State<F>>,
    /// How often the consumer has asked: whether it makes progress shows in whether this changes.
    polls: AtomicU64,
}

#[derive(Debug)]
struct State<F> {
    batches: VecDeque<(Vec<Queued<F>>, usize)>,
    /// Of all batches here and of the one the consumer is working on.
    weight: usize,
    consumer: Option<Waker>,
    router: Option<Waker>,
    sender_gone: bool,
    consumer_gone: bool,
}

impl<F> Shared<F> {
    fn lock(&self) -> MutexGuard<'_, State<F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F: Wire> Events<F> {
    /// The next event; `None` when the connection has ended and all was delivered.
    pub async fn next(&mut self) -> Option<Event<F>> {
        std::future::poll_fn(|cx| self.poll_event(cx)).await
    }

    /// Everything that has arrived and was not taken yet, waiting for at least one event: cheaper than one by one.
    /// `None` when the connection has ended and all was delivered.
    pub async fn next_batch(&mut self) -> Option<Vec<Event<F>>> {
        let first = self.next().await?;
        let mut batch = Vec::with_capacity(1 + self.current.len());
        batch.push(first);
        batch.extend(self.current.by_ref().map(typed));
        Some(batch)
    }

    /// Whether [`Events::poll_event`] would be ready now.
    pub fn has_more(&self) -> bool {
        !self.current.as_slice().is_empty() || {
            let state = self.shared.lock();
            !state.batches.is_empty() || state.sender_gone
        }
    }

    /// [`Events::next`] for hand-written futures.
    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event<F>>> {
        // There is one consumer, so a plain store is enough to count.
        let polls = &self.shared.polls;
        polls.store(polls.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        loop {
            if let Some(next) = self.current.next() {
                return Poll::Ready(Some(typed(next)));
            }
            let mut state = self.shared.lock();
            let paused = state.weight >= PAUSE_AT;
            state.weight = state.weight.saturating_sub(std::mem::take(&mut self.current_weight));
            let wake = if paused && state.weight < PAUSE_AT { state.router.take() } else { None };
            let next = state.batches.pop_front();
            if next.is_none() && !state.sender_gone {
                match &mut state.consumer {
                    Some(waker) => waker.clone_from(cx.waker()),
                    empty => *empty = Some(cx.waker().clone()),
                }
            }
            let ended = state.sender_gone;
            drop(state);
            if let Some(router) = wake {
                router.wake();
            }
            match next {
                Some((batch, weight)) => {
                    self.current = batch.into_iter();
                    self.current_weight = weight;
                }
                None if ended => return Poll::Ready(None),
                None => return Poll::Pending,
            }
        }
    }
}

impl<F: Wire> Stream for Events<F> {
    type Item = Event<F>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event<F>>> {
        self.get_mut().poll_event(cx)
    }
}

impl<F> Drop for Events<F> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.consumer_gone = true;
        let dropped = std::mem::take(&mut state.batches);
        state.weight = 0;
        let router = state.router.take();
        drop(state);
        drop(dropped);
        if let Some(router) = router {
            router.wake();
        }
    }
}

impl<F> Unpin for Events<F> {}

impl<F> EventSender<F> {
    pub(crate) fn push(&self, batch: Vec<Queued<F>>) {
        let weight = batch.iter().map(Queued::weight).sum();
        let mut state = self.shared.lock();
        if state.consumer_gone {
            return;
        }
        state.batches.push_back((batch, weight));
        state.weight += weight;
        let consumer = state.consumer.take();
        drop(state);
        if let Some(consumer) = consumer {
            consumer.wake();
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.shared.lock().weight >= PAUSE_AT
    }

    /// How often the consumer has asked so far.
    pub(crate) fn polls(&self) -> u64 {
        self.shared.polls.load(Ordering::Relaxed)
    }

    /// Ready when there is room again.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.shared.lock();
        if state.weight < PAUSE_AT {
            return Poll::Ready(());
        }
        state.router = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl<F> EventSender<F> {
    /// No more events will come.
    pub(crate) fn close(&self) {
        let mut state = self.shared.lock();
        state.sender_gone = true;
        let consumer = state.consumer.take();
        drop(state);
        if let Some(consumer) = consumer {
            consumer.wake();
        }
    }
}

impl<F> Drop for EventSender<F> {
    fn drop(&mut self) {
        self.close();
    }
}

fn typed<F: Wire>(queued: Queued<F>) -> Event<F> {
    match queued {
        Queued::Line(raw) => reading::event(raw),
        Queued::Event(event) => *event,
    }
}
