//! A server inside the host: each message is a control request, and its reply is in the answer.

use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use pilothouse_link::{Agent, Handle, RequestError};
use pilothouse_mcp::rmcp::RoleClient;
use pilothouse_mcp::rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, JsonRpcMessage, ProtocolVersion,
    ServerJsonRpcMessage,
};
use pilothouse_mcp::rmcp::transport::Transport;
use pilothouse_proto::Raw;
use pilothouse_proto::control::McpMessage;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::mcp::manifest::Manifest;
use crate::unwind::caught;

/// How long a host may take to acknowledge the end of the handshake before the first request follows anyway.
const ACKNOWLEDGEMENT: Duration = Duration::from_secs(30);

/// rmcp's end of the way to a server in the host.
#[derive(Debug)]
pub(crate) struct ControlChannel {
    outbox: mpsc::UnboundedSender<ClientJsonRpcMessage>,
    inbox: mpsc::UnboundedReceiver<ServerJsonRpcMessage>,
}

/// What the host's own messages to the client go into.
pub(crate) type Inbox = mpsc::UnboundedSender<ServerJsonRpcMessage>;

/// The connection to the host is gone.
#[derive(Debug, thiserror::Error)]
#[error("the host is gone")]
pub(crate) struct Gone;

impl ControlChannel {
    /// Opens the way to a server. `started` is told when the first message has been sent, or answered from the manifest.
    pub(crate) fn open(
        host: Handle<Agent>,
        server: String,
        manifest: Option<Manifest>,
        started: oneshot::Sender<()>,
    ) -> (Self, Inbox) {
        // Unbounded: what goes in was asked for by this side, or is read from a connection that has bounds of its own.
        let (outbox, outgoing) = mpsc::unbounded_channel();
        let (to_client, inbox) = mpsc::unbounded_channel();
        tokio::spawn(pump(host, server, manifest, outgoing, to_client.clone(), started));
        (Self { outbox, inbox }, to_client)
    }
}

impl Transport<RoleClient> for ControlChannel {
    type Error = Gone;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        std::future::ready(self.outbox.send(message).map_err(|_| Gone))
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.inbox.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inbox.close();
        Ok(())
    }
}

/// Sends messages in their order, and hands each answer to the client when it comes.
///
/// An exchange goes on when nobody waits for it any more: MCP has its own way to withdraw a request.
async fn pump(
    host: Handle<Agent>,
    server: String,
    mut manifest: Option<Manifest>,
    mut outgoing: mpsc::UnboundedReceiver<ClientJsonRpcMessage>,
    inbox: Inbox,
    started: oneshot::Sender<()>,
) {
    let mut started = Some(started);
    while let Some(message) = outgoing.recv().await {
        if let Some(answer) = manifest.as_mut().and_then(|manifest| manifest.answer(&message)) {
            if let Some(started) = started.take() {
                started.send(()).ok();
            }
            hand_over(answer, &inbox);
            continue;
        }
        let ends_handshake = is_initialized(&message);
        let mut exchange = Box::pin(answered(host.clone(), server.clone(), message));
        // The first poll sends it; only then is it the next message's turn.
        let mut answer = poll_once(&mut exchange).await;
        if ends_handshake && answer.is_pending() {
            // A host answers every message; one that has not taken in this one is not ready for requests.
            let waited = tokio::time::timeout(ACKNOWLEDGEMENT, &mut exchange).await;
            answer = waited.map_or(Poll::Pending, Poll::Ready);
        }
        if let Some(started) = started.take() {
            // Nobody may wait for it.
            started.send(()).ok();
        }
        let inbox = inbox.clone();
        match answer {
            Poll::Ready(answer) => hand_over(answer, &inbox),
            Poll::Pending => drop(tokio::spawn(async move { hand_over(exchange.await, &inbox) })),
        }
    }
}

/// A client that is gone has no use for an answer.
fn hand_over(answer: Option<ServerJsonRpcMessage>, inbox: &Inbox) {
    if let Some(answer) = answer {
        inbox.send(answer).ok();
    }
}

async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
}

/// One exchange; one that panics is an error for the client, which waits for an answer.
async fn answered(
    host: Handle<Agent>,
    server: String,
    message: ClientJsonRpcMessage,
) -> Option<ServerJsonRpcMessage> {
    let id = match &message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    };
    caught(exchange(host, server, message)).await.unwrap_or_else(|panic| {
        let text = format!("the exchange broke down inside the agent: {panic}");
        Some(JsonRpcMessage::error(ErrorData::internal_error(text, None), Some(id?)))
    })
}

/// One message and what the host makes of it. `None`: nothing for the client.
async fn exchange(
    host: Handle<Agent>,
    server: String,
    message: ClientJsonRpcMessage,
) -> Option<ServerJsonRpcMessage> {
    let id = match &message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    };
    let is_initialize = matches!(&message, JsonRpcMessage::Request(request)
        if matches!(request.request, ClientRequest::InitializeRequest(_)));
    let message = Raw::of(&as_a_cli_writes_it(&message)?).ok()?;
    let request = McpMessage { server_name: server, message, extra: Default::default() };
    let reply = host.ask("mcp_message", request.into(), None).await;
    let id = id?;
    let failed =
        |text: String| Some(JsonRpcMessage::error(ErrorData::internal_error(text, None), Some(id.clone())));
    let payload: Value = match reply {
        Ok(reply) => reply.response.as_ref().and_then(|payload| serde_json::from_str(payload.get()).ok())?,
        Err(RequestError::Refused { message, .. }) => return failed(message),
        Err(error) => return failed(error.to_string()),
    };
    // Without the wrapper there is no answer: the client waits until its patience ends.
    let answer = payload.get("mcp_response")?.clone();
    if is_initialize && !speaks_known_version(&answer) {
        return failed("the server speaks a version of MCP that is not known here".to_owned());
    }
    match serde_json::from_value::<ServerJsonRpcMessage>(answer) {
        Ok(answer) => Some(answer),
        Err(error) => failed(format!("the server's answer is no MCP message: {error}")),
    }
}

/// rmcp asks for progress with every request; only for calls is that of use.
fn as_a_cli_writes_it(message: &ClientJsonRpcMessage) -> Option<Value> {
    let mut value = serde_json::to_value(message).ok()?;
    if let Some(message) = value.as_object_mut()
        && message.get("method").and_then(Value::as_str) != Some("tools/call")
        && let Some(params) = message.get_mut("params").and_then(Value::as_object_mut)
    {
        params.shift_remove("_meta");
        if params.is_empty() {
            message.shift_remove("params");
        }
    }
    Some(value)
}

fn is_initialized(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Notification(notification)
        if matches!(notification.notification, ClientNotification::InitializedNotification(_)))
}

/// An error, or a result of a version there is.
fn speaks_known_version(answer: &Value) -> bool {
    let version =
        answer.get("result").and_then(|result| result.get("protocolVersion")).and_then(Value::as_str);
    version
        .is_none_or(|version| ProtocolVersion::KNOWN_VERSIONS.iter().any(|known| known.as_str() == version))
}
