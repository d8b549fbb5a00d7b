//! Where a session meets its clients: what is stored goes from here to everybody who follows.

use std::collections::BTreeSet;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use tokio::runtime::Handle;
use tokio::sync::broadcast;

use crate::api::{
    Continuity, ErrorCode, ErrorReply, Event, Lifecycle, Presence, ProcessStatus, Reply, Seq, SessionId,
    SessionView, Status, StreamDelta, StreamSnapshot, ThinkingDelta,
};
use crate::log::StorageError;
use crate::session::board::Board;
use crate::session::news::News;
use crate::session::outbox::{Outbox, Parcel};
use crate::session::state::State;
use crate::ws;

/// Words that come within this time of one another go out together.
const TOGETHER: Duration = Duration::from_millis(1);

/// So many bytes of words wait for nothing.
const LARGEST_BUNDLE: usize = 64 * 1024;

/// The committed side of a session. Lives as long as the bridge, whether the session has a CLI or not.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) id: Arc<SessionId>,
    outside: Outside,
    inner: Mutex<Inner>,
    /// Held by everything that is on its way through the log.
    in_flight: Arc<()>,
}

/// Those who hear of a session without following it.
#[derive(Debug, Clone)]
pub(crate) struct Outside {
    pub(crate) news: broadcast::Sender<News>,
    pub(crate) board: Arc<Board>,
    pub(crate) runtime: Handle,
}

#[derive(Debug)]
struct Inner {
    state: State,
    /// The oldest position that the log still has.
    first: Seq,
    open: OpenBlock,
    /// Words that go to everybody together, as frames one after the other.
    bundle: BytesMut,
    /// When words last went out.
    sent_words: Option<Instant>,
    followers: Vec<Follower>,
    failed: Option<StorageError>,
}

/// What was streamed of a message that is not complete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OpenBlock {
    pub(crate) text: String,
    pub(crate) thinking: String,
    /// How long both are for a reader that counts as browsers do.
    units: [u64; 2],
}

impl OpenBlock {
    /// Adds words; tells how long the block was before.
    pub(crate) fn push(&mut self, stream: Stream, words: &str) -> u64 {
        let [text_units, thinking_units] = &mut self.units;
        let (block, units) = match stream {
            Stream::Text => (&mut self.text, text_units),
            Stream::Thinking => (&mut self.thinking, thinking_units),
        };
        block.push_str(words);
        let before = *units;
        *units += words.encode_utf16().count() as u64;
        before
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.thinking.is_empty()
    }
}

#[derive(Debug)]
struct Follower {
    outbox: Arc<Outbox>,
    device: String,
}

/// Which kind of words a delta adds to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Text,
    Thinking,
}

/// What a new follower is told.
#[derive(Debug)]
pub(crate) struct Joined {
    pub(crate) view: SessionView,
    pub(crate) continuity: Continuity,
    /// Events after this position up to the view's are to be read from the log; later ones come by themselves.
    pub(crate) since: Seq,
}

