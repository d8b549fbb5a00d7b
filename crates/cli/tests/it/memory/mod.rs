//! The SDK's suite for the real CLI, played against our agent inside this process.
//!
//! The scenarios are those of `crates/pilothouse/tests/real`, word for word; only the stage is another one. They are here
//! because the SDK knows nothing of the agent, and the program knows both.

mod stage;

#[path = "../../../../pilothouse/tests/real/approvals.rs"]
mod approvals;
#[path = "../../../../pilothouse/tests/real/control.rs"]
mod control;
#[path = "../../../../pilothouse/tests/real/hooks.rs"]
mod hooks;
#[path = "../../../../pilothouse/tests/real/interrupts.rs"]
mod interrupts;
#[path = "../../../../pilothouse/tests/real/mcp.rs"]
mod mcp;
#[path = "../../../../pilothouse/tests/real/play.rs"]
mod play;
#[path = "../../../../pilothouse/tests/real/sessions.rs"]
mod sessions;
#[path = "../../../../pilothouse/tests/real/tasks.rs"]
mod tasks;
#[path = "../../../../pilothouse/tests/real/transcripts.rs"]
mod transcripts;
#[path = "../../../../pilothouse/tests/real/turns.rs"]
mod turns;
