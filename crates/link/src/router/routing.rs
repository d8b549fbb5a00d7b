//! Where each line goes.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pilothouse_proto::{ControlRequest, ControlResponse, DecodeError, Head, Opt, Reply};
use serde_json::Value;

use crate::end::{End, Sorted};
use crate::event::Event;
use crate::line::Item;
use crate::odd_id;
use crate::panics::contain;
use crate::queue::{EventSender, Queued};
use crate::reading;
use crate::responder::{Inbound, Responder, Serve, Ticket};
use crate::tape::Taps;
use crate::waiting::Resolver;
use crate::writer::Writer;

/// Settled requests are forgotten when so many have gathered, so that answering need not tell the router.
const SWEEP_AT: usize = 64;

/// A reader of events that did nothing for so long has stopped: from then on memory is spent rather than control.
const STALLED_AFTER: Duration = Duration::from_millis(250);

pub(super) struct Routing<E: End> {
    /// Our requests.
    waiting: Resolver,
    /// Their requests that were not answered at once, by id; settled ones stay until the next sweep.
    open: HashSet<Open>,
    sweep_at: usize,
    /// How many requests came without an id that is text.
    named: u64,
    batch: Vec<Queued<E::In>>,
    /// How many events have left for the queue so far.
    arrived: u64,
    events: EventSender<E::In>,
    /// How often the reader of events had read when it was found to have stopped.
    stalled_at: Option<u64>,
    serve: Box<dyn Serve<E>>,
    writer: Arc<Writer>,
    taps: Taps,
    last_failure: Option<String>,
}

impl<E: End> Routing<E> {
    pub(super) fn new(
        serve: Box<dyn Serve<E>>,
        writer: Arc<Writer>,
        waiting: Resolver,
        events: EventSender<E::In>,
        taps: Taps,
    ) -> Self {
        Self {
            waiting,
            open: HashSet::new(),
            sweep_at: SWEEP_AT,
            named: 0,
            batch: Vec::new(),
            arrived: 0,
            events,
            stalled_at: None,
            serve,
            writer,
            taps,
            last_failure: None,
        }
    }

    /// Holds reading back while much is queued and the reader of events makes progress.
    ///
    /// Not while a request is open in either direction, because what it waits for may stand behind the messages that wait
    /// to be read.
    pub(super) async fn room(&mut self) {
        while self.events.is_full() && !self.has_open_requests() {
            let polls = self.events.polls();
            if self.stalled_at == Some(polls) {
                return;
            }
            // Each arm only wakes: the conditions above are looked at again, so the arms that lose have lost nothing.
            tokio::select! {
                () = self.events.shrunk() => {}
                () = self.waiting.added() => {}
                () = tokio::time::sleep(STALLED_AFTER) => {
                    if self.events.polls() == polls {
                        self.stalled_at = Some(polls);
                    }
                }
            }
        }
    }

    fn has_open_requests(&self) -> bool {
        !self.waiting.is_empty() || self.open.iter().any(|open| open.0.is_open())
    }

    pub(super) fn end_input(&self) {
        self.writer.finish();
    }

    pub(super) fn abandon_output(&self) {
        self.writer.abandon();
    }

    pub(super) fn take_last_failure(&mut self) -> Option<String> {
        self.last_failure.take()
    }

    /// Sends each line where it belongs; messages leave as one batch.
    pub(super) fn route(&mut self, items: &mut Vec<Item>) {
        self.batch.reserve(items.len());
        for item in items.drain(..) {
            match item {
                Item::Line(raw) => self.route_line(raw),
                Item::TooLong(line) => self.add(Event::TooLong(line)),
            }
        }
        self.flush();
    }

    /// Nothing more will be read: no reply can come, but the other end's requests can still be answered.
    pub(super) fn input_over(&mut self) {
        self.waiting.close();
        self.events.close();
    }

    /// The connection is over: nobody gets an answer any more, and handlers are told.
    pub(super) fn end(&mut self) {
        self.waiting.close();
        for open in self.open.drain() {
            open.0.withdraw();
        }
        self.writer.abandon();
    }

    fn route_line(&mut self, raw: Bytes) {
        self.taps.line(E::READS, &raw);
        self.route_tapped(raw);
    }

