//! In-process MCP servers, answered over the control channel of an agent CLI.
//!
//! A CLI that was told about an in-process server sends its JSON-RPC messages to the host, wrapped in control requests.
//! This crate turns one such message into at most one reply; it knows nothing of the connection that carries them.
//!
//! Two kinds of servers are served alike, as [`InProcessServer`]:
//!
//! - a [`Server`] built from closures, whose calls are dispatched directly, without tasks or channels in between;
//! - any [`rmcp::ServerHandler`], which runs on rmcp's own service loop.
//!
//! ```
//! use pilothouse_mcp::{InProcessServer, Server, ToolSpec};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use tokio_util::sync::CancellationToken;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let calc: InProcessServer = Server::new("calc")
//!     .tool("add", "Adds two numbers", |input: Add| async move { input.a + input.b })
//!     .tool_with(ToolSpec::new("divide", "Divides a by b").read_only(), |input: Add| async move {
//!         input.a.checked_div(input.b).ok_or("division by zero")
//!     })
//!     .build()?;
//!
//! let message = serde_json::value::to_raw_value(&serde_json::json!({
//!     "jsonrpc": "2.0", "id": 1, "method": "tools/call",
//!     "params": { "name": "add", "arguments": { "a": 2, "b": 3 } },
//! }))?;
//! let reply = calc.handle(&message, &CancellationToken::new()).await.ok_or("cancelled")?;
//! assert_eq!(
//!     reply.get(),
//!     r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"5"}],"isError":false}}"#,
//! );
//! # Ok(())
//! # }
//! ```

mod builder;
mod built;
mod client;
mod in_flight;
mod in_process;
mod json_rpc;
mod manifest;
mod outcome;
mod prompt;
mod resource;
mod server_set;
mod service_loop;
mod tool;

pub use builder::{BuildError, Server};
pub use client::{AskError, Client, NotConnected, Outbound};
pub use in_process::{Cancel, InProcessServer};
pub use manifest::{Manifest, ManifestError};
pub use outcome::{IntoToolResult, Structured, image};
pub use prompt::IntoPromptMessages;
pub use resource::IntoResourceContents;
/// MCP's own types and traits, in the version this crate speaks them.
pub use rmcp;
pub use server_set::ServerSet;
pub use tool::{NoInput, ToolContext, ToolHandler, ToolSpec};
