//! Tapes: recorded conversations, both directions, with times.
//!
//! A tape is a file of lines. Each says when (`t`, milliseconds), on which way (`dir`), and what: `msg` for JSON,
//! `raw` for anything else. `in` is what the CLI reads and `out` what it writes, whichever end recorded it; `err` is a
//! line of its stderr, and `meta` anything about the process.

mod tap;

pub(crate) use tap::Taps;
pub use tap::{Direction, Tap};
