//! The way out. A caller writes straight to the transport while nothing is queued, because a hop through a task costs
//! as much as the rest of a round trip; what the other end does not take at once is queued, and a task writes it.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, Bytes};
use serde::Serialize;
use tokio::io::AsyncWrite;
use tokio::sync::{Notify, watch};

use crate::tape::{Direction, Taps};

/// Senders of messages wait while more than this is queued. Replies and requests never wait.
const FULL_AT: usize = 1 << 20;

pub(crate) type Sink = Pin<Box<dyn AsyncWrite + Send>>;

pub(crate) struct Writer {
    state: Mutex<State>,
    /// Tells the task that there is something to write.
    work: Notify,
    /// Follows how much is queued, for senders that wait.
    queued: watch::Sender<usize>,
    /// Lets one waiting sender at a time ask for room, so that messages keep their order.
    turnstile: tokio::sync::Mutex<()>,
    direction: Direction,
    taps: Taps,
}

struct State {
    /// Gone when the output was closed or failed.
    sink: Option<Sink>,
    queue: VecDeque<Bytes>,
    /// How many bytes are in `queue`.
    queued: usize,
    /// Some sinks buffer: true until what was written is flushed.
    unflushed: bool,
    finishing: bool,
    failure: Option<io::ErrorKind>,
}

/// A line could not be handed to the transport.
#[derive(Debug)]
pub(crate) enum WriteError {
    Encode(serde_json::Error),
    Closed(Option<io::ErrorKind>),
}

impl Writer {
    pub(crate) fn new(sink: Sink, direction: Direction, taps: Taps) -> Self {
        let state = State {
            sink: Some(sink),
            queue: VecDeque::new(),
            queued: 0,
            unflushed: false,
            finishing: false,
            failure: None,
        };
        Self {
            state: Mutex::new(state),
            work: Notify::new(),
            queued: watch::Sender::new(0),
            turnstile: tokio::sync::Mutex::new(()),
            direction,
            taps,
        }
    }

    /// Writes a line, newline included, after waiting until the other end has taken most of what was sent before.
    pub(crate) async fn send_line(&self, line: Vec<u8>) -> Result<(), WriteError> {
        let _turn = self.turnstile.lock().await;
        self.room().await;
        self.put(line)
    }

    /// The same if it need not wait; the line comes back if it must.
    pub(crate) fn try_send_line(&self, line: Vec<u8>) -> Result<Result<(), WriteError>, Vec<u8>> {
        match self.turnstile.try_lock() {
            Ok(_turn) if *self.queued.borrow() <= FULL_AT => Ok(self.put(line)),
            _ => Err(line),
        }
    }

    /// Waits until the other end has taken most of what was sent before.
    pub(crate) async fn room(&self) {
        if *self.queued.borrow() > FULL_AT {
            // The sender lives in this struct, so waiting cannot fail.
            let _ = self.queued.subscribe().wait_for(|queued| *queued <= FULL_AT).await;
        }
    }

    /// No more lines are taken; the output is closed when the queue is empty.
    pub(crate) fn finish(&self) {
        let mut state = self.lock();
        if std::mem::replace(&mut state.finishing, true) {
            return;
        }
        self.taps.input_closed();
        if state.is_drained() {
            // Usually nothing is queued, and then the other end learns of it at once.
            let _ = state.poll_drain(&mut Context::from_waker(Waker::noop()));
        }
        drop(state);
        self.work.notify_one();
    }

