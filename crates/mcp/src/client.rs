//! The way from a server to the client that called it: notifications and requests of the server's own.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::Stream;
use rmcp::model::{ErrorData, RequestId, ServerNotification, ServerRequest, ToolListChangedNotification};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use crate::json_rpc;

/// The client of a server, as the server sees it. Cheap to clone, usable from anywhere.
///
/// ```
/// use pilothouse_mcp::{NoInput, Server, ToolContext};
///
/// Server::new("build").tool("compile", "Compiles the project", |_: NoInput, context: ToolContext| async move {
///     // A client that is gone is no reason to stop.
///     context.progress(0.5, Some(1.0), "half way").ok();
///     "done"
/// });
/// ```
#[derive(Clone, Debug, Default)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Unbounded, because a tool must not stall on a host that is slow to read; what is in it was made by the host's own code.
    outbound: Mutex<Option<mpsc::UnboundedSender<Box<RawValue>>>>,
    asked: Mutex<HashMap<RequestId, oneshot::Sender<Answer>>>,
    last_id: AtomicI64,
}

type Answer = Result<Box<RawValue>, ErrorData>;

/// Nobody takes this server's messages to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the MCP server is not connected to a client")]
pub struct NotConnected;

/// Why a request of a server to its client has no result.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// There is no client, or it went away before it answered.
    #[error(transparent)]
    NotConnected(#[from] NotConnected),
    /// The client answered with an error.
    #[error("the MCP client refused: {} (code {})", .0.message, .0.code.0)]
    Refused(ErrorData),
}

impl Client {
    /// Sends a notification.
    pub fn notify(&self, notification: impl Into<ServerNotification>) -> Result<(), NotConnected> {
        self.send(None, &notification.into())
    }

    /// Tells the client to list the tools again.
    pub fn tools_changed(&self) -> Result<(), NotConnected> {
        self.notify(ToolListChangedNotification::default())
    }

    /// Sends a request and waits for the result, which stays as JSON: only the caller knows its type.
    pub async fn ask(&self, request: impl Into<ServerRequest>) -> Result<Box<RawValue>, AskError> {
        let id = RequestId::Number(self.shared.last_id.fetch_add(1, Ordering::Relaxed));
        let (answer, answered) = oneshot::channel();
        self.asked().insert(id.clone(), answer);
        let _forget = Forget { client: self, id: &id };
        self.send(Some(&id), &request.into())?;
        answered.await.map_err(|_| NotConnected)?.map_err(AskError::Refused)
    }

    /// Opens the way out, in place of an earlier one.
    pub(crate) fn connect(&self) -> Outbound {
        let (sender, receiver) = mpsc::unbounded_channel();
        *self.shared.outbound.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        Outbound { receiver }
    }

    pub(crate) fn send_raw(&self, message: Box<RawValue>) -> Result<(), NotConnected> {
        let outbound = self.shared.outbound.lock().unwrap_or_else(PoisonError::into_inner);
        outbound.as_ref().ok_or(NotConnected)?.send(message).map_err(|_| NotConnected)
    }

    /// Hands the client's answer to whoever asked; an answer to nothing is ignored.
    pub(crate) fn answered(&self, id: &RequestId, outcome: Result<&RawValue, &RawValue>) {
        let Some(asker) = self.asked().remove(id) else { return };
        let answer = outcome.map(RawValue::to_owned).map_err(|error| {
            serde_json::from_str(error.get())
                .unwrap_or_else(|_| ErrorData::internal_error(error.get().to_owned(), None))
        });
        // The asker may have stopped waiting.
        asker.send(answer).ok();
    }

    fn send(&self, id: Option<&RequestId>, body: &impl Serialize) -> Result<(), NotConnected> {
        // rmcp's messages are made of strings, numbers and `Value`s: writing those cannot fail.
        self.send_raw(json_rpc::outgoing(id, body).map_err(|_| NotConnected)?)
    }

    fn asked(&self) -> MutexGuard<'_, HashMap<RequestId, oneshot::Sender<Answer>>> {
        self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes an unanswered request off the list when its asker stops waiting.
struct Forget<'a> {
    client: &'a Client,
    id: &'a RequestId,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.client.asked().remove(self.id);
    }
}

/// The messages of a server to its client, in order. The host sends each as an `mcp_message` request.
#[derive(Debug)]
pub struct Outbound {
    receiver: mpsc::UnboundedReceiver<Box<RawValue>>,
}

impl Outbound {
    /// The next message; `None` once the server is gone or connected anew. Cancel safe.
    pub async fn next(&mut self) -> Option<Box<RawValue>> {
        self.receiver.recv().await
    }
}

impl Stream for Outbound {
    type Item = Box<RawValue>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.receiver.poll_recv(cx)
    }
}
