//! What can go wrong, by what a caller can do about it.

use std::error::Error as StdError;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use pilothouse_link::tape::mask_text;
use pilothouse_link::{Ended, RequestError, SendError};
use pilothouse_proc::SpawnError;
use pilothouse_proto::DecodeError;
use thiserror::Error as ThisError;

use crate::executable::ExecutableError;
use crate::options::OptionsError;
use crate::turn_error::TurnError;

/// Why something could not be done. Cheap to clone: a session that has ended gives the same cause again and again.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Error {
    /// Options that contradict each other.
    Options(OptionsError),
    /// There is no CLI to start.
    Executable(ExecutableError),
    /// The CLI could not be started.
    Spawn(Arc<SpawnError>),
    /// The CLI started but did not get as far as a session.
    Handshake(Arc<HandshakeError>),
    /// The session store failed, or holds what cannot be resumed.
    SessionStore(String),
    /// The CLI says that it is older than this SDK can work with.
    TooOld {
        /// What the CLI says.
        version: String,
        /// What it should say at least.
        oldest: String,
    },
    /// The CLI said that it does not apply the hooks of this session, which would let pass what they should stop.
    HooksIgnored,
    /// The CLI did not say that the failure of a hook blocks what the hook guards, as a matcher of this session demands.
    FailuresPass,
    /// The CLI did not take the MCP servers of [`Options::mcp_servers_in_initialize`](crate::Options::mcp_servers_in_initialize).
    McpServersIgnored,
    /// The connection is over; this is why.
    Ended(Arc<Ended>),
    /// The CLI answered a request with an error.
    Refused {
        /// What was asked.
        subtype: String,
        /// What the CLI said.
        message: String,
        /// The kind of refusal, if the CLI names one.
        code: Option<String>,
    },
    /// The CLI did not answer a request in time.
    Timeout {
        /// What was asked.
        subtype: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The CLI answered with something else than the request calls for.
    Answer {
        /// What was asked.
        subtype: String,
        /// What is wrong with the answer.
        error: Box<DecodeError>,
    },
    /// The message was withdrawn before a turn took it.
    Withdrawn,
    /// The turn ended with a failure: no login, a limit, an API error, an interrupt. Holds the whole result.
    Turn(Arc<TurnError>),
    /// The turn is over, and no result of it can be read.
    NoResult(String),
    /// The turn's token was cancelled, and the CLI did not end the turn in time. It may still be at work: end the session
    /// with [`Session::close`](crate::Session::close), and go on with [`Options::resume`](crate::Options::resume).
    NotStopped {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The turn's result has no value of the wanted type.
    Structured(String),
    /// A tape could not be opened or written.
    Tape {
        /// The file.
        path: String,
        /// What the system said.
        cause: Arc<io::Error>,
    },
    /// An option that is too long for the command line could not be written to a file.
    Unwritable {
        /// The flag.
        name: String,
        /// What the system said.
        cause: Arc<io::Error>,
    },
    /// A value that is no request, a frame that is no JSON.
    Unsendable(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Options(error) => error.fmt(f),
            Self::Executable(error) => error.fmt(f),
            Self::Spawn(error) => write!(f, "the CLI could not be started: {error}"),
            Self::Handshake(error) => error.fmt(f),
            Self::SessionStore(problem) => write!(f, "the session store: {problem}"),
            Self::TooOld { version, oldest } => write!(
                f,
                "the CLI is version {version}, but at least {oldest} is needed: update it, or choose another with \
                 `Options::executable`"
            ),
            Self::HooksIgnored => f.write_str(
                "the CLI ignores the hooks of this session: check its settings and version, or leave the hooks out",
            ),
            Self::FailuresPass => f.write_str(
                "the CLI does not say that a hook that fails blocks: update it, or leave \
                 `Matcher::on_failure(OnFailure::Block)` out",
            ),
            Self::McpServersIgnored => f.write_str(
                "the CLI did not take the MCP servers from `initialize`: update it, or leave \
                 `Options::mcp_servers_in_initialize` out",
            ),
            Self::Ended(ended) => write!(f, "the session has ended: {ended}"),
            Self::Refused { subtype, message, .. } => write!(f, "the CLI refused `{subtype}`: {message}"),
            Self::Timeout { subtype, waited } => {
                write!(f, "the CLI did not answer `{subtype}` within {} s", waited.as_secs_f32())
            }
            Self::Answer { subtype, error } => {
                write!(f, "the CLI's answer to `{subtype}` makes no sense: {error}")
            }
            Self::Withdrawn => f.write_str("the message was cancelled before any turn took it in"),
            Self::Turn(error) => error.fmt(f),
            Self::NoResult(reason) => write!(f, "the turn ended without a result: {reason}"),
            Self::NotStopped { waited } => write!(
                f,
                "the CLI did not end the aborted turn within {} s: close the session and resume it",
                waited.as_secs_f32()
            ),
            Self::Structured(reason) => {
                write!(f, "the turn has no structured output of the wanted type: {reason}")
            }
            Self::Tape { path, cause } => write!(f, "the tape {path} cannot be used: {cause}"),
            Self::Unwritable { name, cause } => write!(
                f,
                "{name} is too long for the command line and cannot be written to a file: {cause}: check the directory for \
                 temporary files, or give a file of your own"
            ),
            Self::Unsendable(reason) => write!(f, "this cannot be sent: {reason}"),
        }
    }
}

/// Written by hand, because a derived `source` is the `Arc`, which nobody would look for with `downcast_ref`.
impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Options(error) => error.source(),
            Self::Executable(error) => error.source(),
            Self::Spawn(error) => Some(&**error),
            Self::Handshake(error) => error.source(),
            Self::Answer { error, .. } => Some(&**error),
            Self::Turn(error) => error.source(),
            Self::Tape { cause, .. } | Self::Unwritable { cause, .. } => Some(&**cause),
            _ => None,
        }
    }
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

    /// Whether the turn was stopped on purpose: interrupted, aborted, or withdrawn before it began.
    pub fn was_stopped(&self) -> bool {
        match self {
            Self::Turn(error) => error.was_interrupted(),
            Self::Withdrawn => true,
            _ => false,
        }
    }

    /// The failed turn behind this error, if there is one.
    pub fn turn(&self) -> Option<&TurnError> {
        match self {
            Self::Turn(error) => Some(error),
            _ => None,
        }
    }
}

impl From<OptionsError> for Error {
    fn from(error: OptionsError) -> Self {
        Self::Options(error)
    }
}

impl From<ExecutableError> for Error {
    fn from(error: ExecutableError) -> Self {
        Self::Executable(error)
    }
}

impl From<TurnError> for Error {
    fn from(error: TurnError) -> Self {
        Self::Turn(Arc::new(error))
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