    /// Closes the output now, whatever is queued.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.finishing = true;
        state.queue.clear();
        state.queued = 0;
        state.sink = None;
        drop(state);
        self.queued.send_replace(0);
        self.work.notify_one();
    }

    /// The task that writes what callers could not. Ends when the output is closed.
    pub(crate) async fn drain(self: Arc<Self>) {
        loop {
            self.work.notified().await;
            // Cancel-safe: bytes leave the queue only when they are written.
            if std::future::poll_fn(|cx| self.poll_drain(cx)).await == Drained::Closed {
                return;
            }
        }
    }

    /// Writes a line now or queues it.
    pub(crate) fn put(&self, line: Vec<u8>) -> Result<(), WriteError> {
        let mut state = self.lock();
        if state.finishing || state.sink.is_none() {
            return Err(WriteError::Closed(state.failure));
        }
        // Under the lock, so that a tape has the order of the wire.
        self.taps.line(self.direction, line.strip_suffix(b"\n").unwrap_or(&line));
        let written = if state.is_drained() { state.attempt(&line) } else { 0 };
        if let Some(failure) = state.failure {
            return Err(WriteError::Closed(Some(failure)));
        }
        if written < line.len() {
            let mut rest = Bytes::from(line);
            rest.advance(written);
            state.queued += rest.len();
            state.queue.push_back(rest);
            self.queued.send_replace(state.queued);
            self.work.notify_one();
        } else if state.unflushed {
            self.work.notify_one();
        }
        Ok(())
    }

    fn poll_drain(&self, cx: &mut Context<'_>) -> Poll<Drained> {
        let mut state = self.lock();
        let drained = state.poll_drain(cx);
        self.queued.send_replace(state.queued);
        drained
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("queued", &*self.queued.borrow()).finish_non_exhaustive()
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Drained {
    Open,
    Closed,
}

impl State {
    /// Whether the task has nothing to do. While it has, it may wait for the sink, which remembers one waker: only the task
    /// may poll the sink then, or nobody wakes the task.
    fn is_drained(&self) -> bool {
        self.queue.is_empty() && !self.unflushed
    }

    /// Writes as much as goes without waiting. The task asks again with a real waker if that was not all.
    fn attempt(&mut self, line: &[u8]) -> usize {
        let Some(sink) = &mut self.sink else {
            return 0;
        };
        let mut cx = Context::from_waker(Waker::noop());
        let mut written = 0;
        while let Some(rest) = line.get(written..).filter(|rest| !rest.is_empty()) {
            match sink.as_mut().poll_write(&mut cx, rest) {
                Poll::Ready(Ok(0)) => return self.fail(io::ErrorKind::WriteZero),
                Poll::Ready(Ok(count)) => written += count,
                Poll::Ready(Err(error)) => return self.fail(error.kind()),
                Poll::Pending => break,
            }
        }
        self.unflushed = !matches!(sink.as_mut().poll_flush(&mut cx), Poll::Ready(Ok(())));
        written
    }

    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<Drained> {
        let Some(sink) = &mut self.sink else {
            return Poll::Ready(Drained::Closed);
        };
        while let Some(front) = self.queue.front_mut() {
            match sink.as_mut().poll_write(cx, front) {
                Poll::Ready(Ok(0)) => {
                    self.fail(io::ErrorKind::WriteZero);
                    return Poll::Ready(Drained::Closed);
                }
                Poll::Ready(Ok(count)) => {
                    front.advance(count);
                    self.queued = self.queued.saturating_sub(count);
                    self.unflushed = true;
                    if front.is_empty() {
                        self.queue.pop_front();
                    }
                }
                Poll::Ready(Err(error)) => {
                    self.fail(error.kind());
                    return Poll::Ready(Drained::Closed);
                }
                Poll::Pending => return Poll::Pending,
            }
        }
        match sink.as_mut().poll_flush(cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(())) => self.unflushed = false,
            Poll::Ready(Err(error)) => {
                self.fail(error.kind());
                return Poll::Ready(Drained::Closed);
            }
        }
        if self.finishing {
            // Whether that worked or not: nothing more can be done for the other end.
            let _ = ready!(sink.as_mut().poll_shutdown(cx));
            self.sink = None;
            return Poll::Ready(Drained::Closed);
        }
        Poll::Ready(Drained::Open)
    }

    /// The other end takes nothing any more. The router finds out why by reading on.
    fn fail(&mut self, kind: io::ErrorKind) -> usize {
        self.sink = None;
        self.queue.clear();
        self.queued = 0;
        self.unflushed = false;
        self.failure = Some(kind);
        0
    }
}

/// A frame as a line, newline included.
pub(crate) fn encode(frame: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = Vec::with_capacity(512);
    serde_json::to_writer(&mut line, frame)?;
    line.push(b'\n');
    Ok(line)
}
