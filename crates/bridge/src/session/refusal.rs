//! Why something that a client asked for was not done.

use crate::api::{ErrorCode, ErrorReply, Reply, SessionId};
use crate::auth::{Scope, Scopes};
use crate::log::StorageError;

/// Why something was not done, for the client that asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The kind.
    pub code: ErrorCode,
    /// What to do about it.
    pub message: String,
}

impl Refusal {
    /// A refusal of this kind.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// No session has this id, or none that may be seen.
    pub(crate) fn unknown(session_id: &SessionId) -> Self {
        let message = format!("there is no session {session_id}: list the sessions to see which there are");
        Self::new(ErrorCode::UnknownSession, message)
    }

    /// The session's CLI is gone.
    pub(crate) fn not_running() -> Self {
        Self::new(ErrorCode::NotRunning, "the session's CLI is not running: resume the session first")
    }

    /// Refuses unless this is among what a device may do.
    pub(crate) fn without(scope: Scope, scopes: Scopes) -> Result<(), Self> {
        if scopes.has(scope) {
            return Ok(());
        }
        let name = scope.as_str();
        let message = format!(
            "this device lacks the scope `{name}`: pair it again with an address from `pilothouse serve pair --may …,{name}`"
        );
        Err(Self::new(ErrorCode::Forbidden, message))
    }

    /// The reply that says so.
    pub fn into_reply(self) -> Reply {
        ErrorReply { message: self.message, error_code: self.code, session_id: None, client_message_id: None }
            .into()
    }
}

impl From<StorageError> for Refusal {
    fn from(error: StorageError) -> Self {
        Self::new(ErrorCode::Storage, error.to_string())
    }
}

impl From<pilothouse::Error> for Refusal {
    fn from(error: pilothouse::Error) -> Self {
        let code = if error.is_end() { ErrorCode::NotRunning } else { ErrorCode::Refused };
        Self::new(code, error.to_string())
    }
}
