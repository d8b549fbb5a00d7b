//! A server in this process, as its host sees it.

use std::ops::Deref;
use std::sync::Arc;

use rmcp::ServerHandler;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::built::BuiltServer;
use crate::client::{Client, Outbound};
use crate::manifest::{self, Manifest, ManifestError};
use crate::service_loop::ServiceLoop;

/// Whatever gives a [`CancellationToken`]: a reference to one, or something that makes it when it is first wanted.
pub trait Cancel: Deref<Target = CancellationToken> + Send + Sync {}

impl<C: Deref<Target = CancellationToken> + Send + Sync> Cancel for C {}

/// An MCP server in this process: one JSON-RPC message in, at most one out.
///
/// It stands for one connection. Clones share it; [`fresh`](Self::fresh) gives another connection to the same server.
#[derive(Clone, Debug)]
pub struct InProcessServer {
    name: Arc<str>,
    engine: Engine,
    client: Client,
}

#[derive(Clone, Debug)]
enum Engine {
    /// Made by our builder: dispatched in place.
    Built(Arc<BuiltServer>),
    /// Somebody's `ServerHandler`: served by rmcp.
    Handler(Arc<ServiceLoop>),
}

impl InProcessServer {
    /// Serves any rmcp handler under `name`.
    ///
    /// ```
    /// use pilothouse_mcp::InProcessServer;
    /// use pilothouse_mcp::rmcp::ServerHandler;
    ///
    /// struct Mine;
    /// impl ServerHandler for Mine {}
    ///
    /// let server = InProcessServer::new("mine", Mine);
    /// assert_eq!(server.name(), "mine");
    /// ```
    pub fn new(name: impl Into<String>, handler: impl ServerHandler) -> Self {
        let engine = Engine::Handler(Arc::new(ServiceLoop::new(handler)));
        Self { name: name.into().into(), engine, client: Client::default() }
    }

    pub(crate) fn built(server: BuiltServer) -> Self {
        Self {
            name: server.name().into(),
            engine: Engine::Built(Arc::new(server)),
            client: Client::default(),
        }
    }

    /// The name that the server is registered under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Another connection to the same server, for another session.
    pub fn fresh(&self) -> Self {
        let engine = match &self.engine {
            Engine::Built(server) => Engine::Built(Arc::new(server.fresh())),
            Engine::Handler(service) => Engine::Handler(Arc::new(service.fresh())),
        };
        Self { name: Arc::clone(&self.name), engine, client: Client::default() }
    }

    /// Opens the way for messages of the server's own; they are dropped while nobody has it open.
    ///
    /// A second call closes what the first one gave.
    pub fn connect(&self) -> Outbound {
        self.client.connect()
    }

    /// The client as the server sees it: to notify it from outside a tool call.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Handles one JSON-RPC message.
    ///
    /// Every message has a reply, because the control channel wants one: notifications and responses are acknowledged
    /// with an empty result. Only when `cancel` fires there is none. Calls may run side by side; a request that the
    /// client withdraws with `notifications/cancelled` is answered with an error. Needs a tokio runtime.
    pub async fn handle(&self, message: &RawValue, cancel: impl Cancel) -> Option<Box<RawValue>> {
        match &self.engine {
            Engine::Built(server) => server.handle(message, &self.client, cancel).await,
            Engine::Handler(service) => service.handle(message, &self.client, cancel).await,
        }
    }

    /// What the server would answer to the handshake, asked on a connection of its own.
    pub async fn manifest(&self) -> Result<Manifest, ManifestError> {
        manifest::manifest(self).await
    }
}
