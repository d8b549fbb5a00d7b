//! Somebody's `ServerHandler`, served by rmcp's own loop over a pair of channels.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::{FutureExt, Sink, Stream};
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientRequest, ErrorData,
    Implementation, InitializeRequest, InitializeRequestParams, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, Service, serve_directly_with_ct};
use rmcp::{RoleServer, ServerHandler};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::client::Client;
use crate::in_process::Cancel;
use crate::json_rpc::{self, Incoming, REQUEST_CANCELLED};
use crate::outcome::error_result;
use crate::tool::panic_text;

/// One connection to a handler. The loop starts with the first message and anew with every further handshake.
pub(crate) struct ServiceLoop {
    start: Arc<dyn Fn(&Client) -> Running + Send + Sync>,
    running: Mutex<Option<Running>>,
}

/// A loop that runs; dropping it stops the loop.
struct Running {
    inbox: mpsc::UnboundedSender<ClientJsonRpcMessage>,
    waiting: Waiting,
    initialized: bool,
    _stop: DropGuard,
}

/// Requests that the loop has yet to answer. A loop that ends drops the senders, which tells those who wait.
#[derive(Clone, Default)]
struct Waiting(Arc<Mutex<HashMap<RequestId, oneshot::Sender<Box<RawValue>>>>>);

impl ServiceLoop {
    pub(crate) fn new(handler: impl ServerHandler) -> Self {
        let handler = Arc::new(handler);
        Self {
            start: Arc::new(move |client| Running::start(Guarded(Arc::clone(&handler)), client)),
            running: Mutex::new(None),
        }
    }

    pub(crate) fn fresh(&self) -> Self {
        Self { start: Arc::clone(&self.start), running: Mutex::new(None) }
    }

    pub(crate) async fn handle(
        &self,
        message: &RawValue,
        client: &Client,
        cancel: impl Cancel,
    ) -> Option<Box<RawValue>> {
        let incoming = match Incoming::read(message) {
            Ok(incoming) => incoming,
            Err(reply) => return Some(reply),
        };
        let typed = match &incoming {
            Incoming::Request { id, method, params } if method == "initialize" => initialize(id, *params),
            _ => match serde_json::from_str(message.get()) {
                Ok(typed) => typed,
                Err(error) => {
                    let id = if let Incoming::Request { id, .. } = &incoming { Some(id) } else { None };
                    let text = format!("not an MCP message: {error}");
                    return Some(json_rpc::failure(id, &ErrorData::invalid_params(text, None)));
                }
            },
        };
        let Incoming::Request { id, method, .. } = incoming else {
            self.pass_on(typed, client);
            return Some(json_rpc::acknowledgement());
        };
        let answered = match self.ask(id.clone(), method == "initialize", typed, client) {
            Ok(answered) => answered,
            Err(reply) => return Some(reply),
        };
        tokio::select! {
            biased;
            reply = answered => Some(reply.unwrap_or_else(|_| {
                let text = "the MCP server has ended, it starts again with the next handshake";
                json_rpc::failure(Some(&id), &ErrorData::internal_error(text, None))
            })),
            () = cancel.cancelled() => {
                let withdrawn = CancelledNotificationParam::new(Some(id), None);
                self.pass_on(JsonRpcMessage::notification(CancelledNotification::new(withdrawn).into()), client);
                None
            }
        }
    }

    /// Hands a request to the loop, which is started if it is not running.
    fn ask(
        &self,
        id: RequestId,
        is_handshake: bool,
        message: ClientJsonRpcMessage,
        client: &Client,
    ) -> Result<oneshot::Receiver<Box<RawValue>>, Box<RawValue>> {
        let mut running = self.running();
        if is_handshake
            && running.as_ref().is_some_and(|running| running.initialized || running.inbox.is_closed())
        {
            *running = None;
        }
        let running = running.get_or_insert_with(|| (self.start)(client));
        running.initialized |= is_handshake;
        let (answer, answered) = oneshot::channel();
        {
            let mut waiting = running.waiting.lock();
            if waiting.contains_key(&id) {
                let text = format!("a request with id {id} is still being worked on");
                return Err(json_rpc::failure(Some(&id), &ErrorData::invalid_request(text, None)));
            }
            waiting.insert(id.clone(), answer);
        }
        if running.inbox.send(message).is_err() {
            // Dropping the sender of the answer tells the caller.
            running.waiting.lock().remove(&id);
        }
        Ok(answered)
    }

