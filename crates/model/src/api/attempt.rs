//! One request, and what comes back for it.

use std::time::Instant;

use eventsource_stream::Eventsource;
use futures_util::StreamExt;
use pilothouse_proto::message::MessageStop;
use pilothouse_proto::{ContentBlock, Message, MessageStreamEvent, Opt};
use reqwest::Response;
use tokio_util::sync::CancellationToken;

use super::client::Client;
use super::errors::{self, ErrorDetail};
use crate::answering::{Piece, Trouble};
use crate::assemble::Assembler;
use crate::event::Event;
use crate::failure::ApiFailure;
use crate::ledger::full_usage;
use crate::reply::EventSink;
use crate::request::Request;

/// A stream longer than this is no answer.
const LONGEST_STREAM: usize = 512 * 1024 * 1024;

/// An event longer than this is no event. It is looked through anew with every piece of it that comes.
const LONGEST_EVENT: usize = 8 * 1024 * 1024;

pub(super) async fn attempt(
    client: &Client,
    request: &Request,
    streaming: bool,
    events: &EventSink,
    stop: &CancellationToken,
) -> Result<Piece, Trouble> {
    let begun = Instant::now();
    let asked =
        stop.run_until_cancelled(client.ask(request, streaming)).await.ok_or(Trouble::Stopped(None))?;
    let response = asked.map_err(|failure| Trouble::Failed(Box::new(failure)))?;
    let request_id = response.headers().get("request-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let message = if streaming {
        Listener { client, request, events, stop, begun, request_id: request_id.clone() }
            .listen(response)
            .await?
    } else {
        let read =
            stop.run_until_cancelled(in_one_piece(client, response)).await.ok_or(Trouble::Stopped(None))?;
        let message = read.map_err(|failure| Trouble::Failed(Box::new(failure)))?;
        give_out_blocks(&message, request_id.as_deref(), events);
        message
    };
    Ok(Piece { message, request_id })
}

/// How much has come, in all and since the last event ended.
#[derive(Default)]
struct Received {
    all: usize,
    event: usize,
    line: usize,
}

impl Received {
    /// Takes a piece in; false once there is too much.
    fn take(&mut self, piece: &[u8]) -> bool {
        self.all = self.all.saturating_add(piece.len());
        for byte in piece {
            match byte {
                b'\n' => {
                    // An empty line ends an event.
                    self.event = if self.line == 0 { 0 } else { self.event + 1 };
                    self.line = 0;
                }
                b'\r' => {}
                _ => {
                    self.event += 1;
                    self.line += 1;
                }
            }
        }
        self.all <= LONGEST_STREAM && self.event <= LONGEST_EVENT
    }
}

struct Listener<'a> {
    client: &'a Client,
    request: &'a Request,
    events: &'a EventSink,
    stop: &'a CancellationToken,
    begun: Instant,
    request_id: Option<String>,
}

impl Listener<'_> {
    async fn listen(&self, response: Response) -> Result<Message, Trouble> {
        let mut assembler = Assembler::default();
        let mut first_after = Some(());
        let mut received = Received::default();
        let within_reason = move |chunk: &reqwest::Result<bytes::Bytes>| {
            std::future::ready(chunk.as_ref().map_or(true, |chunk| received.take(chunk)))
        };
        let mut stream = std::pin::pin!(response.bytes_stream().take_while(within_reason).eventsource());
        loop {
            let idle = self.client.config.idle_timeout;
            let next = tokio::time::timeout(idle, stream.next());
            let Some(next) = self.stop.run_until_cancelled(next).await else {
                return Err(Trouble::Stopped(assembler.interrupted().map(Box::new)));
            };
            let sent = match next {
                Err(_) => return Err(self.break_off(&assembler, errors::timeout(&self.client.config))),
                Ok(None) => break,
                Ok(Some(Err(error))) => {
                    return Err(self.break_off(&assembler, errors::broken_stream(&error.to_string())));
                }
                Ok(Some(Ok(sent))) => sent,
            };
            let event: MessageStreamEvent = match serde_json::from_str(&sent.data) {
                Ok(event) => event,
                Err(error) => {
                    return Err(self.break_off(&assembler, errors::broken_stream(&error.to_string())));
                }
            };
            if let MessageStreamEvent::Error(error) = &event {
                let detail = detail(error.error.as_ref());
                let id = self.request_id.clone();
                let failure = errors::from_event(&self.client.config, &self.request.model, detail, id);
                return Err(self.break_off(&assembler, failure));
            }
            let completed = assembler
                .take(&event)
                .map_err(|broken| self.break_off(&assembler, errors::broken_stream(&broken.to_string())))?;
            // Hosts get a whole block before they are told that it is complete.
            if let Some(message) = completed {
                let message = Box::new(with_context_management(message));
                self.events.send(Event::Block { message, request_id: self.request_id.clone() });
            }
            if !matches!(event, MessageStreamEvent::Ping(_)) {
                let first_after = first_after.take().map(|()| self.begun.elapsed());
                self.events.send(Event::Stream { event: Box::new(event), first_after });
            }
            if assembler.is_stopped() {
                break;
            }
        }
        let broken = |broken: crate::assemble::Broken| errors::broken_stream(&broken.to_string());
        if !assembler.is_stopped() {
            return Err(self.break_off(&assembler, broken(crate::assemble::Broken::EndedEarly)));
        }
        let so_far = assembler.so_far();
        assembler.finish().map_err(|reason| {
            self.discard(so_far);
            Trouble::BrokeOff(Box::new(broken(reason)))
        })
    }

    /// Closes what is open and says that it is void.
    fn break_off(&self, assembler: &Assembler, failure: ApiFailure) -> Trouble {
        let end = assembler.so_far().map(|_| MessageStreamEvent::MessageStop(MessageStop::default()));
        for event in assembler.closing().into_iter().chain(end) {
            self.events.send(Event::Stream { event: Box::new(event), first_after: None });
        }
        self.discard(assembler.so_far());
        Trouble::BrokeOff(Box::new(failure))
    }

    fn discard(&self, so_far: Option<(String, u64, Option<pilothouse_proto::Usage>)>) {
        if let Some((message_id, blocks, usage)) = so_far {
            self.events.send(Event::Discarded { message_id, blocks, usage: usage.map(Box::new) });
        }
    }
}

async fn in_one_piece(client: &Client, response: Response) -> Result<Message, ApiFailure> {
    let bytes = client.whole(response).await?;
    let mut message: Message =
        serde_json::from_slice(&bytes).map_err(|error| errors::unreadable(&error.to_string()))?;
    message.usage = full_usage(&message.usage.unwrap_or_default()).into();
    Ok(with_context_management(message))
}

/// Each block as a message of its own, as a stream would have given them out.
pub(crate) fn give_out_blocks(message: &Message, request_id: Option<&str>, events: &EventSink) {
    for block in &message.content {
        let alone: Vec<ContentBlock> = vec![block.clone()];
        let message = Box::new(Message { content: alone, ..message.clone() });
        events.send(Event::Block { message, request_id: request_id.map(str::to_owned) });
    }
}

/// Hosts are always told about it, be it that there is nothing to tell.
fn with_context_management(mut message: Message) -> Message {
    if message.context_management.is_absent() {
        message.context_management = Opt::Null;
    }
    message
}

fn detail(error: Option<&serde_json::Map<String, serde_json::Value>>) -> ErrorDetail {
    let text = |name: &str| {
        error.and_then(|error| error.get(name)).and_then(|value| value.as_str()).map(str::to_owned)
    };
    ErrorDetail { kind: text("type"), message: text("message") }
}
