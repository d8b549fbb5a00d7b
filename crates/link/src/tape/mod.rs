//! Tapes: recorded conversations, both directions, with times.
//!
//! A tape is a file of lines. Each says when (`t`, milliseconds), on which way (`dir`), and what: `msg` for JSON,
//! `raw` for anything else. `in` is what the CLI reads and `out` what it writes, whichever end recorded it; `err` is a
//! line of its stderr, and `meta` anything about the process.
//!
//! [`Recorder`] writes one, given to [`crate::Connect::tap`]; [`Tape`] reads one, and [`Tape::play`] makes it a
//! transport that behaves like the recorded CLI.

mod entry;
mod mask;
mod play;
mod recorder;
mod tap;

pub use entry::{Entry, Problem, Said, Tape, What};
pub use mask::{mask_json, mask_text};
pub use play::Pace;
pub use recorder::Recorder;
pub(crate) use tap::Taps;
pub use tap::{Direction, Tap};
