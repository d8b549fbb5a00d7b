//! Where the CLI's own requests are answered.
//!
//! The desk runs on the task that reads the connection, so it waits for nothing: that would stop the reading, and with it
//! the reply that might be awaited. A handler that answers at once is done here; one that waits gets a task of its own.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use pilothouse_link::{Host, Inbound, Serve};
use pilothouse_mcp::{InProcessServer, ServerSet};
use pilothouse_proto::AgentRequest;
use pilothouse_proto::control::SdkMcpServerSettings;

use crate::boxed::BoxFuture;
use crate::dialog::{self, DialogRequest};
use crate::elicitation::{self, ElicitationRequest};
use crate::hook::{self, Hooks};
use crate::mcp;
use crate::panics::{contain, contain_future};
use crate::permission::PermissionRequest;

/// Answers one request of the CLI.
pub(crate) type Responder = pilothouse_link::Responder<Host>;

/// A handler of any kind, ready to be called from anywhere.
pub(crate) struct Callback<R, O = ()>(Arc<CallbackFn<R, O>>);

type CallbackFn<R, O> = dyn Fn(R) -> Pin<Box<dyn Future<Output = O> + Send>> + Send + Sync;

impl<R: 'static, O: 'static> Callback<R, O> {
    pub(crate) fn new(
        call: impl Fn(R) -> Pin<Box<dyn Future<Output = O> + Send>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(call))
    }

    pub(crate) fn call(&self, request: R) -> Pin<Box<dyn Future<Output = O> + Send>> {
        (self.0)(request)
    }
}

impl<R, O> Clone for Callback<R, O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<R, O> fmt::Debug for Callback<R, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("handler")
    }
}

/// Everything a host can register to be asked.
#[derive(Debug, Default, Clone)]
pub(crate) struct Handlers {
    pub(crate) permission: Option<Callback<PermissionRequest>>,
    pub(crate) hooks: Hooks,
    pub(crate) mcp: BTreeMap<String, InProcessServer>,
    /// What the CLI is told about them.
    pub(crate) mcp_settings: BTreeMap<String, SdkMcpServerSettings>,
    pub(crate) elicitation: Option<Callback<ElicitationRequest>>,
    pub(crate) dialogs: BTreeMap<String, Callback<DialogRequest>>,
}

/// Runs a handler: its first step here, because for most that is all there is, and the rest in a task. A handler that
/// panics drops its request, which answers it.
pub(crate) fn run(mut handler: BoxFuture<'static, ()>) {
    // Nothing needs to wake it: a task begins by polling.
    let mut cx = Context::from_waker(Waker::noop());
    match contain(|| handler.as_mut().poll(&mut cx)) {
        Ok(Poll::Ready(())) => {}
        Ok(Poll::Pending) => drop(tokio::spawn(async move {
            if let Err(text) = contain_future(|| handler).await {
                tracing::error!("a handler panicked: {text}");
            }
        })),
        Err(text) => tracing::error!("a handler panicked: {text}"),
    }
}

/// The handlers of one session.
#[derive(Debug)]
pub(crate) struct Desk {
    handlers: Handlers,
    servers: Arc<ServerSet>,
}

impl Desk {
    pub(crate) fn new(handlers: Handlers, servers: Arc<ServerSet>) -> Self {
        Self { handlers, servers }
    }
}

impl Serve<Host> for Desk {
    fn serve(&mut self, inbound: Inbound<Host>) {
        let Inbound { request, token, responder, after, .. } = inbound;
        match request {
            AgentRequest::CanUseTool(ask) => match &self.handlers.permission {
                Some(handler) => {
                    run(handler.call(PermissionRequest::new(ask, token, responder, after)));
                }
                None => responder.error("this host has no permission handler"),
            },
            AgentRequest::HookCallback(callback) => {
                hook::serve(&self.handlers.hooks, *callback, token, responder)
            }
            AgentRequest::McpMessage(message) => mcp::serve(&self.servers, message, token, responder),
            AgentRequest::Elicitation(ask) => {
                elicitation::serve(self.handlers.elicitation.as_ref(), ask, token, responder);
            }
            AgentRequest::RequestUserDialog(ask) => {
                dialog::serve(&self.handlers.dialogs, ask, token, responder)
            }
            AgentRequest::Unknown(call) if call.tag == "hook_callback" => {
                hook::fail_unreadable(&self.handlers.hooks, &call.fields, responder);
            }
            other => responder.error(format!("Unsupported control request subtype: {}", other.tag())),
        }
    }
}
