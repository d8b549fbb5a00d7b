//! The SDK against the real CLI, which talks to a scripted Messages API on loopback.
//!
//! `cargo xtask real` installs the CLI, takes the network away and runs this. Elsewhere nothing here is selected.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod approvals;
mod control;
mod examples;
mod hooks;
mod interop;
mod interrupts;
mod mcp;
mod play;
mod sessions;
mod stage;
mod tasks;
mod transcripts;
mod turns;
