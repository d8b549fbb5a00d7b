//! Sessions of Claude Code over a WebSocket: what the CLI says goes into a durable log, and from there to every client.

pub mod api;
pub mod log;
