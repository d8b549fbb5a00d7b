//! What went wrong, in words for the user and in kinds for programs.

use std::error::Error as _;
use std::time::Duration;

use pilothouse_proto::AssistantError;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde::Deserialize;

use super::config::ApiConfig;
use crate::failure::{ApiFailure, FailureKind};

const LONGEST_MESSAGE: usize = 4096;

#[derive(Debug, Default, Deserialize)]
struct ErrorBody {
    #[serde(default)]
    error: ErrorDetail,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ErrorDetail {
    #[serde(default, rename = "type")]
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) message: Option<String>,
}

pub(super) fn no_credentials() -> ApiFailure {
    ApiFailure {
        kind: FailureKind::NoCredentials,
        class: AssistantError::AuthenticationFailed,
        // Hosts look for "run /login" to offer a login of their own.
        ..plain(
            "Not logged in · Please run /login where the host has one, or set ANTHROPIC_API_KEY, \
             ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN",
        )
    }
}

pub(super) fn timeout(config: &ApiConfig) -> ApiFailure {
    ApiFailure {
        kind: FailureKind::Timeout,
        class: AssistantError::ServerError,
        ..plain(&format!("API Error: Request timed out. {}", advice(config)))
    }
}

pub(super) fn connection(config: &ApiConfig, error: &reqwest::Error) -> ApiFailure {
    let (what, code) = if error.is_timeout() {
        ("Request timed out", "ETIMEDOUT")
    } else {
        match io_kind(error) {
            Some(std::io::ErrorKind::ConnectionRefused) => ("Connection refused", "ECONNREFUSED"),
            _ if error.is_connect() => ("Cannot connect", "ECONNFAILED"),
            _ => ("Connection dropped", "ECONNRESET"),
        }
    };
    ApiFailure {
        kind: FailureKind::Connection,
        class: AssistantError::ServerError,
        message: chain(error),
        ..plain(&format!("API Error: {what} ({code}). {}", advice(config)))
    }
}

/// The stream ended or stopped making sense in the middle of an answer.
pub(super) fn broken_stream(why: &str) -> ApiFailure {
    ApiFailure {
        kind: FailureKind::Connection,
        class: AssistantError::ServerError,
        ..plain(&format!("API Error: The answer broke off: {why}"))
    }
}

/// An error event in the stream.
pub(super) fn from_event(
    config: &ApiConfig,
    model: &str,
    detail: ErrorDetail,
    request_id: Option<String>,
) -> ApiFailure {
    let status = match detail.kind.as_deref() {
        Some("overloaded_error") => 529,
        Some("rate_limit_error") => 429,
        Some("invalid_request_error") => 400,
        Some("authentication_error") => 401,
        _ => 500,
    };
    ApiFailure { request_id, ..describe(config, model, status, detail) }
}

/// Something that should not happen between us and the API.
pub(super) fn unreadable(why: &str) -> ApiFailure {
    plain(&format!("API Error: The answer of the API cannot be used: {why}"))
}

/// An answer with an error status.
pub(super) fn from_response(
    config: &ApiConfig,
    model: &str,
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
) -> ApiFailure {
    let mut detail = serde_json::from_slice::<ErrorBody>(body).unwrap_or_default().error;
    if detail.message.is_none() {
        detail.message =
            Some(String::from_utf8_lossy(body.get(..LONGEST_MESSAGE).unwrap_or(body)).trim().to_owned());
    }
    let text_of = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    ApiFailure {
        retry_after: text_of(RETRY_AFTER.as_str()).and_then(|value| seconds(&value)),
        request_id: text_of("request-id"),
        ..describe(config, model, status, detail)
    }
}

/// An error that a script asks for, in the words of a real one.
pub(crate) fn scripted_error(
    model: &str,
    status: u16,
    kind: Option<String>,
    message: Option<String>,
) -> ApiFailure {
    let kind = kind.unwrap_or_else(|| usual_type(status).to_owned());
    let message = message.unwrap_or_else(|| format!("scripted {kind}"));
    describe(
        &ApiConfig::from_env(|_| None),
        model,
        status,
        ErrorDetail { kind: Some(kind), message: Some(message) },
    )
}