impl Channel {
    pub(crate) fn new(state: State, first: Seq, outside: Outside) -> Self {
        let id = Arc::new(state.view.session_id.clone());
        let inner = Inner {
            state,
            first,
            open: OpenBlock::default(),
            bundle: BytesMut::new(),
            sent_words: None,
            followers: Vec::new(),
            failed: None,
        };
        Self { id, outside, inner: Mutex::new(inner), in_flight: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something is on its way through the log until this is dropped.
    pub(crate) fn on_its_way(&self) -> Arc<()> {
        Arc::clone(&self.in_flight)
    }

    /// Whether everything that was on its way has been shown.
    pub(crate) fn is_settled(&self) -> bool {
        let settled = Arc::strong_count(&self.in_flight) == 1;
        // What was done before the last one was dropped is seen from here on.
        fence(Ordering::Acquire);
        settled
    }

    /// What lists show of the session.
    pub(crate) fn view(&self) -> SessionView {
        self.lock().state.view.clone()
    }

    /// Takes over what the log adds up to, which is more than what lists show: a session without a CLI has only that.
    pub(crate) fn restore(&self, state: &State) {
        let mut inner = self.lock();
        inner.state = state.clone();
        inner.failed = None;
    }

    /// Whether the session has a CLI.
    pub(crate) fn lifecycle(&self) -> Lifecycle {
        self.lock().state.view.state
    }

    /// Shows an event that is stored now.
    pub(crate) fn publish(&self, seq: Seq, at: i64, event: &Event, text: &str) {
        let mut inner = self.lock();
        let (before, interrupted) = (inner.state.view.status, inner.state.interrupted);
        inner.state.apply(seq, at, event);
        let status = inner.state.view.status;
        match event {
            // The whole message is there now, or will never be.
            Event::Assistant(message) if message.parent_tool_use_id.is_none() => {
                inner.open = OpenBlock::default()
            }
            Event::Result(_) | Event::Partial(_) => inner.open = OpenBlock::default(),
            _ => {}
        }
        if self.outside.news.receiver_count() > 0
            && let Some(news) = News::of(event, &inner.state.view, interrupted)
        {
            // Nobody may be listening any more.
            drop(self.outside.news.send(news));
        }
        self.outside.board.touch(&self.id);
        if inner.followers.is_empty() {
            return;
        }
        self.send_words(&mut inner);
        let frame = ws::text_frame(text);
        inner.send(&Parcel {
            session: Arc::clone(&self.id),
            seq: Some(seq),
            original: event.is_original(),
            listed: false,
            frame,
        });
        if status != before {
            inner.send(&self.moment(&Status { status, session_id: (*self.id).clone() }.into()));
        }
    }

    /// Shows words as they come: the first at once, and what comes right after them together, so that a model that writes
    /// fast costs each follower a few writes and not hundreds.
    pub(crate) fn publish_delta(self: &Arc<Self>, stream: Stream, text: String) {
        let mut inner = self.lock();
        let session_id = (*self.id).clone();
        let offset = inner.open.push(stream, &text);
        if inner.followers.is_empty() {
            return;
        }
        let delta = match stream {
            Stream::Text => Reply::from(StreamDelta { text, session_id, offset }),
            Stream::Thinking => Reply::from(ThinkingDelta { text, session_id, offset }),
        };
        let is_first = inner.bundle.is_empty();
        inner.bundle.extend_from_slice(&ws::text_frame(&delta.encode(None)));
        let is_quiet = inner.sent_words.is_none_or(|sent| sent.elapsed() >= TOGETHER);
        if is_quiet || inner.bundle.len() >= LARGEST_BUNDLE {
            self.send_words(&mut inner);
        } else if is_first {
            let channel = Arc::clone(self);
            self.outside.runtime.spawn(async move {
                tokio::time::sleep(TOGETHER).await;
                channel.send_words(&mut channel.lock());
            });
        }
    }

    fn send_words(&self, inner: &mut Inner) {
        if inner.bundle.is_empty() {
            return;
        }
        let frame = std::mem::take(&mut inner.bundle).freeze();
        inner.sent_words = Some(Instant::now());
        let words = Parcel { session: Arc::clone(&self.id), seq: None, original: true, listed: false, frame };
        inner.followers.iter().for_each(|follower| follower.outbox.push_words(&words));
    }

    /// The position of the oldest event that is still there.
    pub(crate) fn first(&self) -> Seq {
        self.lock().first
    }

    /// Gives up all but so many events, and those of what is still going on; tells which is the oldest then, if that is
    /// another than before. Followers are told of a gap from here on, so the log forgets the rest afterwards.
    pub(crate) fn forget_oldest(&self, keep: u64) -> Option<Seq> {
        let mut inner = self.lock();
        let newest = inner.state.view.seq;
        let first = Seq(newest.0.saturating_sub(keep) + 1).min(inner.state.at_rest.next()).min(newest);
        if first <= inner.first {
            return None;
        }
        inner.first = first;
        Some(first)
    }

    /// A new message of the model begins.
    pub(crate) fn begin_block(&self) {
        self.lock().open = OpenBlock::default();
    }

    /// The log could not be written: the session cannot go on, and everybody is told. The log does not have its end, which
    /// is added when it is resumed.
    pub(crate) fn fail(&self, error: StorageError) {
        let mut inner = self.lock();
        if inner.failed.is_some() {
            return;
        }
        let message = format!("{error}; the session is ended, resume it once that is mended");
        let session_id = Some((*self.id).clone());
        let told =
            ErrorReply { message, error_code: ErrorCode::Storage, session_id, client_message_id: None };
        inner.failed = Some(error);
        inner.state.turn_open = false;
        let view = &mut inner.state.view;
        view.state = Lifecycle::Interrupted;
        view.status = ProcessStatus::Idle;
        view.approvals.clear();
        let status = Status { status: view.status, session_id: (*self.id).clone() };
        inner.send(&self.moment(&told.into()));
        inner.send(&self.moment(&status.into()));
        self.outside.board.touch(&self.id);
    }

    /// Passes on what was read from the log. If the log is damaged there, lists say so from now on.
    pub(crate) fn noting_damage<T>(&self, read: Result<T, StorageError>) -> Result<T, StorageError> {
        if let Err(error @ (StorageError::Session { .. } | StorageError::Damaged(_))) = &read {
            let mut inner = self.lock();
            if inner.state.view.damage.is_none() {
                tracing::error!(session = %self.id, %error, "the log of a session is damaged");
                inner.state.view.damage = Some(error.to_string());
                self.outside.board.touch(&self.id);
            }
        }
        read
    }

    pub(crate) fn failed(&self) -> Option<StorageError> {
        self.lock().failed.clone()
    }

    /// Adds a follower. From here on everything new reaches its outbox.
    pub(crate) fn join(&self, outbox: &Arc<Outbox>, device: &str, since: Option<Seq>) -> Joined {
        let mut inner = self.lock();
        let newest = inner.state.view.seq;
        let oldest = Seq(inner.first.0.saturating_sub(1));
        let (since, continuity) = match since {
            None => (newest, Continuity::Ok),
            Some(since) if since > newest || since < oldest => (oldest, Continuity::Gap),
            Some(since) => (since, Continuity::Ok),
        };
        if !inner.followers.iter().any(|follower| Arc::ptr_eq(&follower.outbox, outbox)) {
            // What was written before is not new to it.
            self.send_words(&mut inner);
            let is_new = inner.count_of(device) == 0;
            inner.followers.push(Follower { outbox: Arc::clone(outbox), device: device.to_owned() });
            let presence = self.presence(&inner);
            // Of a device that is there twice only itself needs to hear.
            if is_new { inner.send(&presence) } else { outbox.push(presence) }
        }
        Joined { view: inner.state.view.clone(), continuity, since }
    }

    /// Takes a follower away.
    pub(crate) fn leave(&self, outbox: &Arc<Outbox>) {
        let mut inner = self.lock();
        let Some(at) = inner.followers.iter().position(|follower| Arc::ptr_eq(&follower.outbox, outbox))
        else {
            return;
        };
        let gone = inner.followers.swap_remove(at);
        if inner.count_of(&gone.device) == 0 {
            inner.send(&self.presence(&inner));
        }
    }

    /// What has been streamed of the open block, for somebody who missed some of it.
    pub(crate) fn snapshot(&self) -> Option<Reply> {
        let mut inner = self.lock();
        // What the snapshot has must not come once more after it.
        self.send_words(&mut inner);
        let open = inner.open.clone();
        drop(inner);
        let session_id = (*self.id).clone();
        (!open.is_empty())
            .then(|| StreamSnapshot { session_id, text: open.text, thinking: open.thinking }.into())
    }

    /// The text of the open block, and how long it is for a reader that counts as browsers do.
    pub(crate) fn open_text(&self) -> (String, u64) {
        let inner = self.lock();
        (inner.open.text.clone(), inner.open.units[0])
    }

    fn presence(&self, inner: &Inner) -> Parcel {
        let devices: BTreeSet<&String> = inner.followers.iter().map(|follower| &follower.device).collect();
        let devices = devices.into_iter().cloned().collect();
        self.moment(&Presence { session_id: (*self.id).clone(), devices }.into())
    }

    fn moment(&self, reply: &Reply) -> Parcel {
        Parcel {
            session: Arc::clone(&self.id),
            seq: None,
            original: reply.is_original(),
            listed: false,
            frame: ws::text_frame(&reply.encode(None)),
        }
    }
}

impl Inner {
    fn count_of(&self, device: &str) -> usize {
        self.followers.iter().filter(|follower| follower.device == device).count()
    }

    fn send(&self, parcel: &Parcel) {
        for follower in &self.followers {
            follower.outbox.push(parcel.clone());
        }
    }
}
