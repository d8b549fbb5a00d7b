//! `cargo xtask chaos`: the bridge's fault test at its full length, alone: it is about times, and other tests would be held
//! up by it.

use anyhow::Result;

use crate::command::{cargo, run};

/// How often each of bridge, CLI and sockets is killed at least; some more often, as chance decides which is next.
const KILLS_OF_EACH: &str = "70";

/// Within how many seconds.
const SECONDS: &str = "120";

/// `cargo xtask chaos`.
pub(crate) fn run_full_length() -> Result<()> {
    // The whole workspace is named, so that the build of the tests is used; no other crate has a test of this name.
    let arguments = ["test", "--release", "--workspace", "--test", "it", "chaos", "--", "--nocapture"];
    run(cargo(&arguments)
        .env("BRIDGE_TEST_CHAOS_KILLS", KILLS_OF_EACH)
        .env("BRIDGE_TEST_CHAOS_SECONDS", SECONDS))
}