/// A connection that a script drops.
pub(crate) fn scripted_connection_failure() -> ApiFailure {
    ApiFailure {
        kind: FailureKind::Connection,
        class: AssistantError::ServerError,
        ..plain("API Error: Connection dropped (ECONNRESET). Check the network, then try again.")
    }
}

fn usual_type(status: u16) -> &'static str {
    match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    }
}

fn describe(config: &ApiConfig, model: &str, status: u16, detail: ErrorDetail) -> ApiFailure {
    let message = detail.message.unwrap_or_default();
    let too_long = prompt_too_long(status, &message);
    let kind = match status {
        413 => FailureKind::RequestTooLarge,
        _ => too_long.unwrap_or(FailureKind::Api),
    };
    let (class, text) = match (kind, status) {
        (FailureKind::PromptTooLong { tokens: Some(tokens), limit: Some(limit) }, _) => (
            AssistantError::InvalidRequest,
            format!("Prompt is too long · the request has about {tokens} tokens, {limit} fit: attach less, or compact the conversation"),
        ),
        (FailureKind::PromptTooLong { .. }, _) => {
            (AssistantError::InvalidRequest, "Prompt is too long · attach less, or compact the conversation".to_owned())
        }
        (FailureKind::RequestTooLarge, _) => (
            AssistantError::InvalidRequest,
            "Request too large (max 32MB). Attach fewer or smaller images and files, or compact the conversation.".to_owned(),
        ),
        // Nothing that is left out of the request would help.
        (_, 400) if message.to_lowercase().contains("credit balance is too low") => {
            (AssistantError::BillingError, "Credit balance is too low".to_owned())
        }
        (_, 401 | 403) => {
            (AssistantError::AuthenticationFailed, format!("Failed to authenticate. API Error: {status} {message}"))
        }
        (_, 404) => (
            AssistantError::ModelNotFound,
            format!("There's an issue with the selected model ({model}): the API does not know it, or not for you. Choose another one with --model."),
        ),
        (_, 429) => (AssistantError::RateLimit, format!("API Error: Request rejected (429) · {message}")),
        (_, 408 | 409 | 500..) => {
            let advice = config.gateway().map_or(String::new(), |host| format!(" If it stays so, look at the gateway ({host})."));
            let text = format!("API Error: {status} {message}. The server failed; that mostly passes, so try again in a moment.{advice}");
            (AssistantError::ServerError, text)
        }
        _ => (AssistantError::Unknown, format!("API Error: {status} {message}")),
    };
    ApiFailure {
        kind,
        class,
        text,
        message,
        status: Some(status),
        api_type: detail.kind,
        retry_after: None,
        request_id: None,
    }
}

/// `prompt is too long: 250000 tokens > 200000 maximum`
fn prompt_too_long(status: u16, message: &str) -> Option<FailureKind> {
    if status != 400 || !message.to_ascii_lowercase().contains("prompt is too long") {
        return None;
    }
    let mut numbers = message.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
    Some(FailureKind::PromptTooLong { tokens: numbers.next(), limit: numbers.next() })
}

fn seconds(value: &str) -> Option<Duration> {
    let seconds: f64 = value.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn advice(config: &ApiConfig) -> &'static str {
    if config.gateway().is_some() {
        "Check the gateway set in ANTHROPIC_BASE_URL, then try again."
    } else {
        "Check the network, then try again."
    }
}

fn io_kind(error: &reqwest::Error) -> Option<std::io::ErrorKind> {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return Some(io.kind());
        }
        cause = error.source();
    }
    None
}

fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn plain(text: &str) -> ApiFailure {
    ApiFailure {
        kind: FailureKind::Api,
        class: AssistantError::Unknown,
        text: text.to_owned(),
        message: String::new(),
        status: None,
        api_type: None,
        retry_after: None,
        request_id: None,
    }
}
