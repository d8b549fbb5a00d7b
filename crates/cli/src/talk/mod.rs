//! Talking with an agent from the terminal: what `run`, `chat` and `tape record` share.

pub(crate) mod approval;
pub(crate) mod flags;
pub(crate) mod input;
pub(crate) mod lines;
pub(crate) mod output;
pub(crate) mod question;
pub(crate) mod turn;
pub(crate) mod view;
