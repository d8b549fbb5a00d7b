//! How stream-json looks: types, decode, encode, unknowns kept.
//!
//! A *frame* is one line of JSON. [`AgentFrame`] is what a CLI writes on its stdout, [`HostFrame`] what a host writes on
//! the CLI's stdin; [`decode`] reads either, and any frame is written with `serde_json`.
//!
//! Every union is open: a member this version does not know is kept whole as [`Unknown`], and every object keeps the
//! fields it does not name in `extra`. A known member with a broken field is an error that says where.

mod catalog;
mod context;
pub mod control;
mod decode;
mod error;
mod frame;
mod head;
pub mod hook;
pub mod launch;
mod lenient;
pub mod mcp;
pub mod message;
mod notice;
mod origin;
mod path;
pub mod permission;
mod schema;
mod session;
pub mod system;
pub mod tape;
pub mod tool;
mod wire;

pub use catalog::*;
pub use context::*;
pub use control::{
    AgentRequest, CanUseTool, ControlCancelRequest, ControlRequest, ControlResponse, HostRequest, KeepAlive,
    Reply, Request,
};
pub use decode::decode;
pub use error::{DecodeError, DecodeErrorKind, UnknownValue};
pub use frame::*;
pub use head::Head;
pub use hook::{HookEvent, HookInput, HookOutput};
pub use lenient::Texts;
pub use mcp::{McpServerConfig, McpServerProvenance};
pub use message::*;
pub use notice::*;
pub use origin::*;
pub use permission::*;
pub use schema::schema;
pub use session::*;
pub use system::System;
#[doc(hidden)]
pub use wire::read as read_json;
pub use wire::{
    AgentId, Extra, Lazy, Opt, Raw, Readable, RequestId, SessionId, TaskId, ToolUseId, Unknown, Uuid, Wire,
};
