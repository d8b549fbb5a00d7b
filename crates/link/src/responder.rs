use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicU8, Ordering, fence};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use pilothouse_proto::control::{success_line, success_line_of_text};
use pilothouse_proto::{ControlResponse, Reply, RequestId};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::end::End;
use crate::odd_id;
use crate::writer::Writer;

/// Takes requests of the other end, one call each, on the task that reads the connection.
///
/// It must hand the request on and return: nothing is read while it runs. A closure will do.
pub trait Serve<E: End>: Send + 'static {
    /// Takes one request. Whoever gets the responder answers, now or in an hour.
    fn serve(&mut self, inbound: Inbound<E>);
}

impl<E: End, F: FnMut(Inbound<E>) + Send + 'static> Serve<E> for F {
    fn serve(&mut self, inbound: Inbound<E>) {
        self(inbound);
    }
}

/// A request of the other end.
#[derive(Debug)]
pub struct Inbound<E: End> {
    /// What is asked.
    pub request: E::Asked,
    /// The line it came on; empty when it was repeated inside a reply.
    pub raw: Bytes,
    /// How many events had arrived before it: requests and events come by different ways, and this tells their order.
    pub after: u64,
    /// Fires when the other end withdraws the request, or the connection ends.
    pub token: Token,
    /// Answers it.
    pub responder: Responder<E>,
}

impl<E: End> Inbound<E> {
    /// Names the request; the same one may be offered again after a reconnect.
    pub fn id(&self) -> &RequestId {
        self.token.request_id()
    }
}

/// Fires when the other end withdraws a request, or the connection ends. Reads like a [`CancellationToken`], which is made
/// when it is first looked at: most requests are answered before anybody does.
#[derive(Clone)]
pub struct Token(Arc<Ticket>);

impl Token {
    /// The request that it is about.
    pub fn request_id(&self) -> &RequestId {
        &self.0.id
    }
}

impl Deref for Token {
    type Target = CancellationToken;

    fn deref(&self) -> &CancellationToken {
        self.0.token()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Token").field(&self.0.state.load(Ordering::Acquire)).finish()
    }
}

/// Answers one request, once. Dropping it answers with an error; after the request was withdrawn it writes nothing.
///
/// Answering never waits, and works from any thread.
pub struct Responder<E: End> {
    ticket: Arc<Ticket>,
    writer: Arc<Writer>,
    end: PhantomData<fn() -> E>,
}

impl<E: End> Responder<E> {
    pub(crate) fn new(ticket: Arc<Ticket>, writer: Arc<Writer>) -> Self {
        Self { ticket, writer, end: PhantomData }
    }

    /// Answers with this payload. A payload that cannot be written as JSON is answered as an error.
    pub fn success(self, payload: &impl Serialize) {
        // Written before it is settled: if the payload panics, dropping `self` still answers.
        let line = if self.is_wanted() { success_line(self.id(), payload) } else { return };
        if self.ticket.settle() {
            match line {
                Ok(line) => self.put(line),
                Err(error) => self.write(ControlResponse::error(self.id(), format!("no JSON: {error}"))),
            }
        }
    }

    /// [`Responder::success`] with a payload that is JSON text already, in parts.
    pub fn success_text(self, payload: &[&str]) {
        if self.ticket.settle()
            && let Ok(line) = success_line_of_text(self.id(), payload)
        {
            self.put(line);
        }
    }

    /// Answers that it failed, and why.
    pub fn error(self, message: impl Into<String>) {
        if self.ticket.settle() {
            self.write(ControlResponse::error(self.id(), message));
        }
    }

    /// Answers that it failed, with a code by which programs tell failures apart.
    pub fn error_with_code(self, message: impl Into<String>, code: &str) {
        let mut response = ControlResponse::error(self.id(), message);
        if let Reply::Error(error) = &mut response.response {
            error.error_code = code.into();
        }
        self.reply(response);
    }

    /// Answers with a reply made elsewhere; its request id is taken as it is.
    pub fn reply(self, response: ControlResponse) {
        if self.ticket.settle() {
            self.write(response);
        }
    }

    /// Never answers: for requests that somebody else will answer.
    pub fn leave_unanswered(self) {
        self.ticket.settle();
    }

    /// Whether an answer still matters: false once the request was withdrawn or the connection ended.
    pub fn is_wanted(&self) -> bool {
        self.ticket.is_open()
    }

    fn id(&self) -> &str {
        self.ticket.id.as_str()
    }

    fn write(&self, response: ControlResponse) {
        if let Ok(line) = E::line(&E::response(response)) {
            self.put(line);
        }
    }

    fn put(&self, line: Vec<u8>) {
        // If the connection is gone the answer is of no use to anybody.
        let _ = self.writer.put(odd_id::restored(self.id(), line));
    }
}

impl<E: End> Drop for Responder<E> {
    fn drop(&mut self) {
        if self.ticket.settle() {
            self.write(ControlResponse::error(self.id(), "the handler ended without an answer"));
        }
    }
}

impl<E: End> fmt::Debug for Responder<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder").field("id", &self.ticket.id).field("wanted", &self.is_wanted()).finish()
    }
}

/// The state of one request of the other end, shared by the router and the responder: open, then settled for good by
/// whoever comes first.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) id: RequestId,
    state: AtomicU8,
    token: OnceLock<CancellationToken>,
}

const OPEN: u8 = 0;
const ANSWERED: u8 = 1;
const WITHDRAWN: u8 = 2;

impl Ticket {
    pub(crate) fn new(id: RequestId) -> Self {
        Self { id, state: AtomicU8::new(OPEN), token: OnceLock::new() }
    }

    pub(crate) fn watch(self: &Arc<Self>) -> Token {
        Token(Arc::clone(self))
    }

    fn token(&self) -> &CancellationToken {
        let token = self.token.get_or_init(CancellationToken::new);
        // Looked at after it was made: a withdrawal either finds the token, or is found here.
        fence(Ordering::SeqCst);
        if self.state.load(Ordering::Acquire) == WITHDRAWN {
            token.cancel();
        }
        token
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state.load(Ordering::Acquire) == OPEN
    }

    /// True for the one caller who may act on the request.
    fn settle(&self) -> bool {
        self.leave_open(ANSWERED)
    }

    fn leave_open(&self, to: u8) -> bool {
        self.state.compare_exchange(OPEN, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The request was withdrawn: no answer will be written, and the handler is told.
    pub(crate) fn withdraw(&self) {
        if self.leave_open(WITHDRAWN) {
            fence(Ordering::SeqCst);
            if let Some(token) = self.token.get() {
                token.cancel();
            }
        }
    }
}
