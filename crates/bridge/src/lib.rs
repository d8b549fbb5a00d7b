//! Sessions of Claude Code over a WebSocket: what the CLI says goes into a durable log, and from there to every client.
//!
//! A [`Bridge`](server::Bridge) is the whole: it listens, lets devices in ([`auth`]), and hands each connection to a
//! [`Client`](client::Client), which carries out what it says ([`api`]) on the sessions of the [`Hub`](session::Hub).
//! Everything that happens goes through the [`log`] first.

pub mod api;
pub mod auth;
pub mod client;
pub mod log;
pub mod push;
mod render;
pub mod server;
pub mod session;
mod state_dir;
pub mod trust;
mod ws;

pub use state_dir::{StateDir, StateDirError, make_private};
