//! What can go wrong, by what a caller can do about it.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use pilothouse_link::tape::mask_text;
use pilothouse_link::{Ended, RequestError, SendError};
use pilothouse_proto::DecodeError;
use thiserror::Error as ThisError;

use crate::executable::ExecutableError;
use crate::options::OptionsError;

/// Why something could not be done. Cheap to clone: a session that has ended gives the same cause again and again.
#[derive(Debug, Clone, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// Options that contradict each other.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// There is no CLI to start.
    #[error(transparent)]
    Executable(#[from] ExecutableError),
    /// The CLI could not be started.
    #[error("the CLI could not be started: {0}")]
    Spawn(Arc<pilothouse_proc::SpawnError>),
    /// The CLI started but did not get as far as a session.
    #[error(transparent)]
    Handshake(Arc<HandshakeError>),
    /// The session store failed, or holds what cannot be resumed.
    #[error("the session store: {0}")]
    SessionStore(String),
    /// The CLI says that it is older than this SDK can work with.
    #[error(
        "the CLI is version {version}, but at least {oldest} is needed: update it, or choose another with `Options::executable`"
    )]
    TooOld {
        /// What the CLI says.
        version: String,
        /// What it should say at least.
        oldest: String,
    },
    /// The CLI said that it does not apply the hooks of this session, which would let pass what they should stop.
    #[error(
        "the CLI ignores the hooks of this session: check its settings and version, or leave the hooks out"
    )]
    HooksIgnored,
    /// The CLI did not say that the failure of a hook blocks what the hook guards, as a matcher of this session demands.
    #[error(
        "the CLI does not say that a hook that fails blocks: update it, or leave `Matcher::on_failure(OnFailure::Block)` out"
    )]
    FailuresPass,
    /// The connection is over; this is why.
    #[error("the session has ended: {0}")]
    Ended(Arc<Ended>),
    /// The CLI answered a request with an error.
    #[error("the CLI refused `{subtype}`: {message}")]
    Refused {
        /// What was asked.
        subtype: String,
        /// What the CLI said.
        message: String,
        /// The kind of refusal, if the CLI names one.
        code: Option<String>,
    },
    /// The CLI did not answer a request in time.
    #[error("the CLI did not answer `{subtype}` within {} s", .waited.as_secs_f32())]
    Timeout {
        /// What was asked.
        subtype: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The CLI answered with something else than the request calls for.
    #[error("the CLI's answer to `{subtype}` makes no sense: {error}")]
    Answer {
        /// What was asked.
        subtype: String,
        /// What is wrong with the answer.
        error: Box<DecodeError>,
    },
    /// The message was withdrawn before a turn took it.
    #[error("the message was cancelled before any turn took it in")]
    Withdrawn,
    /// The turn ended, but not well.
    #[error("the turn failed: {0}")]
    Turn(String),
    /// The turn's result has no value of the wanted type.
    #[error("the turn has no structured output of the wanted type: {0}")]
    Structured(String),
    /// A tape could not be opened or written.
    #[error("the tape {path} cannot be used: {reason}")]
    Tape {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A value that is no request, a frame that is no JSON.
    #[error("this cannot be sent: {0}")]
    Unsendable(String),
}

/// Why no session came about, with all there is to find out more.
#[derive(Debug, ThisError)]
#[error("{what}; started as: {}{}{}{}", shown(.argv), printed(.noise), tail(.stderr_tail), hint(.causes))]
#[non_exhaustive]
pub struct HandshakeError {
    /// What happened.
    pub what: String,
    /// The command line, program first.
    pub argv: Vec<OsString>,
    /// What it printed on stdout that is not the protocol, cut short.
    pub noise: String,
    /// The end of what the CLI wrote to stderr.
    pub stderr_tail: String,
    /// What usually causes this.
    pub causes: Vec<String>,
    /// How the process ended, as far as it is known.
    pub ended: Option<Ended>,
    /// True when the CLI was alive but silent.
    pub timed_out: bool,
}

impl Error {
    /// Whether the session is over, so that trying again on it is no use.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Ended(_) | Self::Handshake(_) | Self::Spawn(_))
    }
}

impl From<RequestError> for Error {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Refused { subtype, message, code } => Self::Refused { subtype, message, code },
            RequestError::TimedOut { subtype, after } => Self::Timeout { subtype, waited: after },
            RequestError::BadReply { subtype, error } => Self::Answer { subtype, error: Box::new(error) },
            RequestError::Send(error) => error.into(),
            other => Self::Unsendable(other.to_string()),
        }
    }
}

impl From<SendError> for Error {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Ended(ended) => Self::Ended(ended),
            other => Self::Unsendable(other.to_string()),
        }
    }
}

fn shown(argv: &[OsString]) -> String {
    let line = argv.iter().map(|argument| argument.to_string_lossy()).collect::<Vec<_>>().join(" ");
    // Servers and settings on the command line may carry tokens.
    mask_text(&line).into_owned()
}

fn printed(noise: &str) -> String {
    if noise.is_empty() { String::new() } else { format!("; it printed: {noise}") }
}

fn tail(stderr: &str) -> String {
    if stderr.trim().is_empty() {
        "; nothing on stderr".to_owned()
    } else {
        format!("; stderr: {}", stderr.trim())
    }
}

fn hint(causes: &[String]) -> String {
    if causes.is_empty() { String::new() } else { format!("; likely: {}", causes.join(", or ")) }
}
