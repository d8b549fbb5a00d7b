//! The MCP servers of a session, as their client.
//!
//! Servers come from the command line, from files and from the host ([`configured`], [`Servers::add`]). They are started
//! programs, services behind HTTP, or parts of the host that are reached through the control channel; rmcp speaks to
//! all of them alike. Connecting never holds anything up but the first turn, which waits for [`Servers::ready`].

mod bounded;
mod config;
mod connect;
mod content;
mod elicit;
mod handler;
mod in_process;
mod manifest;
mod names;
mod policy;
mod prompts;
mod resources;
mod server;
mod servers;
mod sse;
mod tool;
mod tool_results;

pub(crate) use config::of_plugins;
pub use config::{ConfigProblem, Configured, Origin, configured};
pub(crate) use resources::Resources;
pub(crate) use servers::PluginChange;
pub use servers::Servers;
pub use tool::{McpTool, ToolMeta};
