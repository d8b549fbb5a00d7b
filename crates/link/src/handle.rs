use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use pilothouse_proc::{Ladder, Report, StderrTail};
use pilothouse_proto::control::SuccessReply;
use pilothouse_proto::{ControlRequest, ControlResponse, DecodeError, Reply, Request, RequestId};
use tokio::sync::watch;

use crate::end::End;
use crate::ended::Ended;
use crate::waiting::Waiting;
use crate::writer::{WriteError, Writer};

/// When writing fails the reader is about to find out why; so long is waited for the better explanation.
const CAUSE_GRACE: Duration = Duration::from_millis(500);

/// Asks and sends over a connection. Clones share it; when the last one is dropped the connection is closed in the
/// background, and a child is ended by the ladder.
pub struct Handle<E: End> {
    shared: Arc<Shared<E>>,
}

/// A handle that does not keep the connection alive: for what the connection itself owns.
pub struct WeakHandle<E: End> {
    shared: Weak<Shared<E>>,
}

pub(crate) struct Shared<E: End> {
    pub(crate) writer: Arc<Writer>,
    pub(crate) waiting: Arc<Waiting>,
    /// Asks the router to close by a ladder; dropping it asks as well.
    pub(crate) close: watch::Sender<Option<Ladder>>,
    pub(crate) ids: RequestIds,
    pub(crate) ended: watch::Receiver<Option<Arc<Ended>>>,
    pub(crate) closed: watch::Receiver<Option<Closed>>,
    /// The child's process number and its stderr, when the connection is to a child.
    pub(crate) child: Option<(u32, StderrTail)>,
    pub(crate) request_timeout: Option<Duration>,
    pub(crate) ladder: Ladder,
    pub(crate) end: std::marker::PhantomData<fn() -> E>,
}

impl<E: End> Shared<E> {
    fn write_now(&self, frame: &E::Out) -> Result<(), WriteError> {
        self.writer.put(E::line(frame).map_err(WriteError::Encode)?)
    }
}

/// How a connection came to its end.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Closed {
    /// Why it ended.
    pub cause: Arc<Ended>,
    /// What ending the child took, if there was one.
    pub report: Option<Report>,
}

/// A request got no good reply.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The other end answered with an error.
    #[error("`{subtype}` was refused: {message}")]
    Refused {
        /// The request's subtype.
        subtype: String,
        /// What the other end said.
        message: String,
        /// The kind of failure, when the other end named one.
        code: Option<String>,
    },
    /// No reply came in time. The request was withdrawn.
    #[error("`{subtype}` was not answered within {after:?}; the other end is alive but silent")]
    TimedOut {
        /// The request's subtype.
        subtype: String,
        /// How long it waited.
        after: Duration,
    },
    /// The reply is not what the request's type promises.
    #[error("the reply to `{subtype}` cannot be read: {error}")]
    BadReply {
        /// The request's subtype.
        subtype: String,
        /// What is wrong with it.
        error: DecodeError,
    },
    /// The request could not be sent.
    #[error(transparent)]
    Send(#[from] SendError),
}

/// A frame could not be sent.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The connection has ended.
    #[error("{0}")]
    Ended(Arc<Ended>),
    /// The other end takes no more input, though it has not ended.
    #[error("the other end takes no more input: {0}")]
    InputClosed(io::ErrorKind),
    /// The frame is no JSON.
    #[error("the frame cannot be written as JSON: {0}")]
    Encode(Arc<serde_json::Error>),
    /// A raw line holds a line break.
    #[error("a frame is one line, and this one holds a line break; remove it")]
    LineBreak,
}

impl<E: End> Handle<E> {
    pub(crate) fn new(shared: Shared<E>) -> Self {
        Self { shared: Arc::new(shared) }
    }

