//! One turn: a future of its result, and a stream of its events.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use pilothouse_proto::{AgentFrame, TerminalReason, Uuid};
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use crate::abort::Abort;
use crate::error::Error;
use crate::event::Event;
use crate::pump::{Fate, SlotKey};
use crate::session::Shared;
use crate::session_store::mirror::Flushed;
use crate::turn_error::TurnError;

/// A turn in the making: a future of its result, and a [`Stream`] of its events.
///
/// Await it for the result, which is an [`Error::Turn`] unless the turn went well: a turn that ran into a limit, an API
/// error or an interrupt failed. [`Turn::result`] gives the result either way. To follow the turn, read its events first
/// with [`Turn::next`]: the stream ends after the turn's result, and awaiting the turn then gives that result. When the
/// session ends first, the stream's last item is the cause.
///
/// Several sends may end with the same result: the CLI merges messages that arrive while it is busy.
///
/// A turn keeps its session alive, as a [`Session`](crate::Session) handle does: the CLI runs until both are dropped.
/// Dropping a turn loses its events but does not stop it; see [`Turn::abort_on`] and
/// [`Session::interrupt`](crate::Session::interrupt).
///
/// ```no_run
/// # async fn example(session: pilothouse::Session) -> Result<(), pilothouse::Error> {
/// let first = session.send("What is 2 + 3?").await?;
/// let second = session.send("And 3 + 4?").await?;
/// let (first, second) = tokio::try_join!(first, second)?;
/// println!("{}, {}", first.text(), second.text());
/// # Ok(())
/// # }
/// ```
#[must_use = "a turn's events and errors are lost with it"]
pub struct Turn {
    shared: Arc<Shared>,
    key: SlotKey,
    /// Events that were taken from the pump and not read yet.
    taken: VecDeque<Event>,
    /// The message that it was sent with; none for a turn of the CLI's own.
    message: Option<Uuid>,
    end: Option<End>,
    /// The result, until the session store has all that came before it.
    held: Option<(Event, Flushed)>,
    abort: Option<Abort>,
}

/// How the turn ended, kept for whoever awaits it after streaming.
#[derive(Debug)]
enum End {
    /// The line, and the frame until it is handed over.
    Result(Bytes, Option<Box<pilothouse_proto::TurnResult>>),
    Failed(Error),
}

impl Turn {
    pub(crate) fn new(shared: Arc<Shared>, key: SlotKey, message: Option<Uuid>) -> Self {
        Self { shared, key, taken: VecDeque::new(), message, end: None, held: None, abort: None }
    }

    /// The next event; none after the result, or after the error that ended the turn. Cancel safe.
    pub async fn next(&mut self) -> Option<Result<Event, Error>> {
        std::future::poll_fn(|cx| self.poll_event(cx)).await
    }

    /// The turn's result, also of a turn that failed.
    ///
    /// # Errors
    /// When there is no result: the session ended first, or the message was withdrawn.
    pub async fn result(mut self) -> Result<TurnResult, Error> {
        std::future::poll_fn(|cx| self.poll_result(cx)).await
    }

    /// Stops the turn when `token` is cancelled, from any task and whether or not the turn is being read.
    ///
    /// The message is taken back if no turn has begun with it, and the turn ends with [`Error::Withdrawn`]. Otherwise the
    /// CLI is told to interrupt, and the turn ends with its result, which is an error that
    /// [`was_stopped`](Error::was_stopped). A CLI that does not end the turn within
    /// [`Options::interrupt_timeout`](crate::Options::interrupt_timeout) makes the turn fail with [`Error::NotStopped`]; the
    /// session is then best closed.
    ///
    /// The token counts until the turn has ended or is dropped. Other messages that the CLI merged into the same turn are
    /// stopped with it. Needs a tokio runtime.
    ///
    /// ```no_run
    /// # async fn example(session: pilothouse::Session) -> Result<(), pilothouse::Error> {
    /// use pilothouse::CancellationToken;
    ///
    /// let stop = CancellationToken::new();
    /// let turn = session.send("Count to a million.").await?.abort_on(stop.clone());
    /// tokio::spawn(async move {
    ///     tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    ///     stop.cancel();
    /// });
    /// match turn.await {
    ///     Err(error) if error.was_stopped() => println!("stopped"),
    ///     other => println!("{}", other?.text()),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn abort_on(mut self, token: CancellationToken) -> Self {
        if self.end.is_none() {
            self.abort = Some(Abort::on(token, &self.shared, self.key, self.message.clone()));
        }
        self
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, Error>>> {
        if self.end.is_some() {
            return Poll::Ready(None);
        }
        match ready!(self.poll_stored(cx)) {
            Ok(event) => {
                if let Event::Frame { raw, frame: AgentFrame::Result(_) } = &event {
                    self.finish(End::Result(raw.clone(), None));
                }
                Poll::Ready(Some(Ok(event)))
            }
            Err(fate) => Poll::Ready(match self.finish(fate.into()) {
                End::Result(..) => None,
                End::Failed(error) => Some(Err(error.clone())),
            }),
        }
    }