    fn route_tapped(&mut self, raw: Bytes) {
        if reading::is_plain_message(&raw) {
            self.batch.push(Queued::Line(raw));
            return;
        }
        match reading::read::<E::In>(&raw) {
            Ok(frame) => match E::sort(frame) {
                Sorted::Message(frame) => {
                    self.note_failure(&frame);
                    self.add(Event::Frame { raw, frame });
                }
                Sorted::Request(request) => match self.named(&raw) {
                    Some(named) => self.route_tapped(named),
                    None => self.serve(request, raw),
                },
                Sorted::Response(response) => self.resolve(response, raw),
                Sorted::Cancel(id) => {
                    if let Some(open) = self.open.take(id.as_str()) {
                        open.0.withdraw();
                    }
                }
            },
            Err(error) => {
                if let Some(named) = self.named(&raw) {
                    return self.route_tapped(named);
                }
                if let Some(request) = E::salvage(&raw) {
                    self.serve(request, raw);
                    return;
                }
                self.refuse_broken_request(&raw, &error);
                self.add(reading::odd(raw, error));
            }
        }
    }

    /// A request without an id that is text, under one that is.
    fn named(&mut self, raw: &[u8]) -> Option<Bytes> {
        let named = if E::ECHOES_ANY_ID { odd_id::named(raw, self.named)? } else { return None };
        self.named += 1;
        Some(named)
    }

    fn add(&mut self, event: Event<E::In>) {
        self.batch.push(Queued::Event(Box::new(event)));
    }

    /// Keeps the text of an error result until a good one comes.
    fn note_failure(&mut self, frame: &E::In) {
        if let Some(verdict) = E::verdict(frame) {
            self.last_failure = verdict.err();
        }
    }

    fn serve(&mut self, request: ControlRequest<E::Asked>, raw: Bytes) {
        if self.is_open(request.request_id.as_str()) {
            tracing::debug!(id = %request.request_id, "a request that is already open was repeated");
            return;
        }
        let ticket = Arc::new(Ticket::new(request.request_id));
        // What came before a request is there before its handler runs.
        self.flush();
        let inbound = Inbound {
            request: request.request,
            raw,
            after: self.arrived,
            token: ticket.watch(),
            responder: Responder::new(Arc::clone(&ticket), self.writer.clone()),
        };
        // The responder answers when it is dropped, so a panic ends one request and not the connection.
        contain("taking a request", || self.serve.serve(inbound));
        // Many are answered by now, and then there is nothing to remember.
        if ticket.is_open() {
            self.keep(ticket);
        }
    }

    fn is_open(&self, id: &str) -> bool {
        self.open.get(id).is_some_and(|known| known.0.is_open())
    }

    /// Remembers a request, in place of a settled one of the same id.
    fn keep(&mut self, ticket: Arc<Ticket>) {
        if self.open.len() >= self.sweep_at {
            self.open.retain(|open| open.0.is_open());
            self.sweep_at = SWEEP_AT.max(2 * self.open.len());
        }
        self.open.replace(Open(ticket));
    }

    fn resolve(&mut self, response: Box<ControlResponse>, raw: Bytes) {
        // A reply that has neither a kind nor a payload says nothing: CLIs go on waiting.
        let says_nothing =
            matches!(&response.response, Reply::Bare(bare) if matches!(bare.response, Opt::Absent));
        let waiter = if says_nothing { None } else { self.waiting.take(response.request_id()) };
        let Some(reply) = waiter else {
            let request_id = response.request_id().into();
            self.add(Event::StrayReply { raw, request_id });
            return;
        };
        self.flush();
        for request in E::reopened(&response) {
            self.serve(request, Bytes::new());
        }
        // Who asked may have left this very moment.
        let _ = reply.send(response);
    }

    /// A request that cannot be understood still gets an answer: the other end may wait for ever.
    fn refuse_broken_request(&self, raw: &[u8], error: &DecodeError) {
        let Some(head) = Head::peek(raw) else {
            return;
        };
        if !matches!(head.kind(), "control_request" | "sdk_control_request") {
            return;
        }
        if !E::ANSWERS_EMPTY_REQUESTS && asks_nothing(raw) {
            return;
        }
        if let Some(id) = head.request_id() {
            let refusal = ControlResponse::error(id, format!("the request cannot be read: {error}"));
            if let Ok(line) = E::line(&E::response(refusal)) {
                let _ = self.writer.put(line);
            }
        }
    }

    fn flush(&mut self) {
        if !self.batch.is_empty() {
            self.arrived += self.batch.len() as u64;
            self.events.push(std::mem::take(&mut self.batch));
        }
    }
}

/// A request of the other end, found by its id.
struct Open(Arc<Ticket>);

impl Borrow<str> for Open {
    fn borrow(&self) -> &str {
        self.0.id.as_str()
    }
}

impl Hash for Open {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id.as_str().hash(state);
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for Open {}

/// Whether a frame has no `request` in it.
fn asks_nothing(raw: &[u8]) -> bool {
    serde_json::from_slice::<Value>(raw).is_ok_and(|line| line.get("request").is_none_or(Value::is_null))
}
