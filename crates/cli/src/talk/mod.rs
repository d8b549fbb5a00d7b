//! Talking with an agent from the terminal: what `run`, `chat` and `tape record` share.

pub(crate) mod approval;
mod change;
pub(crate) mod detail;
pub(crate) mod flags;
pub(crate) mod help;
pub(crate) mod input;
pub(crate) mod lines;
mod notebook;
pub(crate) mod output;
pub(crate) mod prompt;
pub(crate) mod question;
pub(crate) mod screen;
pub(crate) mod start_error;
pub(crate) mod turn;
pub(crate) mod view;
