//! One connected client: what it says is carried out, what it follows is sent to it. Knows nothing of sockets.

mod deliver;
mod dispatch;
mod scopes;

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;

use crate::api::{AgentInfo, Reply, RequestId, Seq, SessionId};
use crate::auth::{Device, Roots};
use crate::session::{Hub, Outbox, Viewing};
use crate::ws;

/// Where frames go that are meant for the client.
pub trait Sink: Send {
    /// Sends a frame, or several that stand one after the other; or gathers them to be sent with others.
    fn send(&mut self, frame: Bytes) -> impl Future<Output = Result<(), Gone>> + Send;
}

/// The client is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the client is gone")]
pub struct Gone;

/// One connected client.
///
/// Feed it what the client says with [`Client::handle`], and what its outbox holds with [`Client::deliver`]. A client is
/// sent each event of a session that it follows exactly once and in order, however slow it reads.
#[derive(Debug)]
pub struct Client {
    hub: Hub,
    device: Device,
    roots: Roots,
    agent: Option<Arc<AgentInfo>>,
    /// The longest message that it may send, if it is told.
    message_bytes: Option<usize>,
    outbox: Arc<Outbox>,
    /// Whether it has said `hello`.
    extended: bool,
    /// The session that a message without a session means.
    addressed: Option<SessionId>,
    /// While somebody looks at it.
    viewing: Option<Viewing>,
    /// Whether it is told of changes in the list of sessions.
    watching: bool,
    /// The newest position that was sent, for each session it follows.
    sent: HashMap<SessionId, Seq>,
}

impl Client {
    /// A client that has just connected.
    pub fn new(hub: Hub, device: Device, roots: Roots) -> Self {
        Self {
            hub,
            device,
            roots,
            agent: None,
            message_bytes: None,
            outbox: Arc::default(),
            extended: false,
            addressed: None,
            viewing: None,
            watching: false,
            sent: HashMap::new(),
        }
    }

    /// Lets the client know which agent runs.
    #[must_use]
    pub fn told_of(mut self, agent: Option<Arc<AgentInfo>>) -> Self {
        self.agent = agent;
        self
    }

    /// Lets the client know how long a message may be.
    #[must_use]
    pub fn limited_to(mut self, message_bytes: usize) -> Self {
        self.message_bytes = Some(message_bytes);
        self
    }

    /// Where events for this client wait.
    pub fn outbox(&self) -> Arc<Outbox> {
        Arc::clone(&self.outbox)
    }

    /// Nobody looks at this client any more; tells whether somebody was taken to.
    pub(crate) fn stop_viewing(&mut self) -> bool {
        self.viewing.take().is_some()
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    async fn reply(
        &self,
        reply: impl Into<Reply>,
        request_id: Option<&RequestId>,
        sink: &mut impl Sink,
    ) -> Result<(), Gone> {
        let reply = reply.into();
        if !self.extended && !reply.is_original() {
            return Ok(());
        }
        sink.send(ws::text_frame(&reply.encode(request_id))).await
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if self.watching {
            self.hub.board().leave(&self.outbox);
        }
        for session_id in self.sent.keys() {
            if let Ok(channel) = self.hub.channel(session_id) {
                channel.leave(&self.outbox);
            }
        }
    }
}
