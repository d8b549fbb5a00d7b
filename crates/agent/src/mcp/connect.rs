//! Reaches a server, whatever it is, and learns what it offers.

use std::collections::{BTreeMap, HashMap};
use std::str::FromStr as _;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use pilothouse_mcp::rmcp::model::{Prompt, Tool};
use pilothouse_mcp::rmcp::service::{ClientInitializeError, Peer, RunningService};
use pilothouse_mcp::rmcp::transport::StreamableHttpClientTransport;
use pilothouse_mcp::rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use pilothouse_mcp::rmcp::{RoleClient, ServiceExt as _};
use pilothouse_proc::{Child, Spawn};
use pilothouse_proto::mcp::{McpHttpServer, McpServerConfig, McpSseServer, McpStdioServer};
use tokio::sync::oneshot;

use crate::mcp::bounded::{Bounded, CutOff};
use crate::mcp::config::Configured;
use crate::mcp::handler::Handler;
use crate::mcp::in_process::{ControlChannel, Inbox};
use crate::mcp::manifest::Manifest;
use crate::mcp::sse::EventChannel;

/// How often the handshake with a server in the host is tried.
const TRIES_IN_PROCESS: usize = 2;

/// How long a program that failed gets to be gone.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A server that answers. Dropping it ends the connection, and the program behind it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) offer: Offer,
    /// For a server in the host: where the host's own messages go.
    pub(crate) inbox: Option<Inbox>,
    /// Whether the server was cut off for sending too much at once.
    pub(crate) cut_off: CutOff,
    _service: RunningService<RoleClient, Handler>,
    _child: Option<Child>,
}

/// What a server says of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offer {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) instructions: Option<String>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) prompts: Vec<Prompt>,
    /// Whether there is something to read.
    pub(crate) has_resources: bool,
}

/// Connects, within `patience` for each try. A manifest serves the first try only.
pub(crate) async fn connect(
    server: &Configured,
    handler: Handler,
    mut manifest: Option<Manifest>,
    patience: Duration,
    started: oneshot::Sender<()>,
) -> Result<Connection, String> {
    let late = || format!("no answer within {} s", patience.as_secs());
    match &server.config {
        McpServerConfig::Sdk(_) => {
            let mut started = started;
            let mut failure = String::new();
            for _ in 0..TRIES_IN_PROCESS {
                let name = server.name.clone();
                let (channel, inbox) =
                    ControlChannel::open(handler.host.clone(), name, manifest.take(), started);
                match tokio::time::timeout(
                    patience,
                    serve(handler.clone(), channel, None, Some(inbox), CutOff::default()),
                )
                .await
                {
                    Ok(Ok(connection)) => return Ok(connection),
                    Ok(Err(error)) => failure = error,
                    Err(_) => failure = late(),
                }
                started = oneshot::channel().0;
            }
            Err(failure)
        }
        McpServerConfig::Stdio(program) | McpServerConfig::Untyped(program) => {
            tokio::time::timeout(patience, stdio(program, handler)).await.unwrap_or_else(|_| Err(late()))
        }
        McpServerConfig::Http(service) => {
            tokio::time::timeout(patience, http(service, handler)).await.unwrap_or_else(|_| Err(late()))
        }
        McpServerConfig::Sse(service) => {
            tokio::time::timeout(patience, sse(service, handler)).await.unwrap_or_else(|_| Err(late()))
        }
        _ => Err("a server of a type that is not known here".to_owned()),
    }
}