    /// Hands a notification or a response to the loop.
    fn pass_on(&self, message: ClientJsonRpcMessage, client: &Client) {
        let mut running = self.running();
        let running = running.get_or_insert_with(|| (self.start)(client));
        // rmcp answers nothing to a withdrawn request, but its control request is still open.
        if let JsonRpcMessage::Notification(notification) = &message
            && let rmcp::model::ClientNotification::CancelledNotification(cancelled) =
                &notification.notification
            && let Some(id) = &cancelled.params.request_id
            && let Some(answer) = running.waiting.lock().remove(id)
        {
            let error = ErrorData::new(REQUEST_CANCELLED, "the request was cancelled", None);
            answer.send(json_rpc::failure(Some(id), &error)).ok();
        }
        // A loop that has ended has nobody to tell.
        running.inbox.send(message).ok();
    }

    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ServiceLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceLoop").field("running", &self.running().is_some()).finish_non_exhaustive()
    }
}

impl Running {
    fn start<H: ServerHandler>(handler: Guarded<H>, client: &Client) -> Self {
        // Unbounded: what is in it are requests the CLI waits on, so the CLI bounds it.
        let (inbox, messages) = mpsc::unbounded_channel();
        let waiting = Waiting::default();
        let stop = CancellationToken::new();
        let transport = (Replies { waiting: waiting.clone(), client: client.clone() }, Messages(messages));
        let service = serve_directly_with_ct(handler, transport, None, stop.clone());
        let abandoned = waiting.clone();
        tokio::spawn(async move {
            // How the loop ended makes no difference to those who wait on it.
            service.waiting().await.ok();
            abandoned.lock().clear();
        });
        Self { inbox, waiting, initialized: false, _stop: stop.drop_guard() }
    }
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, oneshot::Sender<Box<RawValue>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, id: &RequestId, reply: Box<RawValue>) {
        if let Some(answer) = self.lock().remove(id) {
            // The host may have stopped waiting.
            answer.send(reply).ok();
        }
    }
}

/// Makes the handshake request member by member: rmcp takes one with a member missing for a method it does not know.
fn initialize(id: &RequestId, params: Option<&RawValue>) -> ClientJsonRpcMessage {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Params {
        protocol_version: Option<serde_json::Value>,
        capabilities: Option<serde_json::Value>,
        client_info: Option<serde_json::Value>,
    }
    fn member<T: for<'de> Deserialize<'de>>(value: Option<serde_json::Value>) -> Option<T> {
        value.and_then(|value| serde_json::from_value(value).ok())
    }
    let params: Params = json_rpc::params(params).unwrap_or_default();
    let params = InitializeRequestParams::new(
        member(params.capabilities).unwrap_or_default(),
        member(params.client_info).unwrap_or_else(|| Implementation::new("unknown", "0.0.0")),
    )
    .with_protocol_version(
        member(params.protocol_version).unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE),
    );
    JsonRpcMessage::request(ClientRequest::InitializeRequest(InitializeRequest::new(params)), id.clone())
}

/// The loop's way in.
struct Messages(mpsc::UnboundedReceiver<ClientJsonRpcMessage>);

impl Stream for Messages {
    type Item = ClientJsonRpcMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx)
    }
}

/// The loop's way out: replies to those who wait, everything else to the client.
struct Replies {
    waiting: Waiting,
    client: Client,
}

impl Sink<ServerJsonRpcMessage> for Replies {
    type Error = Infallible;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(self: Pin<&mut Self>, message: ServerJsonRpcMessage) -> Result<(), Infallible> {
        match &message {
            JsonRpcMessage::Response(response) => {
                self.waiting.answer(&response.id, json_rpc::success(&response.id, &response.result));
            }
            JsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.waiting.answer(id, json_rpc::failure(Some(id), &error.error));
                }
            }
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {
                if let Ok(message) = to_raw_value(&message) {
                    // Without a client there is nobody to tell; a request then waits for the handler's own timeout.
                    self.client.send_raw(message).ok();
                }
            }
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
}

/// A handler whose panics become answers: rmcp's loop would leave such a request open for ever.
struct Guarded<H>(Arc<H>);

impl<H: ServerHandler> Service<RoleServer> for Guarded<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let tool = match &request {
            ClientRequest::CallToolRequest(call) => Some(call.params.name.clone()),
            _ => None,
        };
        let answer =
            AssertUnwindSafe(Service::handle_request(&*self.0, request, context)).catch_unwind().await;
        answer.unwrap_or_else(|cause| {
            let cause = panic_text(&*cause);
            match tool {
                Some(tool) => {
                    Ok(ServerResult::CallToolResult(error_result(format!("tool {tool} panicked: {cause}"))))
                }
                None => Err(ErrorData::internal_error(format!("the MCP server panicked: {cause}"), None)),
            }
        })
    }

    async fn handle_notification(
        &self,
        notification: rmcp::model::ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&*self.0, notification, context).await
    }

    fn get_info(&self) -> rmcp::model::ServerConfig {
        Service::get_info(&*self.0)
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&*self.0)
    }
}
