//! One question, one answer.

use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use crate::error::Error;
use crate::event::Event;
use crate::options::Options;
use crate::prompt::Prompt;
use crate::session::Session;
use crate::turn::{Turn, TurnResult};

/// Asks once: starts a CLI, sends the prompt, and ends the CLI.
///
/// Await it for the result, or read its events first. The CLI has ended when the awaited result is there; of a query whose
/// events were only read it ends when the query is dropped.
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
    Query { state: State::Starting(start(prompt.into(), options)) }
}

fn start(prompt: Prompt, options: Options) -> Starting {
    Box::pin(options.connect_and_send(prompt))
}

/// A question on its way; made by [`query`].
#[must_use = "a query does nothing until it is read or awaited"]
pub struct Query {
    state: State,
}

type Starting = Pin<Box<dyn Future<Output = Result<(Session, Turn), Error>> + Send>>;

enum State {
    Starting(Starting),
    Running(Session, Turn),
    Failed(Error),
}

impl Query {
    /// The next event; none after the result, or after the error that ended it.
    pub async fn next(&mut self) -> Option<Result<Event, Error>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for Query {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match &mut self.state {
                State::Starting(start) => match ready!(start.as_mut().poll(cx)) {
                    Ok((session, turn)) => self.state = State::Running(session, turn),
                    Err(error) => {
                        self.state = State::Failed(error.clone());
                        return Poll::Ready(Some(Err(error)));
                    }
                },
                State::Running(_, turn) => return Pin::new(turn).poll_next(cx),
                State::Failed(_) => return Poll::Ready(None),
            }
        }
    }
}

impl IntoFuture for Query {
    type Output = Result<TurnResult, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let (session, turn) = match self.state {
                State::Starting(start) => start.await?,
                State::Running(session, turn) => (session, turn),
                State::Failed(error) => return Err(error),
            };
            let result = turn.await;
            session.close().await;
            result
        })
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Query").finish_non_exhaustive()
    }
}
