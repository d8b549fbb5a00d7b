//! `DEBUG_CLAUDE_AGENT_SDK=1`: every line of the wire, on stderr.

use std::io::Write as _;

use pilothouse_link::tape::{Direction, Tap};
use pilothouse_proc::{Exit, Spawn};

use crate::options::environment::{DEBUG_SDK, is_truthy};

/// The longest part of a line that is shown.
const SHOWN: usize = 2000;

/// Writes what goes by to stderr.
#[derive(Debug)]
pub(crate) struct DebugLog;

impl DebugLog {
    /// Whether the user asked for it.
    pub(crate) fn is_wanted() -> bool {
        std::env::var(DEBUG_SDK).is_ok_and(|value| is_truthy(&value))
    }
}

impl Tap for DebugLog {
    fn line(&self, direction: Direction, line: &[u8]) {
        let arrow = if direction == Direction::In { "->" } else { "<-" };
        let shown = line.get(..SHOWN).unwrap_or(line);
        log(arrow, &String::from_utf8_lossy(shown));
    }

    fn started(&self, spawn: &Spawn) {
        let words = spawn.get_args().iter().map(|word| word.to_string_lossy());
        log(
            "start",
            &format!("{} {}", spawn.program().to_string_lossy(), words.collect::<Vec<_>>().join(" ")),
        );
    }

    fn stderr(&self, line: &str) {
        log("stderr", line);
    }

    fn ended(&self, exit: Option<Exit>) {
        log("end", &exit.map_or_else(String::new, |exit| exit.to_string()));
    }
}

fn log(what: &str, text: &str) {
    // A log that cannot be written is no reason to stop.
    let _ = writeln!(std::io::stderr(), "pilothouse {what} {text}");
}
