use std::time::Duration;

use pilothouse_proto::AssistantError;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ApiFailure {
    /// What went wrong, for programs that decide what to do next.
    pub kind: FailureKind,
    /// The kind as hosts see it.
    pub class: AssistantError,
    /// What the user reads.
    pub text: String,
    /// The API's own words.
    pub message: String,
    /// The HTTP status, when the API answered at all.
    pub status: Option<u16>,
    /// The API's own name for the error, such as `overloaded_error`.
    pub api_type: Option<String>,
    /// How long the API asked to wait.
    pub retry_after: Option<Duration>,
    /// The API's id of the request.
    pub request_id: Option<String>,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// There is neither a key nor a token.
    NoCredentials,
    /// The API answered with an error.
    Api,
    /// The API could not be reached, or the connection broke.
    Connection,
    /// The first byte took too long.
    Timeout,
    /// The conversation is longer than the model's context window.
    PromptTooLong {
        /// Tokens of the request, if the API said.
        tokens: Option<u64>,
        /// Tokens that fit, if the API said.
        limit: Option<u64>,
    },
    /// The request has too many bytes.
    RequestTooLarge,
    /// The model wrote as much as it may, again and again.
    OutputLimit,
    /// A safety check stopped the model.
    Refused,
}

impl ApiFailure {
    /// The kind as hosts see it while the request is tried again; finer than what they see at the end.
    pub fn class_of_retry(&self) -> AssistantError {
        match self.status {
            Some(401 | 403) => AssistantError::AuthenticationFailed,
            Some(429) => AssistantError::RateLimit,
            Some(529) => AssistantError::Overloaded,
            Some(408 | 409 | 500..) => AssistantError::ServerError,
            _ => AssistantError::Unknown,
        }
    }
}