async fn stdio(program: &McpStdioServer, handler: Handler) -> Result<Connection, String> {
    let mut spawn = Spawn::new(&program.command).cwd(&handler.cwd).env_clear();
    for (name, value) in handler.env.iter() {
        spawn = spawn.env(name, value);
    }
    spawn = spawn.args(program.args.as_ref().into_iter().flatten());
    for (name, value) in program.env.as_ref().into_iter().flatten() {
        spawn = spawn.env(name, value);
    }
    let mut child = spawn.start().await.map_err(|error| error.to_string())?;
    let stderr = child.stderr();
    let (Some(stdout), Some(stdin)) = (child.take_stdout(), child.take_stdin()) else {
        return Err("the program has no pipes".to_owned());
    };
    let cut_off = CutOff::default();
    let transport = (Bounded::new(stdout, cut_off.clone()), stdin);
    let exited = child.watch_exit();
    match serve(handler, transport, Some(child), None, cut_off).await {
        Ok(connection) => Ok(connection),
        Err(error) => {
            // What a program says on stderr before it goes is often all there is to know, and is read when it has gone.
            let _ = tokio::time::timeout(LAST_WORDS, exited).await;
            let said = stderr.text();
            Err(if said.trim().is_empty() { error } else { format!("{error}\n{}", said.trim_end()) })
        }
    }
}

async fn http(service: &McpHttpServer, handler: Handler) -> Result<Connection, String> {
    // Another part of the program may have chosen already, and then that holds.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let headers: HashMap<HeaderName, HeaderValue> = headers(service.headers.as_ref())?;
    if service.url.is_empty() {
        return Err("there is no url".to_owned());
    }
    let config = StreamableHttpClientTransportConfig::with_uri(service.url.as_str()).custom_headers(headers);
    serve(handler, StreamableHttpClientTransport::from_config(config), None, None, CutOff::default()).await
}

async fn sse(service: &McpSseServer, handler: Handler) -> Result<Connection, String> {
    let cut_off = CutOff::default();
    let channel =
        EventChannel::open(&service.url, headers(service.headers.as_ref())?, cut_off.clone()).await?;
    serve(handler, channel, None, None, cut_off).await
}

fn headers<H>(configured: Option<&BTreeMap<String, String>>) -> Result<H, String>
where
    H: FromIterator<(HeaderName, HeaderValue)>,
{
    let header = |(name, value): (&String, &String)| {
        let name = HeaderName::from_str(name).map_err(|_| format!("{name:?} is no name of a header"))?;
        let value = HeaderValue::from_str(value).map_err(|_| format!("the header {name} has a bad value"))?;
        Ok((name, value))
    };
    configured.into_iter().flatten().map(header).collect()
}

/// Why a connection did not come about, without the names of types.
fn words(error: ClientInitializeError) -> String {
    let cause: &dyn std::error::Error = match &error {
        ClientInitializeError::TransportError { error, .. } => &*error.error,
        ClientInitializeError::JsonRpcError(error) => return error.message.to_string(),
        other => other,
    };
    let chain = std::iter::successors(Some(cause), |error| error.source());
    let mut texts: Vec<String> = chain.map(ToString::to_string).collect();
    texts.dedup();
    texts.join(": ")
}

async fn serve<T, E, A>(
    handler: Handler,
    transport: T,
    child: Option<Child>,
    inbox: Option<Inbox>,
    cut_off: CutOff,
) -> Result<Connection, String>
where
    T: pilothouse_mcp::rmcp::transport::IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let in_process = handler.in_process;
    let service = handler.serve(transport).await.map_err(words)?;
    let peer = service.peer().clone();
    let info = peer.peer_info();
    let mut offer = Offer::default();
    if let Some(info) = &info {
        if let Some(server) = &info.server_info {
            offer.name = server.name.clone();
            offer.version = server.version.clone();
        }
        offer.instructions = info.instructions.clone();
    }
    let capabilities = info.as_ref().map(|info| info.capabilities.clone()).unwrap_or_default();
    offer.has_resources = capabilities.resources.is_some();
    if in_process || capabilities.tools.is_some() {
        offer.tools = peer.list_all_tools().await.map_err(|error| error.to_string())?;
    }
    if !in_process && capabilities.prompts.is_some() {
        // A server whose prompts cannot be had is still good for its tools.
        offer.prompts = peer.list_all_prompts().await.unwrap_or_default();
    }
    Ok(Connection { peer, offer, inbox, cut_off, _service: service, _child: child })
}
