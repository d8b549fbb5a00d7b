//! What the crate does, seen from outside; the Messages API is testkit's.

mod api;
mod figures;
mod hostile;
mod script;
mod script_errors;
