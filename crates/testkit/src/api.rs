//! The scripted Messages API: an HTTP server on loopback that answers by a script and remembers what it was asked.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Channel, Either, Full, channel::Sender};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::call::{Call, CallKind};
use crate::message::Message;
use crate::turn::{Answer, Block, Ending, Turn};

/// How long a delta may wait in the channel of a response; one is enough to keep the order and notice a client
/// that went away.
const EVENTS_IN_FLIGHT: usize = 1;

/// A scripted Messages API on a loopback port of its own. Dropping it ends it.
///
/// Each request that offers tools takes the next [`Turn`] of the script whose condition holds; when none is left the
/// answer is a text that says so. Other requests (titles, token counts) get a trivial answer and leave the script
/// alone. `GET /calls` tells a test in another process what was asked so far.
#[derive(Debug)]
pub struct Api {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    calls_seen: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct State {
    script: VecDeque<Turn>,
    calls: Vec<Call>,
    served: usize,
}

type Body = Either<Full<Bytes>, Channel<Bytes, Infallible>>;

impl Api {
    /// Starts an API with this script, on the current tokio runtime.
    ///
    /// # Errors
    /// When no loopback port can be had.
    pub fn script(turns: impl IntoIterator<Item = Turn>) -> io::Result<Api> {
        let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let listener = TcpListener::from_std(listener)?;
        let state = State { script: turns.into_iter().collect(), ..State::default() };
        let shared = Arc::new(Shared { state: Mutex::new(state), calls_seen: watch::Sender::new(0) });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Api { address, shared, accepting })
    }

    /// The value for `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds a turn to the end of the script.
    pub fn push(&self, turn: Turn) {
        self.shared.state().script.push_back(turn);
    }

    /// How many turns of the script nobody has taken yet.
    pub fn turns_left(&self) -> usize {
        self.shared.state().script.len()
    }

    /// Every request so far, oldest first.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.state().calls.clone()
    }

    /// The requests so far that took a turn of the script, oldest first.
    pub fn main_calls(&self) -> Vec<Call> {
        let mut calls = self.calls();
        calls.retain(|call| call.kind == CallKind::Main);
        calls
    }

    /// Waits until `count` requests took a turn of the script.
    ///
    /// # Errors
    /// When that does not happen within `patience`.
    pub async fn wait_for_main_calls(&self, count: usize, patience: Duration) -> io::Result<Vec<Call>> {
        let mut seen = self.shared.calls_seen.subscribe();
        let enough = seen.wait_for(|_| self.main_calls().len() >= count);
        let waited = tokio::time::timeout(patience, enough).await;
        let calls = self.main_calls();
        match waited {
            Ok(_) => Ok(calls),
            Err(_) => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("{} of {count} calls reached the API within {patience:?}", calls.len()),
            )),
        }
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panicking test must not hide its own message behind a poisoned lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the call and picks its answer.
    fn receive(&self, call: Call) -> (Turn, usize) {
        let mut state = self.state();
        let turn = match call.kind {
            CallKind::Main => state.next_turn(&call.last_user()),
            CallKind::Side | CallKind::Count | CallKind::Unexpected => Turn::text("ok"),
        };
        state.served += 1;
        let serial = state.served;
        state.calls.push(call);
        let seen = state.calls.len();
        drop(state);
        self.calls_seen.send_replace(seen);
        (turn, serial)
    }
}

