//! The control plane: requests both ways, replies and withdrawals.

mod agent;
mod context;
mod envelope;
mod file;
mod initialize;
mod mcp;
mod permission_request;
mod plugin;
mod reply_id;
mod request;
mod session;
mod settings;
mod task;
mod usage;

pub use agent::*;
pub use context::*;
pub use envelope::*;
pub use file::*;
pub use initialize::*;
pub use mcp::*;
pub use permission_request::*;
pub use plugin::*;
pub use reply_id::ReplyId;
pub use request::*;
pub use session::*;
pub use settings::*;
pub use task::*;
pub use usage::*;
