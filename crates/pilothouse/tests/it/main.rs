//! The host against a CLI that misbehaves on purpose: real processes, pipes and signals.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot set itself up has failed")]

mod aborts;
mod approvals;
mod examples;
mod failures;
mod faults;
mod harness;
mod hooks;
mod lifecycle;
mod local_rules;
mod session_store;
mod turns;
mod ways;
mod wiring;
