//! One question, one answer.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::boxed::BoxFuture;
use crate::error::Error;
use crate::event::Event;
use crate::options::Options;
use crate::prompt::Prompt;
use crate::session::Session;
use crate::turn::{Turn, TurnResult};

/// Asks once: starts a CLI, sends the prompt, and ends the CLI.
///
/// Await it for the result, or read its events first. A turn that failed is an [`Error::Turn`], which keeps the result;
/// [`Query::result`] gives the result either way.
///
/// The CLI has ended when the awaited result is there, and so has work that it left running in the background: commands
/// and subagents that the turn did not wait for. To let such work finish, use [`Options::connect`], and wait for
/// [`Session::idle`] before [`Session::close`]. Of a query whose events were only read the CLI ends when the query is
/// dropped.
///
/// ```no_run
/// # async fn example() -> Result<(), pilothouse::Error> {
/// use pilothouse::{Options, query};
///
/// let result = query("What is the capital of France?", Options::new()).await?;
/// assert!(result.text().contains("Paris"));
/// # Ok(())
/// # }
/// ```
pub fn query(prompt: impl Into<Prompt>, options: Options) -> Query {
    Query { state: State::Starting(start(prompt.into(), options)), abort: None }
}

fn start(prompt: Prompt, options: Options) -> Starting {
    Box::pin(options.connect_and_send(prompt))
}

/// A question on its way; made by [`query`].
#[must_use = "a query does nothing until it is read or awaited"]
pub struct Query {
    state: State,
    /// The token, and what waits for it until there is a turn.
    abort: Option<(CancellationToken, Pin<Box<WaitForCancellationFutureOwned>>)>,
}

type Starting = Pin<Box<dyn Future<Output = Result<(Session, Turn), Error>> + Send>>;

enum State {
    Starting(Starting),
    Running(Session, Turn),
    /// The turn has ended and its CLI is about to.
    Closing(BoxFuture<'static, ()>, Turn),
    Closed(Turn),
    Failed(Error),
}

impl Query {
    /// The next event; none after the result, or after the error that ended it. Cancel safe.
    pub async fn next(&mut self) -> Option<Result<Event, Error>> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    /// The result, also of a turn that failed.
    ///
    /// # Errors
    /// When there is no result: the CLI could not be started, or ended first.
    pub async fn result(mut self) -> Result<TurnResult, Error> {
        poll_fn(|cx| self.poll_result(cx)).await
    }

    /// Stops the query when `token` is cancelled: while the CLI starts by ending it, with [`Error::Withdrawn`], and from then
    /// on as [`Turn::abort_on`] does.
    pub fn abort_on(mut self, token: CancellationToken) -> Self {
        match self.state {
            State::Running(session, turn) => self.state = State::Running(session, turn.abort_on(token)),
            _ => self.abort = Some((token.clone(), Box::pin(token.cancelled_owned()))),
        }
        self
    }

    /// Ready when there is a turn.
    fn poll_started(&mut self, cx: &mut Context<'_>) -> Poll<Result<&mut Turn, Error>> {
        if let State::Starting(start) = &mut self.state {
            let aborted = self.abort.as_mut().is_some_and(|(_, token)| token.as_mut().poll(cx).is_ready());
            let started = if aborted { Err(Error::Withdrawn) } else { ready!(start.as_mut().poll(cx)) };
            self.state = match started {
                Ok((session, turn)) => State::Running(
                    session,
                    match self.abort.take() {
                        Some((token, _)) => turn.abort_on(token),
                        None => turn,
                    },
                ),
                Err(error) => State::Failed(error),
            };
        }
        match &mut self.state {
            State::Running(_, turn) | State::Closing(_, turn) | State::Closed(turn) => Poll::Ready(Ok(turn)),
            State::Failed(error) => Poll::Ready(Err(error.clone())),
            State::Starting(_) => Poll::Pending,
        }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, Error>>> {
        if matches!(self.state, State::Failed(_)) {
            return Poll::Ready(None);
        }
        match ready!(self.poll_started(cx)) {
            Ok(turn) => Pin::new(turn).poll_next(cx),
            Err(error) => Poll::Ready(Some(Err(error))),
        }
    }

    fn poll_result(&mut self, cx: &mut Context<'_>) -> Poll<Result<TurnResult, Error>> {
        ready!(ready!(self.poll_started(cx))?.poll_end(cx));
        self.change(|state| match state {
            State::Running(session, turn) => {
                State::Closing(Box::pin(async move { drop(session.close().await) }), turn)
            }
            other => other,
        });
        if let State::Closing(closing, _) = &mut self.state {
            ready!(closing.as_mut().poll(cx));
        }
        self.change(|state| match state {
            State::Closing(_, turn) => State::Closed(turn),
            other => other,
        });
        ready!(self.poll_started(cx))?.poll_result(cx)
    }

    fn change(&mut self, to: impl FnOnce(State) -> State) {
        // The placeholder is seen only if `to` panics.
        self.state = to(std::mem::replace(&mut self.state, State::Failed(Error::Withdrawn)));
    }
}

impl Stream for Query {
    type Item = Result<Event, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_event(cx)
    }
}

/// Gives the result of a turn that went well, when the CLI has ended.
impl Future for Query {
    type Output = Result<TurnResult, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().poll_result(cx).map(|result| result.and_then(TurnResult::ok))
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Query").finish_non_exhaustive()
    }
}
