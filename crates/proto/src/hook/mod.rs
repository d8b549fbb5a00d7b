//! Hooks: how a host registers them, what they are told, what they answer.

mod event;
mod input;
mod output;
mod registration;

pub use event::HookEvent;
pub use input::*;
pub use output::*;
pub use registration::*;