    /// Asks and waits for the typed reply, at most as long as [`crate::Connect::request_timeout`] says.
    ///
    /// Dropping the future withdraws the request.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub async fn request<R: Request<Any = E::Asks>>(&self, request: R) -> Result<R::Response, RequestError> {
        self.request_within(request, self.shared.request_timeout).await
    }

    /// [`Handle::request`] with a time limit of its own; `None` waits as long as the connection lives.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub async fn request_within<R: Request<Any = E::Asks>>(
        &self,
        request: R,
        timeout: Option<Duration>,
    ) -> Result<R::Response, RequestError> {
        let reply = self.ask(R::SUBTYPE, request.into(), timeout).await?;
        reply.payload().map_err(|error| RequestError::BadReply { subtype: R::SUBTYPE.to_owned(), error })
    }

    /// Asks anything, also what this version has no type for, and gives the reply as it came. `subtype` is only for
    /// error messages.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub async fn ask(
        &self,
        subtype: &str,
        request: E::Asks,
        timeout: Option<Duration>,
    ) -> Result<SuccessReply, RequestError> {
        E::ask(self, subtype, request, timeout).await
    }

    pub(crate) async fn ask_unboxed(
        &self,
        subtype: &str,
        request: E::Asks,
        timeout: Option<Duration>,
    ) -> Result<SuccessReply, RequestError> {
        let id = self.shared.ids.next();
        let Some(answer) = self.shared.waiting.add(id.clone()) else {
            return Err(self.cause().await.into());
        };
        let withdraw = Withdraw::<E> { shared: &self.shared, id: Some(id.clone()) };
        if let Err(error) = self.shared.write_now(&E::request(ControlRequest::new(id, request))) {
            return Err(self.explain(error).await.into());
        }
        let answered = match timeout {
            None => answer.await,
            Some(after) => tokio::time::timeout(after, answer)
                .await
                .map_err(|_| RequestError::TimedOut { subtype: subtype.to_owned(), after })?,
        };
        withdraw.not_needed();
        match answered {
            Ok(response) => read_reply(subtype, *response),
            Err(_) => Err(self.cause().await.into()),
        }
    }

    /// Sends a frame. Waits while the other end is far behind with reading.
    ///
    /// # Errors
    /// See [`SendError`].
    pub async fn send(&self, frame: &E::Out) -> Result<(), SendError> {
        let line = E::line(frame).map_err(|error| SendError::Encode(Arc::new(error)))?;
        self.send_line(line).await
    }

    /// [`Handle::send`] if that need not wait: true when the frame is on its way. Otherwise `send` it; it also says what is
    /// wrong with a connection that takes none.
    pub fn try_send(&self, frame: &E::Out) -> bool {
        E::line(frame).is_ok_and(|line| matches!(self.shared.writer.try_send_line(line), Ok(Ok(()))))
    }

    /// Writes a frame or queues it, without waiting: for whoever must keep frames in the order of other work. A sender of
    /// much should let [`Handle::room`] hold it back.
    ///
    /// # Errors
    /// See [`SendError`]; why the connection ended is not looked for.
    pub fn send_now(&self, frame: &E::Out) -> Result<(), SendError> {
        self.shared.write_now(frame).map_err(|error| match error {
            WriteError::Encode(error) => SendError::Encode(Arc::new(error)),
            WriteError::Closed(failure) => match self.try_ended() {
                Some(cause) => SendError::Ended(cause),
                None => SendError::InputClosed(failure.unwrap_or(io::ErrorKind::BrokenPipe)),
            },
        })
    }

    /// Waits while the other end is far behind with reading.
    pub async fn room(&self) {
        self.shared.writer.room().await;
    }

    /// Sends a line of JSON text as it is.
    ///
    /// # Errors
    /// See [`SendError`].
    pub async fn send_raw(&self, line: &str) -> Result<(), SendError> {
        if line.contains('\n') {
            return Err(SendError::LineBreak);
        }
        self.send_line(format!("{line}\n").into_bytes()).await
    }

    /// Tells the other end that no more will be sent. It may still finish what it is doing, and its events still arrive.
    pub fn end_input(&self) {
        self.shared.writer.finish();
    }

    /// Closes the connection: ends the input, delivers what still arrives, and ends a child by the ladder. Gives the
    /// same report every time.
    pub async fn close(&self) -> Closed {
        self.close_by(self.shared.ladder).await
    }

    /// [`Handle::close`] with another ladder.
    pub async fn close_by(&self, ladder: Ladder) -> Closed {
        // A connection that has ended on its own has a report as well.
        self.begin_close(ladder);
        self.closed().await
    }

    /// [`Handle::close_by`] without waiting for the end.
    pub fn begin_close(&self, ladder: Ladder) {
        // The first call decides by which ladder.
        self.shared.close.send_if_modified(|asked| {
            let is_first = asked.is_none();
            asked.get_or_insert(ladder);
            is_first
        });
    }

    /// Waits until the connection has ended and its child is gone.
    pub async fn closed(&self) -> Closed {
        let mut closed = self.shared.closed.clone();
        match closed.wait_for(Option::is_some).await.map(|closed| closed.clone()) {
            Ok(Some(closed)) => closed,
            _ => Closed { cause: Arc::new(Ended::closed()), report: None },
        }
    }

    /// Waits until nothing more can arrive, and says why.
    pub async fn ended(&self) -> Arc<Ended> {
        let mut ended = self.shared.ended.clone();
        match ended.wait_for(Option::is_some).await.map(|ended| ended.clone()) {
            Ok(Some(cause)) => cause,
            _ => Arc::new(Ended::closed()),
        }
    }

    /// Why the connection has ended, if it has.
    pub fn try_ended(&self) -> Option<Arc<Ended>> {
        self.shared.ended.borrow().clone()
    }

    /// The child's process number, when the connection is to a child.
    pub fn pid(&self) -> Option<u32> {
        self.shared.child.as_ref().map(|(pid, _)| *pid)
    }

    /// The end of what the child has written to stderr so far; empty without a child.
    pub fn stderr_tail(&self) -> String {
        self.shared.child.as_ref().map(|(_, stderr)| stderr.text()).unwrap_or_default()
    }

    /// A handle that does not keep the connection alive.
    pub fn downgrade(&self) -> WeakHandle<E> {
        WeakHandle { shared: Arc::downgrade(&self.shared) }
    }

    async fn send_line(&self, line: Vec<u8>) -> Result<(), SendError> {
        match self.shared.writer.send_line(line).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.explain(error).await),
        }
    }

    /// The cause, which is certain to come.
    async fn cause(&self) -> SendError {
        SendError::Ended(self.ended().await)
    }

    async fn explain(&self, error: WriteError) -> SendError {
        let failure = match error {
            WriteError::Encode(error) => return SendError::Encode(Arc::new(error)),
            WriteError::Closed(failure) => failure,
        };
        match tokio::time::timeout(CAUSE_GRACE, self.ended()).await {
            Ok(cause) => SendError::Ended(cause),
            Err(_) => SendError::InputClosed(failure.unwrap_or(io::ErrorKind::BrokenPipe)),
        }
    }
}

