//! The bridge from outside.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod approvals;
mod attacks;
mod chaos;
mod conversations;
mod crash;
mod harness;
mod log;
mod memory;
mod original_client;
mod outputs;
#[path = "../peer/mod.rs"]
mod peer;
mod places;
mod push;
mod queue;
mod recent;
mod rendering;
mod resuming;
mod sockets;
mod wire;
