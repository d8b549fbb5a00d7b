use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;

use crate::event::Event;

/// The events of one answer, a [`Stream`] that ends after `Done`, `Failed` or `Stopped`.
///
/// The work is done while someone waits for the next event; dropping the reply closes its connection at once.
pub struct Reply {
    sent: Arc<Mutex<VecDeque<Event>>>,
    work: Option<Pin<Box<dyn Future<Output = Event> + Send>>>,
}

/// Where an answer's work puts its events, but for the last one.
#[derive(Clone, Debug)]
pub struct EventSink(Arc<Mutex<VecDeque<Event>>>);

impl Reply {
    /// A reply that is made by a future: it sends events on the way, and its output is the last one.
    ///
    /// ```
    /// use pilothouse_model::{Event, Reply};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let mut reply = Reply::new(|events| async move {
    ///     events.send(Event::Discarded { message_id: "msg_1".into(), blocks: 0, usage: None });
    ///     Event::Stopped(None)
    /// });
    /// assert!(matches!(reply.next().await, Some(Event::Discarded { .. })));
    /// assert_eq!(reply.next().await, Some(Event::Stopped(None)));
    /// assert_eq!(reply.next().await, None);
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new<F>(work: impl FnOnce(EventSink) -> F) -> Self
    where
        F: Future<Output = Event> + Send + 'static,
    {
        let sent = Arc::default();
        let work = work(EventSink(Arc::clone(&sent)));
        Self { sent, work: Some(Box::pin(work)) }
    }

    /// The next event; none after the last one.
    pub async fn next(&mut self) -> Option<Event> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    fn take_sent(&self) -> Option<Event> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl Stream for Reply {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        if let Some(event) = self.take_sent() {
            return Poll::Ready(Some(event));
        }
        let Some(work) = self.work.as_mut() else { return Poll::Ready(None) };
        let last = work.as_mut().poll(context);
        // What the work sent in this step comes before its end.
        if let Poll::Ready(last) = last {
            self.work = None;
            EventSink(Arc::clone(&self.sent)).send(last);
        }
        self.take_sent().map_or(Poll::Pending, |event| Poll::Ready(Some(event)))
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("running", &self.work.is_some()).finish_non_exhaustive()
    }
}

impl EventSink {
    /// Adds an event; the reply's reader gets it as soon as the work pauses.
    pub fn send(&self, event: Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(event);
    }
}
