//! Hooks: programs and host callbacks that are told what happens, and may have a say in it.
//!
//! A host registers callbacks with `initialize`, settings files name commands and URLs. Whatever happens is an
//! [`Occasion`]; [`Hooks::fire`] tells everybody whose matcher fits, all at once, and folds their answers into one
//! [`Report`]. Dropping the future of `fire` withdraws open callbacks and ends running commands.

mod callback;
mod command;
mod fire;
mod http;
mod large;
mod matcher;
mod occasion;
mod registry;
mod report;

pub use fire::Hooks;
pub use occasion::{ModelSwitch, Occasion, Shown, ToolUse};
pub use registry::{HookProblem, RegistrationError};
pub use report::{Failure, Report};
