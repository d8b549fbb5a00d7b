//! One WebSocket, from its upgrade to its end.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::IoSlice;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Poll, ready};
use std::time::{Duration, Instant};

use bytes::{Buf as _, Bytes};
use hyper::upgrade::{Parts, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead as _, AsyncWriteExt as _, ReadBuf};

use super::metrics::Gauge;
use super::notify;
use super::serve::Shared;
use super::stream::Stream;
use crate::api::{ErrorCode, Received};
use crate::auth::{Bucket, Device};
use crate::client::{Client, Gone, Sink};
use crate::session::{Refusal, Taken};
use crate::ws::{CloseCode, Incoming, Reader, close_frame, ping_frame, pong_frame, text_frame};

/// How much is gathered before it is written.
const WRITE_AT: usize = 64 * 1024;

/// How many frames go into one call of the system.
const AT_ONCE: usize = 64;

/// How many frames there is room for while none wait.
const ROOM_KEPT: usize = 4;

/// How many messages beyond its rate a client may send before its connection is closed.
const PATIENCE_WITH_FLOODS: f64 = 500.0;

/// How many questions may stay without any sign of the client.
const UNANSWERED: u32 = 2;

/// How long, and for how many bytes, the bridge still takes what a client sends that is being told why it is closed.
const LINGER: Duration = Duration::from_secs(5);
const LINGER_BYTES: usize = 64 * 1024 * 1024;

/// The same when the bridge shuts down: whoever does not leave by then keeps nobody else waiting.
const LINGER_AT_THE_END: Duration = Duration::from_secs(1);

thread_local! {
    /// What is read goes through here, so that a connection that is silent needs no buffer of its own.
    static READ_BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; 16 * 1024].into());
}

/// Serves a client until it or the bridge is gone.
pub(super) async fn run(shared: &Arc<Shared>, upgraded: Upgraded, device: Device) {
    // Nothing of hyper stays with the connection.
    let Ok(Parts { io, read_buf, .. }) = upgraded.downcast::<TokioIo<Stream>>() else { return };
    let _counted = Gauge::one_more(&shared.metrics.sockets);
    tracing::info!(device = device.name, "a client connects");
    let revoked = shared.devices.revoked(&device.id);
    let mut client = Client::new(shared.hub.clone(), device, shared.roots.clone())
        .told_of(shared.agent.clone())
        .limited_to(shared.limits.message_bytes);
    let outbox = client.outbox();
    let (stream, way_out) = io.into_inner().shared();
    if let Some(way_out) = way_out {
        let shared = Arc::clone(shared);
        outbox.write_directly(Box::new(move |frame| {
            shared.metrics.frames_sent.fetch_add(1, Ordering::Relaxed);
            way_out.write_now(frame)
        }));
    }
    let mut socket = Socket::new(shared, stream);
    socket.reader.push(&read_buf);
    // It may be a small part of a large buffer.
    drop(read_buf);
    let code = tokio::select! {
        code = socket.serve(&mut client) => code,
        () = revoked.cancelled() => Some(CloseCode::Revoked),
        () = shared.closing.cancelled() => Some(CloseCode::GoingAway),
    };
    tracing::info!(device = client.device().name, ?code, "a client leaves");
    if code == Some(CloseCode::Silent) && client.stop_viewing() {
        notify::catch_up(shared, &client.device().id);
    }
    let begun = outbox.wakes();
    if let Some(code) = code {
        // Of the first frame a part may be written: without its rest, the one that closes would be taken for it.
        socket.pending.truncate(1);
        socket.pending.extend([begun, close_frame(code)]);
        // Whether the client still reads it or not, the connection ends here.
        let (Ok(()) | Err(Gone)) = socket.flush().await;
    }
    drop(tokio::time::timeout(shared.limits.patience, socket.stream.shutdown()).await);
    match code {
        None => {}
        Some(CloseCode::GoingAway) => linger(&mut socket.stream, LINGER_AT_THE_END).await,
        Some(_) => linger(&mut socket.stream, LINGER).await,
    }
}

/// Waits for the client to leave, and throws away what it still sends. A connection that is closed while something is left
/// unread is reset by the system, and then the client may never see the frame that says why.
async fn linger(stream: &mut Stream, time: Duration) {
    let leaving = async {
        let mut left = LINGER_BYTES;
        while left > 0 {
            match read(stream, |_| {}).await {
                Ok(0) | Err(_) => return,
                Ok(bytes) => left = left.saturating_sub(bytes),
            }
        }
    };
    drop(tokio::time::timeout(time, leaving).await);
}

/// What ended a rest.
enum Stirred {
    Filled,
    Read(std::io::Result<usize>),
    Time,
}

struct Socket<'a> {
    shared: &'a Shared,
    stream: Stream,
    reader: Reader,
    pending: VecDeque<Bytes>,
    pending_bytes: usize,
    messages: Bucket,
    floods: Bucket,
}

impl<'a> Socket<'a> {
    fn new(shared: &'a Shared, stream: Stream) -> Self {
        let limits = shared.limits;
        Self {
            shared,
            stream,
            reader: Reader::new(limits.message_bytes),
            pending: VecDeque::new(),
            pending_bytes: 0,
            messages: Bucket::new(limits.burst, limits.messages_per_second),
            floods: Bucket::new(PATIENCE_WITH_FLOODS, 1.0),
        }
    }

