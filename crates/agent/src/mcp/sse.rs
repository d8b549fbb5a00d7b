//! Servers behind server-sent events: the older way of MCP over HTTP, in which one stream brings all answers and each
//! message of the client is a request of its own.

use std::time::Duration;

use eventsource_stream::Eventsource as _;
use futures_util::StreamExt as _;
use http::HeaderMap;
use pilothouse_mcp::rmcp::RoleClient;
use pilothouse_mcp::rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use pilothouse_mcp::rmcp::transport::Transport;
use reqwest::{Client, Response, Url};
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use crate::mcp::bounded::{CutOff, End, Meter};

/// How many messages of a server may wait to be read before it has to wait itself.
const BACKLOG: usize = 64;
/// How long a server may take to accept one message.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a server may send the client elsewhere.
const MOST_REDIRECTS: usize = 5;

/// rmcp's end of the way to such a server.
#[derive(Debug)]
pub(crate) struct EventChannel {
    client: Client,
    /// Where messages are posted.
    endpoint: Url,
    headers: HeaderMap,
    inbox: mpsc::Receiver<ServerJsonRpcMessage>,
    _reader: AbortOnDropHandle<()>,
}

/// A message did not reach the server.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NotSent(String);

impl EventChannel {
    /// Opens the stream and learns where messages go.
    ///
    /// # Errors
    /// Why there is no such server, in words.
    pub(crate) async fn open(url: &str, headers: HeaderMap, cut_off: CutOff) -> Result<Self, String> {
        let url = Url::parse(url).map_err(|error| format!("{url:?} is no URL: {error}"))?;
        let client = client()?;
        let asked =
            client.get(url.clone()).headers(headers.clone()).header("accept", "text/event-stream").send();
        let response = asked.await.map_err(|error| words(&error))?;
        if !response.status().is_success() {
            return Err(format!("the server answered {}", response.status()));
        }
        let kind =
            response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("text/event-stream") {
            return Err(format!("the server sends no events but {kind:?}"));
        }
        let base = response.url().clone();
        let (to_client, inbox) = mpsc::channel(BACKLOG);
        let (told, endpoint) = oneshot::channel();
        let reader = AbortOnDropHandle::new(tokio::spawn(read(response, told, to_client, cut_off)));
        let named = endpoint.await.map_err(|_| "the server did not say where messages go".to_owned())?;
        let endpoint =
            base.join(&named).map_err(|error| format!("{named:?} is no place for messages: {error}"))?;
        if endpoint.origin() != base.origin() {
            // What the configuration says about one server, keys included, is not for another.
            return Err(format!(
                "the server wants messages sent to another one, {}",
                endpoint.origin().ascii_serialization()
            ));
        }
        Ok(Self { client, endpoint, headers, inbox, _reader: reader })
    }
}

impl Transport<RoleClient> for EventChannel {
    type Error = NotSent;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let post = self.client.post(self.endpoint.clone()).headers(self.headers.clone());
        async move {
            let body = serde_json::to_vec(&message).map_err(|error| NotSent(error.to_string()))?;
            let sent = post.header("content-type", "application/json").body(body).timeout(PATIENCE).send();
            let response = sent.await.map_err(|error| NotSent(words(&error)))?;
            match response.status().is_success() {
                true => Ok(()),
                false => Err(NotSent(format!("the server answered {}", response.status()))),
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.inbox.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inbox.close();
        Ok(())
    }
}

/// Hands on what the stream brings, until it ends or nobody listens.
async fn read(
    response: Response,
    endpoint: oneshot::Sender<String>,
    to_client: mpsc::Sender<ServerJsonRpcMessage>,
    cut_off: CutOff,
) {
    let mut meter = Meter::new(End::EmptyLine, cut_off);
    let within_reason = move |chunk: &reqwest::Result<bytes::Bytes>| {
        std::future::ready(chunk.as_ref().is_ok_and(|bytes| meter.take(bytes)))
    };
    let mut events = std::pin::pin!(response.bytes_stream().take_while(within_reason).eventsource());
    let mut endpoint = Some(endpoint);
    while let Some(Ok(event)) = events.next().await {
        match event.event.as_str() {
            "endpoint" => {
                if let Some(endpoint) = endpoint.take() {
                    // Whoever asked may have given up.
                    endpoint.send(event.data).ok();
                }
            }
            "message" => match serde_json::from_str(&event.data) {
                Ok(message) => {
                    if to_client.send(message).await.is_err() {
                        return;
                    }
                }
                Err(error) => tracing::warn!(%error, "a server sent an event that is no MCP message"),
            },
            _ => {}
        }
    }
}

/// It goes elsewhere only on the same host: headers may hold keys.
fn client() -> Result<Client, String> {
    // Another part of the program may have chosen already, and then that holds.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let stay = reqwest::redirect::Policy::custom(|attempt| {
        let same = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
        if same && attempt.previous().len() <= MOST_REDIRECTS { attempt.follow() } else { attempt.stop() }
    });
    Client::builder().redirect(stay).build().map_err(|error| words(&error))
}

fn words(error: &dyn std::error::Error) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    let mut texts: Vec<String> = chain.map(ToString::to_string).collect();
    texts.dedup();
    texts.join(": ")
}
