//! What all examples share: which CLI to start, and how to print.

use std::io::Write as _;

use pilothouse::Options;

/// The CLI from the first argument or from `PILOTHOUSE_CLAUDE`; `claude` on `PATH` without either.
pub(crate) fn options() -> Options {
    let path = std::env::args_os().nth(1).or_else(|| std::env::var_os("PILOTHOUSE_CLAUDE"));
    path.map_or_else(Options::new, |path| Options::new().executable(path))
}

/// Prints a line.
pub(crate) fn say(text: impl std::fmt::Display) {
    // An example whose reader went away has nothing left to do.
    let _ = writeln!(std::io::stdout(), "{text}");
}