    /// Until the client leaves; tells how to close if it has not done so itself.
    async fn serve(&mut self, client: &mut Client) -> Option<CloseCode> {
        let outbox = client.outbox();
        let mut taken = Taken::default();
        let mut unanswered = 0;
        let mut asking = tokio::time::interval(self.shared.limits.ping_every);
        asking.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        asking.reset();
        loop {
            // What came with the handshake is handled before anything is waited for.
            if let Err(code) = self.received(client).await {
                return code;
            }
            if self.flush().await.is_err() {
                return None;
            }
            outbox.rests();
            let stirred = tokio::select! {
                () = outbox.take(&mut taken) => Stirred::Filled,
                read = read(&mut self.stream, |bytes| self.reader.push(bytes)) => Stirred::Read(read),
                _ = asking.tick() => Stirred::Time,
            };
            let begun = outbox.wakes();
            if !begun.is_empty() {
                self.pending.push_back(begun);
            }
            match stirred {
                Stirred::Filled => {
                    if client.deliver(&mut taken, self).await.is_err() {
                        return None;
                    }
                }
                Stirred::Read(Ok(0) | Err(_)) => return None,
                Stirred::Read(Ok(_)) => unanswered = 0,
                Stirred::Time => {
                    if unanswered >= UNANSWERED {
                        return Some(CloseCode::Silent);
                    }
                    unanswered += 1;
                    if self.send(ping_frame()).await.is_err() {
                        return None;
                    }
                }
            }
        }
    }

    /// Handles every message that is complete.
    async fn received(&mut self, client: &mut Client) -> Result<(), Option<CloseCode>> {
        loop {
            let incoming = match self.reader.next() {
                Ok(Some(incoming)) => incoming,
                Ok(None) => return Ok(()),
                Err(error) => return Err(Some(error.close_code())),
            };
            let handled = match incoming {
                Incoming::Text(text) => {
                    self.shared.metrics.messages.fetch_add(1, Ordering::Relaxed);
                    if self.messages.take(Instant::now()) {
                        // Boxed, as a connection that says nothing should not keep room for it.
                        Box::pin(client.handle(&text, self)).await
                    } else if self.floods.take(Instant::now()) {
                        let refusal = Refusal::new(ErrorCode::RateLimited, "too many messages: slow down");
                        // Whoever asked hears that this one is not answered.
                        let request_id = Received::request_id(&text);
                        self.send(text_frame(&refusal.into_reply().encode(request_id.as_ref()))).await
                    } else {
                        return Err(Some(CloseCode::Flooding));
                    }
                }
                Incoming::Ping(payload) => {
                    let now = Instant::now();
                    if !self.messages.take(now) && !self.floods.take(now) {
                        return Err(Some(CloseCode::Flooding));
                    }
                    self.send(pong_frame(&payload)).await
                }
                Incoming::Pong => Ok(()),
                Incoming::Close => return Err(Some(CloseCode::Normal)),
            };
            handled.map_err(|Gone| None)?;
        }
    }

    /// Writes all that is gathered. A client that does not read for too long is gone.
    async fn flush(&mut self) -> Result<(), Gone> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let frames = self.pending.len() as u64;
        let written = self.written().await;
        self.pending_bytes = 0;
        self.pending.clear();
        self.pending.shrink_to(ROOM_KEPT);
        self.shared.metrics.frames_sent.fetch_add(frames, Ordering::Relaxed);
        written
    }

    async fn written(&mut self) -> Result<(), Gone> {
        let mut writing = pin!(write(&mut self.stream, &mut self.pending));
        // Nearly always the system takes it at once, and then no clock need be set.
        let attempt = poll_fn(|cx| Poll::Ready(writing.as_mut().poll(cx))).await;
        let written = match attempt {
            Poll::Ready(written) => written.ok(),
            Poll::Pending => {
                let written = tokio::time::timeout(self.shared.limits.patience, writing).await;
                written.ok().and_then(Result::ok)
            }
        };
        written.ok_or(Gone)
    }
}

impl Sink for Socket<'_> {
    async fn send(&mut self, frame: Bytes) -> Result<(), Gone> {
        self.pending_bytes += frame.len();
        self.pending.push_back(frame);
        if self.pending_bytes >= WRITE_AT { self.flush().await } else { Ok(()) }
    }
}

/// Reads what there is, hands it to `take`, and gives its length.
async fn read(stream: &mut Stream, mut take: impl FnMut(&[u8])) -> std::io::Result<usize> {
    poll_fn(|cx| {
        READ_BUFFER.with_borrow_mut(|bytes| {
            let mut buffer = ReadBuf::new(bytes);
            ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer))?;
            take(buffer.filled());
            Poll::Ready(Ok(buffer.filled().len()))
        })
    })
    .await
}

/// Writes frames, many at a time, without copying them together.
async fn write(stream: &mut Stream, frames: &mut VecDeque<Bytes>) -> std::io::Result<()> {
    while let Some(first) = frames.front() {
        let mut written = if frames.len() == 1 {
            // The usual case, and the system does less for it.
            stream.write(first).await?
        } else {
            let mut slices = [IoSlice::new(&[]); AT_ONCE];
            for (slice, frame) in slices.iter_mut().zip(frames.iter()) {
                *slice = IoSlice::new(frame);
            }
            let count = frames.len().min(AT_ONCE);
            stream.write_vectored(slices.get(..count).unwrap_or_default()).await?
        };
        if written == 0 {
            return Err(std::io::ErrorKind::WriteZero.into());
        }
        while let Some(frame) = frames.front_mut() {
            if written < frame.len() {
                frame.advance(written);
                break;
            }
            written -= frame.len();
            frames.pop_front();
        }
    }
    stream.flush().await
}
