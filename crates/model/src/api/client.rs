use std::sync::OnceLock;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{RequestBuilder, Response};
use serde::Deserialize;

use super::body::Body;
use super::config::{ApiConfig, Credentials};
use super::errors;
use crate::failure::ApiFailure;
use crate::request::Request;

const API_VERSION: &str = "2023-06-01";
/// What the API wants to hear before it accepts the token of a login.
const OAUTH_BETA: &str = "oauth-2025-04-20";
/// Answers in one piece and error texts are read up to this size.
const LONGEST_BODY: usize = 64 * 1024 * 1024;

/// The HTTP side: one connection pool, made when it is first needed.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) config: ApiConfig,
    http: OnceLock<Result<reqwest::Client, String>>,
}

impl Client {
    pub(super) fn new(config: ApiConfig) -> Self {
        Self { config, http: OnceLock::new() }
    }

    /// Sends a question and waits for the head of the answer.
    pub(super) async fn ask(&self, request: &Request, streaming: bool) -> Result<Response, ApiFailure> {
        let body = Body::question(request, streaming, self.config.prompt_caching);
        self.post("/v1/messages", request, &body).await
    }

    pub(super) async fn count_tokens(&self, request: &Request) -> Result<u64, ApiFailure> {
        #[derive(Deserialize)]
        struct Counted {
            input_tokens: u64,
        }
        let response = self.post("/v1/messages/count_tokens", request, &Body::count(request)).await?;
        let bytes = self.whole(response).await?;
        let counted: Counted =
            serde_json::from_slice(&bytes).map_err(|error| errors::unreadable(&error.to_string()))?;
        Ok(counted.input_tokens)
    }

    /// The whole body of an answer, within reason.
    pub(super) async fn whole(&self, mut response: Response) -> Result<Vec<u8>, ApiFailure> {
        let mut bytes = Vec::new();
        loop {
            let next = tokio::time::timeout(self.config.idle_timeout, response.chunk()).await;
            match next
                .map_err(|_| errors::timeout(&self.config))?
                .map_err(|error| errors::connection(&self.config, &error))?
            {
                None => return Ok(bytes),
                Some(chunk) if bytes.len() + chunk.len() > LONGEST_BODY => {
                    return Err(errors::unreadable("it is too long"));
                }
                Some(chunk) => bytes.extend_from_slice(&chunk),
            }
        }
    }

    async fn post(&self, path: &str, request: &Request, body: &Body<'_>) -> Result<Response, ApiFailure> {
        let Some(credentials) = &self.config.credentials else { return Err(errors::no_credentials()) };
        let json = serde_json::to_vec(body).map_err(|error| errors::unreadable(&error.to_string()))?;
        let http = self.http().map_err(errors::unreadable)?;
        let post = http.post(format!("{}{path}", self.config.base_url)).body(json);
        let sent = self.with_headers(post, credentials, request).send();
        let response = tokio::time::timeout(self.config.first_byte_timeout, sent)
            .await
            .map_err(|_| errors::timeout(&self.config))?
            .map_err(|error| errors::connection(&self.config, &error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = self.whole(response).await.unwrap_or_default();
        Err(errors::from_response(&self.config, &request.model, status, &headers, &text))
    }

    fn with_headers(
        &self,
        post: RequestBuilder,
        credentials: &Credentials,
        request: &Request,
    ) -> RequestBuilder {
        let mut headers = HeaderMap::new();
        let mut put = |name: HeaderName, value: &str| {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        };
        put(CONTENT_TYPE, "application/json");
        put(HeaderName::from_static("anthropic-version"), API_VERSION);
        let mut betas: Vec<&str> =
            request.betas.iter().chain(&self.config.betas).map(String::as_str).collect();
        match credentials {
            Credentials::ApiKey(key) => put(HeaderName::from_static("x-api-key"), key),
            Credentials::AuthToken(token) => put(AUTHORIZATION, &format!("Bearer {token}")),
            Credentials::OauthToken(token) => {
                put(AUTHORIZATION, &format!("Bearer {token}"));
                betas.push(OAUTH_BETA);
            }
        }
        if !betas.is_empty() {
            put(HeaderName::from_static("anthropic-beta"), &betas.join(","));
        }
        for (name, value) in &self.config.headers {
            if let Ok(name) = HeaderName::try_from(name) {
                put(name, value);
            }
        }
        post.headers(headers)
    }

    fn http(&self) -> Result<&reqwest::Client, &str> {
        let made = self.http.get_or_init(|| build(&self.config).map_err(|error| error.to_string()));
        made.as_ref().map_err(String::as_str)
    }
}

fn build(config: &ApiConfig) -> reqwest::Result<reqwest::Client> {
    // Someone else may have chosen a provider before; either will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder().user_agent(&config.user_agent).tcp_nodelay(true);
    if config.base_url.starts_with("http://") {
        // Reading the system's certificates takes longer than the whole rest of a first request.
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}
