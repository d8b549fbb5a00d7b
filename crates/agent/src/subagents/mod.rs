//! Subagents: work that is handed to a conversation of its own, beside the main one or while it waits.
//!
//! A subagent has its own history, transcript, system prompt and tools. Its frames carry the call that started it, its
//! permissions are the session's unless its kind has a mode of its own, and its report is the result of that call or, in
//! the background, a later prompt. It may hand work on, and then waits for it.

mod kind;
mod run;
mod running;
mod tool;

pub(crate) use kind::Kind;
pub(crate) use run::{Job, total_tokens};
pub(crate) use running::{RunningAgents, Silence};
pub(crate) use tool::{Agent, forwards_text};