impl<E: End> Clone for Handle<E> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<E: End> fmt::Debug for Handle<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("ended", &self.try_ended()).finish_non_exhaustive()
    }
}

impl<E: End> WeakHandle<E> {
    /// The handle, if any other is left.
    pub fn upgrade(&self) -> Option<Handle<E>> {
        self.shared.upgrade().map(|shared| Handle { shared })
    }
}

impl<E: End> Clone for WeakHandle<E> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<E: End> fmt::Debug for WeakHandle<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakHandle").finish_non_exhaustive()
    }
}

/// Ids for our requests. Ids of the other end look nothing like them, and neither do those of another connection.
#[derive(Debug)]
pub(crate) struct RequestIds {
    prefix: String,
    next: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new() -> Self {
        let mut prefix = uuid::Uuid::new_v4().simple().to_string();
        prefix.truncate(12);
        Self { prefix, next: AtomicU64::new(1) }
    }

    fn next(&self) -> RequestId {
        format!("ph-{}-{}", self.prefix, self.next.fetch_add(1, Ordering::Relaxed)).into()
    }
}

/// Withdraws a request whose reply is no longer awaited.
struct Withdraw<'a, E: End> {
    shared: &'a Shared<E>,
    id: Option<RequestId>,
}

impl<E: End> Withdraw<'_, E> {
    fn not_needed(mut self) {
        self.id = None;
    }
}

impl<E: End> Drop for Withdraw<'_, E> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.shared.waiting.take(id.as_str());
            let _ = self.shared.write_now(&E::cancel(id));
        }
    }
}

fn read_reply(subtype: &str, response: ControlResponse) -> Result<SuccessReply, RequestError> {
    let subtype = subtype.to_owned();
    match response.response {
        Reply::Success(reply) | Reply::Bare(reply) => Ok(reply),
        Reply::Error(reply) => {
            let code = reply.error_code.as_ref().cloned();
            Err(RequestError::Refused { subtype, message: reply.error, code })
        }
        other => {
            let message = format!("the reply is of the unknown kind `{}`", other.tag());
            Err(RequestError::Refused { subtype, message, code: None })
        }
    }
}
