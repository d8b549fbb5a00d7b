//! The bridge from outside.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod approvals;
mod attacks;
mod chaos;
mod conversations;
mod crash;
mod damage;
mod disk;
mod door;
mod exhausted;
mod full_disk;
mod harness;
mod keys;
mod log;
mod memory;
mod original_client;
mod orphans;
mod outputs;
#[path = "../peer/mod.rs"]
mod peer;
mod places;
mod power;
mod push;
mod queue;
mod recent;
mod rendering;
mod resuming;
mod retention;
mod shown;
mod sockets;
mod trust;
mod wire;
