//! The CLI end of the stream-json protocol: an agent that a host drives.
//!
//! # How the parts meet
//!
//! - [`launch`]: the command line becomes a [`Launch`], or is refused in the words of the real CLI.
//! - [`Session`] is what everything shares: identity, settings, permission rules, mode, workspace, the way out
//!   ([`Output`]) and the connection to the host. It is passed as `Arc<Session>`; its locks are held for a moment and
//!   never across an await.
//! - A **tool call** ([`ToolCall`]) travels: the model names a tool; the gate says [`Verdict`]; an [`AgentTool`] runs it
//!   to [`Ran`]; its result goes to the model and to the host. The tools of the `tools` crate are wrapped in
//!   [`Builtin`]; tools that need the session, such as subagents, skills and MCP, implement [`AgentTool`] themselves.
//! - [`gate::Gate`] asks [`hooks::Hooks`], the rules and the host whether a call may run; a [`Scene`] is what hooks are told
//!   about the session.
//! - [`faults`] makes an agent misbehave towards its host, when a script asks for it.
//! - [`Stamp`] gives ids and times, which scripts can pin.

mod agent;
mod arguments;
mod calls;
mod carry_over;
mod command_turn;
mod commands;
mod compact;
mod confine;
mod context_usage;
mod control;
mod deferred;
mod driver;
mod events;
pub mod faults;
mod foreground;
mod frames;
pub mod gate;
mod happenings;
mod heartbeat;
mod history;
pub mod hooks;
pub mod launch;
mod machine;
pub mod mcp;
mod offers;
mod output;
mod pace;
pub mod plan;
mod plugin_errors;
mod plugins;
mod prompt;
mod questions;
mod record;
mod resume;
mod retold;
mod rewind;
mod run_command;
mod scene;
mod scripted;
mod session;
mod small_file;
mod stamp;
mod stop;
mod structured;
mod subagents;
mod suggest;
mod talk;
mod task_stop;
mod tasks;
#[cfg(test)]
mod test_session;
mod tool;
mod toolbox;
mod turn;
mod unwind;
mod voice;
mod web;
mod words;

pub use agent::{Agent, Complain, Finish, Options, Signal};
pub use confine::{SandboxChoice, SandboxMode, take_sandbox_flag};
pub use history::History;
pub use launch::{Launch, PROTOCOL_VERSION};
pub use output::Output;
pub use pilothouse_tools::{PARSER_ARGUMENT, ParserProgram, run_parser_worker};
pub use questions::AskUserQuestion;
pub use record::Recorder;
pub use scene::{Scene, Subagent};
pub use scripted::{load_script, take_script_flag};
pub use session::Session;
pub use stamp::Stamp;
pub use tasks::{TaskNote, TaskOver};
pub use tool::{AgentTool, Builtin, Caller, Ran, ToolCall, Verdict, Working};
pub use toolbox::Toolbox;
