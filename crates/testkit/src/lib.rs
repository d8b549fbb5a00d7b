//! What tests of both ends share. For tests only: nothing that ships depends on it.
//!
//! - [`Api`]: a scripted Messages API on loopback, so that a real CLI has someone to talk to.
//! - [`Sandbox`]: a throw-away home, project and configuration folder, and an environment that knows no other.
//! - [`binary`]: the path of `faulty`, a CLI that misbehaves on purpose.
//! - [`Socket`]: a WebSocket client for servers of ours.
//! - [`processes_marked`]: what a test left running, found by a marker in the environment of processes.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use pilothouse_testkit::{Api, Sandbox, Turn};
//! use serde_json::json;
//!
//! let api = Api::script([Turn::tool("Bash", json!({"command": "ls"})), Turn::text("done")])?;
//! let sandbox = Sandbox::new()?;
//! let env = sandbox.env(&api.url()); // start the CLI with this and nothing else
//! assert!(env.iter().any(|(name, _)| name == "ANTHROPIC_BASE_URL"));
//! assert!(api.calls().is_empty());
//! # std::io::Result::Ok(()) })?;
//! # std::io::Result::Ok(())
//! ```

mod api;
mod binary;
mod call;
mod leaks;
mod message;
mod sandbox;
mod script;
mod socket;
mod turn;

pub use api::Api;
pub use binary::binary;
pub use call::{Call, CallKind};
pub use leaks::{MarkedProcess, processes_marked};
pub use sandbox::{MARKER_VARIABLE, Sandbox};
pub use script::ScriptError;
pub use socket::{Got, Socket};
pub use turn::{Block, Turn};
