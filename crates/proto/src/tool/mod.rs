//! Built-in tools: what they take and what they give.

mod agent;
mod artifact;
mod file;
mod mcp;
mod plan;
mod project;
mod report;
mod schedule;
mod search;
mod shell;
mod table;
mod task;
mod web;

pub use agent::*;
pub use artifact::*;
pub use file::*;
pub use mcp::*;
pub use plan::*;
pub use project::*;
pub use report::*;
pub use schedule::*;
pub use search::*;
pub use shell::*;
pub(crate) use table::describe_tools;
pub use table::{ListMcpResourcesOutput, RefreshMcpToolsOutput, ToolInput, ToolOutput};
pub use task::*;
pub use web::*;
