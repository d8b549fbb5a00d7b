//! Integration tests of the permission engine.
#![expect(clippy::expect_used, reason = "a test that cannot go on should say so and stop")]

mod bypass;
mod calls;
mod decisions;
mod denies;
mod differential;
mod hostile_sizes;
mod laid_out;
mod lint;
mod observed;
mod options;
mod properties;
mod readers;
mod reading;
mod real_decisions;
mod recorded;
mod scratch;
mod speed;
mod tapes;
