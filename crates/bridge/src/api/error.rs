//! What can be wrong with a message.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a message of a client was not understood. The socket stays open.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MessageError {
    /// Not a JSON object with a `type`.
    #[error("not a message at {place}: {reason}; send one JSON object with a `type` per frame")]
    NotAMessage {
        /// Where it stops being one.
        place: String,
        /// What it is instead.
        reason: String,
    },
    /// A `type` that this bridge does not have.
    #[error("`{}` is no message of this bridge", shown(.tag))]
    Unsupported {
        /// The `type`.
        tag: String,
    },
    /// A known `type` with something wrong in it.
    #[error("`{tag}` is malformed at {place}: {reason}")]
    Malformed {
        /// The `type`.
        tag: String,
        /// The path of the member that is wrong, if it is one member, and where in the text that is.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl MessageError {
    /// The code that goes with it.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotAMessage { .. } | Self::Malformed { .. } => ErrorCode::MalformedMessage,
            Self::Unsupported { .. } => ErrorCode::UnsupportedMessage,
        }
    }
}

/// What kind of thing went wrong, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorCode {
    /// The message has a `type` that the bridge does not know.
    UnsupportedMessage,
    /// The message is not JSON, or a member of it is wrong.
    MalformedMessage,
    /// There is no such session.
    UnknownSession,
    /// The message names no session, and none was addressed before.
    NoSession,
    /// The session's CLI is not running: resume it first.
    NotRunning,
    /// The project is outside the allowed roots, or not there.
    ProjectNotAllowed,
    /// A settings file cannot be read: ask for a `project_review`, and agree to it or mend the file.
    TrustRequired,
    /// The device may not do this.
    Forbidden,
    /// The Claude session is in use: choose to attach, fork or take over.
    Leased,
    /// The CLI could not be started.
    StartFailed,
    /// The CLI refused, or did not answer.
    Refused,
    /// The request that the client's user was shown is not the one that is open: show it again.
    StaleApproval,
    /// The decision arrived after its `expires`: ask the user again.
    Expired,
    /// The message to the model is no longer in the queue.
    NotQueued,
    /// Too many messages in too short a time.
    RateLimited,
    /// The log could not be written; nothing was done.
    Storage,
    /// The `clientMessageId` was used before, for something else: nothing was done.
    KeyReused,
    /// The bridge has no free file descriptors or memory: nothing was done.
    OutOfResources,
}

fn shown(tag: &str) -> String {
    tag.chars().take(60).collect()
}
