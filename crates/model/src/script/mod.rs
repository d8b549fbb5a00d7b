//! Scripts: files that say what the model says, so that an agent runs without a key, a network or a cost.

mod check;
mod fault;
mod format;
mod matching;
mod message;
mod play;
mod read;
mod template;

pub use fault::{Fault, FaultAction, Place};
pub use format::{ApiError, Block, Call, Pace, Script, Times, Turn, TurnUsage, When};
pub use play::ScriptModel;
pub use read::{ScriptError, ScriptSyntax};

/// The script behind `--script demo`: it shows every feature in a scratch project.
pub const DEMO: &str = include_str!("demo.toml");
