//! From the router to the reader of events: batches, one per read.
//!
//! The channel is unbounded, because a reader of events that is busy, or that waits for a reply, must not stop the router,
//! and with it the reply and every request of the other end. Instead the router pauses reading at [`PAUSE_AT`], but only
//! while the reader of events is seen to make progress.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use pilothouse_proto::Wire;
use tokio::sync::{Notify, mpsc};

use crate::event::Event;
use crate::reading;

/// The router pauses reading when so much is queued and the reader of events keeps reading. Enough for sixteen reads ahead;
/// with four times as much a burst took a host of 5 MB beyond 9, and was no faster.
const PAUSE_AT: usize = 1 << 20;

/// Creates the two ends of a queue.
pub(crate) fn queue<F>() -> (EventSender<F>, Events<F>) {
    let (sender, batches) = mpsc::unbounded_channel();
    let backlog = Arc::new(Backlog::default());
    let events =
        Events { batches, backlog: Arc::clone(&backlog), current: Vec::new().into_iter(), current_size: 0 };
    (EventSender { batches: Some(sender), backlog }, events)
}

/// Everything that arrives and is neither a request nor a reply, in order. Ends when the connection does.
///
/// Dropping it discards later events; the connection goes on.
#[derive(Debug)]
pub struct Events<F> {
    batches: mpsc::UnboundedReceiver<Batch<F>>,
    backlog: Arc<Backlog>,
    current: std::vec::IntoIter<Queued<F>>,
    current_size: usize,
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
    fn size(&self) -> usize {
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

#[derive(Debug)]
struct Batch<F> {
    items: Vec<Queued<F>>,
    size: usize,
}

/// How far the reader of events is behind.
#[derive(Debug, Default)]
struct Backlog {
    /// The size of all batches that the reader has not finished.
    size: AtomicUsize,
    /// How often the reader has asked: whether it makes progress shows in whether this changes.
    polls: AtomicU64,
    shrunk: Notify,
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

    /// Whether there is an event now, or none will ever come.
    pub fn has_more(&self) -> bool {
        !self.current.as_slice().is_empty() || !self.batches.is_empty() || self.batches.is_closed()
    }

    /// Says that events are being read, for a reader who takes them and works on them later.
    pub fn progress(&self) -> Progress {
        Progress(Arc::clone(&self.backlog))
    }

    /// [`Events::next`] for hand-written futures.
    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event<F>>> {
        self.backlog.polls.fetch_add(1, Ordering::Relaxed);
        loop {
            if let Some(next) = self.current.next() {
                return Poll::Ready(Some(typed(next)));
            }
            let done = std::mem::take(&mut self.current_size);
            if done > 0 && self.backlog.size.fetch_sub(done, Ordering::AcqRel) >= PAUSE_AT {
                self.backlog.shrunk.notify_one();
            }
            let Some(batch) = ready!(self.batches.poll_recv(cx)) else { return Poll::Ready(None) };
            self.current = batch.items.into_iter();
            self.current_size = batch.size;
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
        // Closed first: a router that is woken must not find the queue full again.
        self.batches.close();
        self.backlog.shrunk.notify_one();
    }
}

impl<F> Unpin for Events<F> {}

/// Tells a connection that events which were taken from it are being worked on, so that it goes on holding back the other end
/// instead of taking the reader for one that has stopped.
#[derive(Debug, Clone)]
pub struct Progress(Arc<Backlog>);

impl Progress {
    /// One more was worked on.
    pub fn note(&self) {
        self.0.polls.fetch_add(1, Ordering::Relaxed);
    }
}

/// The router's end.
#[derive(Debug)]
pub(crate) struct EventSender<F> {
    /// `None` when no more events will come.
    batches: Option<mpsc::UnboundedSender<Batch<F>>>,
    backlog: Arc<Backlog>,
}

impl<F> EventSender<F> {
    pub(crate) fn push(&self, items: Vec<Queued<F>>) {
        let Some(batches) = &self.batches else { return };
        let size = items.iter().map(Queued::size).sum();
        // Counted before it is sent, because the reader takes it off again.
        self.backlog.size.fetch_add(size, Ordering::AcqRel);
        // An error means that nobody reads events, which is fine.
        let _ = batches.send(Batch { items, size });
    }

    pub(crate) fn is_full(&self) -> bool {
        self.batches.as_ref().is_some_and(|batches| !batches.is_closed())
            && self.backlog.size.load(Ordering::Acquire) >= PAUSE_AT
    }

    /// How often the reader of events has asked so far.
    pub(crate) fn polls(&self) -> u64 {
        self.backlog.polls.load(Ordering::Relaxed)
    }

    /// Returns when the reader of events has finished a batch of a full queue since this was last awaited. Cancel-safe.
    pub(crate) async fn shrunk(&self) {
        self.backlog.shrunk.notified().await;
    }

    /// No more events will come.
    pub(crate) fn close(&mut self) {
        self.batches = None;
    }
}

fn typed<F: Wire>(queued: Queued<F>) -> Event<F> {
    match queued {
        Queued::Line(raw) => reading::event(raw),
        Queued::Event(event) => *event,
    }
}
