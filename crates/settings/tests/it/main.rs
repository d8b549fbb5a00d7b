//! Settings against real files, real processes and what the agent CLI was seen to do.
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod concurrency;
mod deciding;
mod editing;
mod layering;
mod properties;
mod watching;
