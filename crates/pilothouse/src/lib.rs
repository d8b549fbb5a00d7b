#![doc = include_str!("../README.md")]

mod abort;
mod boxed;
mod connect;
mod debug_log;
mod desk;
mod dialog;
mod elicitation;
mod error;
mod event;
pub mod executable;
mod fold;
mod hook;
mod local_rules;
mod mcp;
mod options;
mod panics;
mod partial;
mod permission;
mod prompt;
mod pump;
mod query;
mod question;
mod session;
pub mod session_store;
mod shadow;
mod turn;
mod turn_error;
mod turns;
mod version;

pub use connect::WarmStart;
pub use dialog::{DialogHandler, DialogRequest};
pub use elicitation::{ElicitationHandler, ElicitationRequest};
pub use error::{Error, HandshakeError};
pub use event::{Event, Subagent};
pub use executable::ExecutableError;
pub use fold::{ModelTotal, Usage};
pub use hook::{HookCall, HookEvent, HookHandler, Matcher, OnFailure};
pub use local_rules::LocalRules;
pub use options::values::{
    McpRegistration, PermissionPrompts, Plugin, PreviewFormat, SettingSource, Settings, Skills, SystemPrompt,
    Thinking, Tools,
};
pub use options::{Options, OptionsError, StderrLine};
pub use partial::{PartialBlock, PartialMessage};
pub use permission::{PermissionHandler, PermissionRequest};
pub use pilothouse_link::{EndKind, Ended, Transport};
pub use pilothouse_proc::{Exit, Report, SpawnError, Step};
pub use pilothouse_proto::control::McpModeOverride;
pub use pilothouse_proto::{PermissionMode, PermissionUpdate, Priority, UnknownValue};
pub use prompt::Prompt;
pub use query::{Query, query};
pub use question::Choice;
pub use session::{AllEvents, Closed, OwnTurns, Session};
pub use shadow::Shadow;
pub use tokio_util::sync::CancellationToken;
pub use turn::{Turn, TurnResult};
pub use turn_error::TurnError;

/// Recorded conversations.
pub use pilothouse_link::tape;
/// Servers that run inside this process.
pub use pilothouse_mcp as mcp_server;
/// The types of the wire.
pub use pilothouse_proto as proto;
/// The permission engine: would this be allowed?
pub use pilothouse_rules as rules;
/// Sessions on disk: list, read, fork, rename, tag, delete.
pub use pilothouse_store as sessions;

/// The Rust snippets of the repository's README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct RepositoryReadme;
