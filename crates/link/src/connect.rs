use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pilothouse_proc::{Ladder, Spawn, SpawnError};

use crate::end::End;
use crate::handle::Handle;
use crate::line::DEFAULT_MAX_LINE;
use crate::queue::Events;
use crate::responder::{Inbound, Serve};
use crate::tape::{Tap, Taps};
use crate::transport::Transport;

/// How long a request waits for its reply unless told otherwise.
pub const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// The builder of a connection.
pub struct Connect<E: End> {
    pub(crate) max_line: usize,
    pub(crate) request_timeout: Option<Duration>,
    pub(crate) ladder: Ladder,
    pub(crate) taps: Taps,
    pub(crate) serve: Box<dyn Serve<E>>,
}

impl<E: End> Connect<E> {
    /// A connection that answers every request with an error, until [`Connect::serve`] says otherwise.
    pub fn new() -> Self {
        Self {
            max_line: DEFAULT_MAX_LINE,
            request_timeout: Some(DEFAULT_REQUEST_TIMEOUT),
            ladder: Ladder::default(),
            taps: Taps::default(),
            serve: Box::new(|inbound: Inbound<E>| inbound.responder.error("nobody answers requests here")),
        }
    }

    /// Lines longer than this are skipped and reported.
    pub fn max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }

    /// How long [`Handle::request`] waits; `None` waits as long as the connection lives.
    pub fn request_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.request_timeout = timeout;
        self
    }

    /// How a child is ended, and how long other transports may take to end.
    pub fn ladder(mut self, ladder: Ladder) -> Self {
        self.ladder = ladder;
        self
    }

    /// Shows every line to `tap`, for example to a [`crate::tape::Recorder`].
    pub fn tap(mut self, tap: Arc<dyn Tap>) -> Self {
        self.taps.0.push(tap);
        self
    }

    /// Who takes the other end's requests.
    ///
    /// The connection owns it, so it should hold a [`crate::WeakHandle`] if it needs the connection.
    pub fn serve(mut self, serve: impl Serve<E>) -> Self {
        self.serve = Box::new(serve);
        self
    }

    /// Connects over a transport. Needs a tokio runtime with I/O and time enabled.
    pub fn over(self, transport: Transport) -> (Handle<E>, Events<E::In>) {
        E::start(self, transport)
    }

    /// Starts a child and connects to it.
    ///
    /// # Errors
    /// [`SpawnError`] says what to do.
    pub async fn child(self, mut spawn: Spawn) -> Result<(Handle<E>, Events<E::In>), SpawnError> {
        self.taps.started(&spawn);
        for tap in &self.taps.0 {
            let tap = tap.clone();
            spawn = spawn.on_stderr(Box::new(move |line| tap.stderr(line)));
        }
        let transport = Transport::child(spawn).await?;
        Ok(self.over(transport))
    }
}

impl<E: End> Default for Connect<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: End> fmt::Debug for Connect<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connect")
            .field("max_line", &self.max_line)
            .field("request_timeout", &self.request_timeout)
            .field("ladder", &self.ladder)
            .field("taps", &self.taps)
            .finish_non_exhaustive()
    }
}
