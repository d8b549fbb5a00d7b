//! The Messages API over HTTP.

mod attempt;
mod body;
mod client;
mod config;
mod errors;

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::answering::{self, Attempts, Piece, Trouble};
use crate::model::{Counting, Model};
use crate::reply::{EventSink, Reply};
use crate::request::Request;
use client::Client;

pub(crate) use attempt::give_out_blocks;
pub use config::{ApiConfig, Credentials};
pub(crate) use errors::{scripted_connection_failure, scripted_error};

/// The Messages API. Making one does nothing; the connection is made when it is first asked.
///
/// ```no_run
/// use pilothouse_model::{ApiConfig, Event, MessagesApi, Model, Request};
/// use pilothouse_proto::User;
///
/// # async fn ask() {
/// let api = MessagesApi::new(ApiConfig::from_env(|name| std::env::var(name).ok()));
/// let mut request = Request::new("haiku");
/// request.messages.push(User::prompt("Say hello.").message);
/// let mut reply = api.stream(request, Default::default());
/// while let Some(event) = reply.next().await {
///     if let Event::Done(answer) = event {
///         assert!(!answer.message.text().is_empty());
///     }
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MessagesApi {
    client: Arc<Client>,
}

impl MessagesApi {
    /// An API that is reached like this.
    pub fn new(config: ApiConfig) -> Self {
        Self { client: Arc::new(Client::new(config)) }
    }

    /// How it is reached.
    pub fn config(&self) -> &ApiConfig {
        &self.client.config
    }
}

impl Model for MessagesApi {
    fn stream(&self, request: Request, stop: CancellationToken) -> Reply {
        let client = Arc::clone(&self.client);
        let max_retries = client.config.max_retries;
        Reply::new(|events| {
            let attempts = OverHttp { client, stop: stop.clone() };
            answering::answer(attempts, request, max_retries, events, stop)
        })
    }

    fn count_tokens(&self, request: Request) -> Counting<'_> {
        Box::pin(async move { self.client.count_tokens(&request).await })
    }
}

struct OverHttp {
    client: Arc<Client>,
    stop: CancellationToken,
}

impl Attempts for OverHttp {
    async fn attempt(
        &mut self,
        request: &Request,
        streaming: bool,
        events: &EventSink,
    ) -> Result<Piece, Trouble> {
        attempt::attempt(&self.client, request, streaming, events, &self.stop).await
    }

    fn jitter(&mut self) -> f64 {
        // The keys of a new hasher are random, which is all that is needed to spread retries.
        let random = RandomState::new().hash_one(0_u8);
        f64::from(u32::try_from(random >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }
}
