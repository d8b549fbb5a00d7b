//! A live session: one handle, cloned freely, all methods on `&self`.

mod control;
mod environment;
mod mcp;
mod streams;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pilothouse_link::{Ended, Handle, Host};
use pilothouse_mcp::ServerSet;
use pilothouse_proto::HostFrame;
use pilothouse_proto::control::{Initialize, InitializeResponse};
use pilothouse_proto::system::Init;
use tempfile::TempDir;

use crate::boxed::BoxFuture;
use crate::error::Error;
use crate::fold::Usage;
use crate::prompt::Prompt;
use crate::pump::{Pump, SlotKey};
use crate::session_store::mirror::Mirror;
use crate::shadow::Shadow;
use crate::turn::Turn;

pub use streams::{AllEvents, OwnTurns};

/// A conversation with a CLI. Clones share it.
///
/// Three ends are told apart: a *turn* ends with its result ([`Turn`]); the *run* ends when nothing runs and nothing is
/// queued ([`Session::idle`]); the *input* ends when the host says so ([`Session::end_input`]), after which the CLI
/// finishes its queue and exits. When the last handle is dropped the session is closed in the background and leaves no
/// process behind; [`Session::close`] does the same, waits, and reports. Clones, turns and streams of events all are
/// handles: a [`Turn`] that is still there keeps the CLI running.
///
/// Once a session has ended, every method gives the cause.
#[derive(Debug, Clone)]
pub struct Session {
    pub(crate) shared: Arc<Shared>,
}

/// What all handles of a session share.
pub(crate) struct Shared {
    pub(crate) handle: Handle<Host>,
    pub(crate) pump: Pump,
    pub(crate) servers: Arc<ServerSet>,
    /// What was registered, for doing it again.
    pub(crate) registration: Initialize,
    /// In-process servers are named in the registration.
    pub(crate) announces_servers: bool,
    pub(crate) handshake: InitializeResponse,
    pub(crate) shadows: Vec<Shadow>,
    pub(crate) verbatim: bool,
    pub(crate) request_timeout: Duration,
    pub(crate) interrupt_timeout: Duration,
    /// Arguments that were too long for the command line. The CLI may read them at any time.
    pub(crate) _files: Option<TempDir>,
    pub(crate) mirror: Option<Mirror>,
}

/// What it took to end a session.
pub use pilothouse_link::Closed;

impl Session {
    /// Sends a message. The turn that takes it in is read through the handle returned.
    ///
    /// Sending while a turn runs is fine: the CLI takes the message in at its next step or merges it into the next turn.
    ///
    /// # Errors
    /// When the session has ended.
    pub async fn send(&self, prompt: impl Into<Prompt>) -> Result<Turn, Error> {
        match self.send_prompt(prompt.into()) {
            Ok(turn) => Ok(turn),
            Err(sending) => sending.await,
        }
    }

    /// Nearly always a message is written at once; only what has to wait is a future.
    fn send_prompt(&self, prompt: Prompt) -> Result<Turn, BoxFuture<'_, Result<Turn, Error>>> {
        let pump = &self.shared.pump;
        // Known before it is written, so that not even the first frame about it can be missed.
        let key = pump.sent(prompt.uuid());
        let uuid = Some(prompt.uuid().into());
        let frame = prompt.into_frame(self.shared.verbatim, true);
        if self.shared.handle.try_send(&frame) {
            return Ok(Turn::new(Arc::clone(&self.shared), key, uuid));
        }
        let unsent = Unsent { pump, key };
        Err(Box::pin(async move {
            self.shared.handle.send(&frame).await?;
            std::mem::forget(unsent);
            Ok(Turn::new(Arc::clone(&self.shared), key, uuid))
        }))
    }

    /// The turn of a message that was written before there was a session.
    pub(crate) fn turn_of_sent(&self, uuid: &str) -> Turn {
        Turn::new(Arc::clone(&self.shared), self.shared.pump.was_sent(uuid), Some(uuid.into()))
    }

    /// Adds a message to the conversation without starting a turn.
    ///
    /// # Errors
    /// When the session has ended.
    pub async fn append(&self, prompt: impl Into<Prompt>) -> Result<(), Error> {
        self.send_frame(prompt.into().into_frame(self.shared.verbatim, false)).await
    }

    fn send_frame(&self, frame: HostFrame) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move { self.shared.handle.send(&frame).await.map_err(Error::from) })
    }

    /// Waits until every event that the CLI wrote before `request` can be read without waiting.
    ///
    /// Requests and events reach a host by different ways, so a handler may run before the reader of events has the message
    /// that the request is about. Returns at once when the session has ended. Cancel-safe.
    pub async fn events_before(&self, request: &crate::PermissionRequest) {
        self.shared.pump.sorted(request.after).await;
    }

    /// Waits until nothing runs and nothing is queued.
    ///
    /// # Errors
    /// When the session ends first.
    pub async fn idle(&self) -> Result<(), Error> {
        match self.try_ended() {
            Some(ended) => Err(Error::Ended(ended)),
            None => self.shared.pump.idle().await,
        }
    }

    /// Says that no more messages will come. The CLI finishes what is queued and exits.
    pub fn end_input(&self) {
        self.shared.handle.end_input();
    }

    /// Ends the session: end of input, then SIGTERM, then SIGKILL to the whole process group, each step with a limit.
    ///
    /// A session store has got everything when this returns.
    pub async fn close(&self) -> Closed {
        self.close_boxed().await
    }

    fn close_boxed(&self) -> BoxFuture<'_, Closed> {
        Box::pin(async {
            let closed = self.shared.handle.close().await;
            if let Some(mirror) = &self.shared.mirror {
                mirror.finished().await;
            }
            closed
        })
    }

    /// Waits until the session has ended on its own, and says why.
    pub async fn ended(&self) -> Arc<Ended> {
        self.ended_boxed().await
    }

    fn ended_boxed(&self) -> BoxFuture<'_, Arc<Ended>> {
        Box::pin(self.shared.handle.ended())
    }

    /// Why the session has ended, if it has.
    pub fn try_ended(&self) -> Option<Arc<Ended>> {
        self.shared.handle.try_ended()
    }

    /// The process id of the CLI, if this session started one.
    pub fn pid(&self) -> Option<u32> {
        self.shared.handle.pid()
    }

    /// The end of what the CLI has written to stderr so far.
    pub fn stderr_tail(&self) -> String {
        self.shared.handle.stderr_tail()
    }

    /// What the CLI said of itself at the handshake: commands, models, account.
    pub fn handshake(&self) -> &InitializeResponse {
        &self.shared.handshake
    }

    /// What the CLI said at the start of the newest turn that was read: session id, tools, model, mode.
    pub fn init(&self) -> Option<Init> {
        self.shared.pump.with_fold(crate::fold::Fold::init)
    }

    /// Cost and tokens up to the last result that was read.
    pub fn usage(&self) -> Usage {
        self.shared.pump.with_fold(crate::fold::Fold::usage)
    }

    /// Options that keep the permission handler from being asked.
    pub fn shadows(&self) -> &[Shadow] {
        &self.shared.shadows
    }
}

/// Takes a message back that was not written: because writing failed, or because its sender gave up waiting.
struct Unsent<'a> {
    pump: &'a Pump,
    key: SlotKey,
}

impl Drop for Unsent<'_> {
    fn drop(&mut self) {
        self.pump.unsent(self.key);
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("handle", &self.handle).finish_non_exhaustive()
    }
}