impl State {
    fn next_turn(&mut self, last_user: &str) -> Turn {
        let fits = |turn: &Turn| turn.when.as_ref().is_none_or(|text| last_user.contains(text));
        let Some(index) = self.script.iter().position(fits) else {
            return Turn::text("(the script has no more turns)");
        };
        match self.script.get_mut(index) {
            Some(turn) if turn.times > 1 => {
                turn.times -= 1;
                turn.clone()
            }
            _ => self.script.remove(index).unwrap_or_else(|| Turn::text("(the script has no more turns)")),
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    // The connections live in the set, so aborting this task closes them too.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        let service = service_fn(move |request| answer(request, Arc::clone(&shared)));
        connections.spawn(async move {
            // A client that goes away is part of the scripts; there is nobody to tell.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
        while connections.try_join_next().is_some() {}
    }
}

/// An error makes hyper close the connection without a word, which is what [`Turn::dropped`] asks for.
async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> io::Result<Response<Body>> {
    let path = request.uri().path().to_owned();
    if request.method() == hyper::Method::GET && path == "/calls" {
        return json_response(200, &shared.state().calls.iter().map(Call::shown).collect(), None);
    }
    let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = request.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let bytes = request.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let call = Call::new(&path, headers, body);
    let (kind, model) = (call.kind, call.body["model"].clone());
    let wants_stream = call.body["stream"] == true;
    let (turn, serial) = shared.receive(call);
    match kind {
        CallKind::Count => return json_response(200, &json!({"input_tokens": 100}), None),
        CallKind::Unexpected => {
            return json_response(404, &error_body("not_found_error", "no such path"), None);
        }
        CallKind::Main | CallKind::Side => {}
    }
    tokio::time::sleep(turn.delay).await;
    if let Some(gate) = &turn.gate {
        gate.notified().await;
    }
    match &turn.answer {
        Answer::Drop => Err(io::Error::new(io::ErrorKind::ConnectionAborted, "dropped by the script")),
        Answer::Error { status, kind, message, retry_after } => {
            json_response(*status, &error_body(kind, message), *retry_after)
        }
        Answer::Blocks { blocks, .. } if !wants_stream => {
            json_response(200, &Message::new(&model, &turn, blocks, serial).whole(), None)
        }
        Answer::Blocks { blocks, ending } => stream_response(&model, &turn, blocks, ending, serial),
    }
}

fn stream_response(
    model: &Value,
    turn: &Turn,
    blocks: &[Block],
    ending: &Ending,
    serial: usize,
) -> io::Result<Response<Body>> {
    let (sender, body) = Channel::new(EVENTS_IN_FLIGHT);
    let message = Message::new(model, turn, blocks, serial);
    tokio::spawn(stream(sender, message, ending.clone(), turn.chunk_delay));
    Response::builder()
        .header("content-type", "text/event-stream")
        .header("request-id", format!("req_{serial:06}"))
        .header("connection", "close")
        .body(Either::Right(body))
        .map_err(io::Error::other)
}

/// Sends the events of `message`; `None` ends it early because the client went away.
async fn stream(
    mut sender: Sender<Bytes, Infallible>,
    message: Message,
    ending: Ending,
    pause: Duration,
) -> Option<()> {
    send(&mut sender, &message.opening()).await?;
    for (index, part) in message.parts.iter().enumerate() {
        send(&mut sender, &part.opening(index)).await?;
        for delta in part.deltas(index) {
            tokio::time::sleep(pause).await;
            send(&mut sender, &delta).await?;
        }
        match &ending {
            Ending::Complete => {}
            Ending::Hang => loop {
                tokio::time::sleep(Duration::from_millis(200)).await;
                send(&mut sender, &json!({"type": "ping"})).await?;
            },
            Ending::ErrorEvent(kind) => {
                return send(&mut sender, &error_body(kind, "scripted error event")).await;
            }
        }
        send(&mut sender, &part.closing(index)).await?;
    }
    for event in message.closing() {
        send(&mut sender, &event).await?;
    }
    Some(())
}

async fn send(sender: &mut Sender<Bytes, Infallible>, event: &Value) -> Option<()> {
    let name = event["type"].as_str().unwrap_or_default();
    sender.send_data(Bytes::from(format!("event: {name}\ndata: {event}\n\n"))).await.ok()
}

fn json_response(status: u16, body: &Value, retry_after: Option<u64>) -> io::Result<Response<Body>> {
    let mut response = Response::builder().status(status).header("content-type", "application/json");
    if let Some(seconds) = retry_after {
        response = response.header("retry-after", seconds);
    }
    response.body(Either::Left(Full::new(Bytes::from(body.to_string())))).map_err(io::Error::other)
}

fn error_body(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}