    /// The next event, a result only when the session store is up to it.
    fn poll_stored(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event, Fate>> {
        if self.held.is_none() {
            let event = match self.shared.pump.poll_turn(self.key, &mut self.taken, cx) {
                Poll::Ready(event) => event,
                Poll::Pending => {
                    let Some(abort) = &mut self.abort else { return Poll::Pending };
                    return abort.poll_overdue(cx).map(|error| Err(Fate::Refused(error)));
                }
            };
            match (event, &self.shared.mirror) {
                (Ok(event @ Event::Frame { frame: AgentFrame::Result(_), .. }), Some(mirror)) => {
                    self.held = Some((event, mirror.flushed()));
                }
                (event, _) => return Poll::Ready(event),
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

    fn finish(&mut self, end: End) -> &End {
        // A token that is cancelled from now on would stop another turn.
        self.abort = None;
        self.end.insert(end)
    }

    /// Drops events until the turn has ended.
    pub(crate) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.end.is_none() {
            match ready!(self.poll_stored(cx)) {
                Ok(Event::Frame { raw, frame: AgentFrame::Result(frame) }) => {
                    self.finish(End::Result(raw, Some(frame)));
                }
                Ok(_) => {}
                Err(fate) => {
                    self.finish(fate.into());
                }
            }
        }
        Poll::Ready(())
    }

    /// The result, whether it is a good one or not.
    pub(crate) fn poll_result(&mut self, cx: &mut Context<'_>) -> Poll<Result<TurnResult, Error>> {
        ready!(self.poll_end(cx));
        match &mut self.end {
            Some(End::Result(raw, frame)) => Poll::Ready(match frame.take() {
                Some(frame) => Ok(TurnResult { frame, raw: raw.clone() }),
                None => TurnResult::decode(raw.clone()),
            }),
            Some(End::Failed(error)) => Poll::Ready(Err(error.clone())),
            None => Poll::Pending,
        }
    }
}

impl From<Fate> for End {
    fn from(fate: Fate) -> Self {
        match fate {
            Fate::Settled(raw) => Self::Result(raw, None),
            Fate::Ended(ended) => Self::Failed(Error::Ended(ended)),
            Fate::Refused(error) => Self::Failed(error),
            Fate::NoResult => Self::Failed(Error::NoResult("the run became idle".to_owned())),
            Fate::Withdrawn | Fate::Open | Fate::Result => Self::Failed(Error::Withdrawn),
        }
    }
}

impl Stream for Turn {
    type Item = Result<Event, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_event(cx)
    }
}

/// Gives the result of a turn that went well, and again when it is awaited again.
impl Future for Turn {
    type Output = Result<TurnResult, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().poll_result(cx).map(|result| result.and_then(TurnResult::ok))
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

/// How a turn ended. Reads like the [`result` frame](pilothouse_proto::TurnResult) it holds.
///
/// A turn that ran into a limit or an API error has a result too, which [`Turn::result`] and [`TurnError::result`] give.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnResult {
    frame: Box<pilothouse_proto::TurnResult>,
    raw: Bytes,
}

impl TurnResult {
    fn decode(raw: Bytes) -> Result<Self, Error> {
        match pilothouse_proto::decode(&raw) {
            Ok(AgentFrame::Result(frame)) => Ok(Self { frame, raw }),
            Ok(other) => Err(Error::NoResult(format!("a `{}` frame stands in its place", other.tag()))),
            Err(error) => Err(Error::NoResult(error.to_string())),
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
    /// [`Error::Turn`] if it did not.
    pub fn ok(self) -> Result<Self, Error> {
        match self.frame.failure() {
            None => Ok(self),
            Some(_) => Err(TurnError::of(self).into()),
        }
    }

    /// The value that [`Options::structured`](crate::Options::structured) asked for.
    ///
    /// # Errors
    /// When the turn failed, gave no value, or one of another shape.
    pub fn structured<T: DeserializeOwned>(&self) -> Result<T, Error> {
        if self.frame.failure().is_some() {
            return Err(TurnError::of(self.clone()).into());
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
