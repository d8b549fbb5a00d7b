//! One turn: a stream of its events, and a future of its result.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use pilothouse_proto::{AgentFrame, TerminalReason};
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::event::Event;
use crate::pump::{Fate, SlotKey};
use crate::session::Shared;
use crate::session_store::mirror::Flushed;

/// A turn in the making. Read its events with [`next`](Turn::next) or as a [`Stream`], or simply await its result.
///
/// The stream ends after the turn's result; awaiting the turn afterwards gives that result. When the session ends
/// first, the stream's last item is the cause. Several sends may end with the same result: the CLI merges messages that
/// arrive while it is busy. Dropping a turn loses its events but does not stop it.
#[must_use = "a turn's events and errors are lost with it"]
pub struct Turn {
    shared: Arc<Shared>,
    key: SlotKey,
    end: Option<End>,
    /// The result, until the session store has all that came before it.
    held: Option<(Event, Flushed)>,
}

/// How the turn ended, kept for whoever awaits it after streaming.
#[derive(Debug, Clone)]
enum End {
    Result(Bytes),
    Failed(Error),
}

impl Turn {
    pub(crate) fn new(shared: Arc<Shared>, key: SlotKey) -> Self {
        Self { shared, key, end: None, held: None }
    }

    /// The next event; none after the result, or after the error that ended the turn.
    pub async fn next(&mut self) -> Option<Result<Event, Error>> {
        std::future::poll_fn(|cx| self.poll_event(cx)).await
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, Error>>> {
        if self.end.is_some() {
            return Poll::Ready(None);
        }
        match ready!(self.poll_stored(cx)) {
            Ok(event) => {
                if let Event::Frame { raw, frame: AgentFrame::Result(_) } = &event {
                    self.end = Some(End::Result(raw.clone()));
                }
                Poll::Ready(Some(Ok(event)))
            }
            Err(fate) => match self.finish(fate) {
                End::Result(_) => Poll::Ready(None),
                End::Failed(error) => Poll::Ready(Some(Err(error))),
            },
        }
    }

    /// The next event, a result only when the session store is up to it.
    fn poll_stored(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event, Fate>> {
        let Some(mirror) = &self.shared.mirror else { return self.shared.pump.poll_turn(self.key, cx) };
        if self.held.is_none() {
            match ready!(self.shared.pump.poll_turn(self.key, cx)) {
                Ok(event @ Event::Frame { frame: AgentFrame::Result(_), .. }) => {
                    self.held = Some((event, mirror.flushed()));
                }
                event => return Poll::Ready(event),
            }
        }
        if let Some((_, flushed)) = &mut self.held {
            ready!(flushed.as_mut().poll(cx));
        }
        match self.held.take() {
            Some((event, _)) => Poll::Ready(Ok(event)),
            None => Poll::Pending,
        }
    }

    fn finish(&mut self, fate: Fate) -> End {
        let end = match fate {
            Fate::Settled(raw) => End::Result(raw),
            Fate::Ended(ended) => End::Failed(Error::Ended(ended)),
            Fate::Refused(error) => End::Failed(error),
            Fate::NoResult => End::Failed(Error::Turn("the run became idle without a result".to_owned())),
            Fate::Withdrawn | Fate::Open | Fate::Result => End::Failed(Error::Withdrawn),
        };
        self.end.insert(end).clone()
    }

    fn poll_result(&mut self, cx: &mut Context<'_>) -> Poll<Result<TurnResult, Error>> {
        loop {
            match &self.end {
                Some(End::Result(raw)) => return Poll::Ready(TurnResult::decode(raw.clone())),
                Some(End::Failed(error)) => return Poll::Ready(Err(error.clone())),
                None => {}
            }
            match ready!(self.poll_stored(cx)) {
                Ok(Event::Frame { raw, frame: AgentFrame::Result(frame) }) => {
                    self.end = Some(End::Result(raw.clone()));
                    return Poll::Ready(Ok(TurnResult { frame, raw }));
                }
                Ok(_) => {}
                Err(fate) => {
                    self.finish(fate);
                }
            }
        }
    }
}

impl Stream for Turn {
    type Item = Result<Event, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_event(cx)
    }
}

impl IntoFuture for Turn {
    type Output = Result<TurnResult, Error>;
    type IntoFuture = Finish;

    fn into_future(self) -> Finish {
        Finish(self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.shared.pump.forget_turn(self.key);
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("key", &self.key).field("end", &self.end).finish_non_exhaustive()
    }
}

/// The future of a turn's result; what awaiting a [`Turn`] makes of it.
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Finish(Turn);

impl Future for Finish {
    type Output = Result<TurnResult, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll_result(cx)
    }
}

/// How a turn ended. Reads like the [`result` frame](pilothouse_proto::TurnResult) it holds.
///
/// A turn that ran into a limit or an API error has a result too: see [`TurnResult::ok`].
#[derive(Debug, Clone, PartialEq)]
pub struct TurnResult {
    frame: Box<pilothouse_proto::TurnResult>,
    raw: Bytes,
}

impl TurnResult {
    fn decode(raw: Bytes) -> Result<Self, Error> {
        match pilothouse_proto::decode(&raw) {
            Ok(AgentFrame::Result(frame)) => Ok(Self { frame, raw }),
            Ok(other) => Err(Error::Turn(format!("a {} frame stands where its result should", other.tag()))),
            Err(error) => Err(Error::Turn(error.to_string())),
        }
    }

    /// The line as it came.
    pub fn raw(&self) -> &Bytes {
        &self.raw
    }

    /// The final answer; empty when there is none.
    pub fn text(&self) -> &str {
        self.frame.result.as_deref().unwrap_or_default()
    }

    /// Whether an interrupt, or a message that could not wait, cut the turn short.
    pub fn was_interrupted(&self) -> bool {
        let reason = self.frame.terminal_reason.as_ref();
        matches!(reason, Some(TerminalReason::AbortedStreaming | TerminalReason::AbortedTools))
    }

    /// The result itself if the turn went well.
    ///
    /// # Errors
    /// With the CLI's own words if it did not.
    pub fn ok(self) -> Result<Self, Error> {
        match self.frame.failure() {
            None => Ok(self),
            Some(text) => Err(Error::Turn(text)),
        }
    }

    /// The value that [`Options::structured`](crate::Options::structured) asked for.
    ///
    /// # Errors
    /// When the turn failed, gave no value, or one of another shape.
    pub fn structured<T: DeserializeOwned>(&self) -> Result<T, Error> {
        if let Some(text) = self.frame.failure() {
            return Err(Error::Turn(text));
        }
        let value = self.frame.structured_output.as_deref();
        let value = value.ok_or_else(|| Error::Structured("the CLI gave none".to_owned()))?;
        T::deserialize(value).map_err(|error| Error::Structured(error.to_string()))
    }
}

impl Deref for TurnResult {
    type Target = pilothouse_proto::TurnResult;

    fn deref(&self) -> &Self::Target {
        &self.frame
    }
}
