//! `DEBUG_CLAUDE_AGENT_SDK=1`: every line of the wire, on stderr, with secrets masked.

use std::io::Write as _;

use pilothouse_link::tape::{Direction, Tap, mask_json, mask_text};
use pilothouse_proc::{Exit, Spawn};

use crate::options::environment::{DEBUG_SDK, is_truthy};

/// The characters of a line that are shown at most.
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
        match mask_json(line) {
            Some(masked) => log(arrow, &masked),
            None => log(arrow, &mask_text(&String::from_utf8_lossy(line))),
        }
    }

    fn started(&self, spawn: &Spawn) {
        let words = spawn.get_args().iter().map(|word| word.to_string_lossy());
        let line = format!("{} {}", spawn.program().to_string_lossy(), words.collect::<Vec<_>>().join(" "));
        log("start", &mask_text(&line));
    }

    fn stderr(&self, line: &str) {
        log("stderr", &mask_text(line));
    }

    fn ended(&self, exit: Option<Exit>) {
        log("end", &exit.map_or_else(String::new, |exit| exit.to_string()));
    }
}

fn log(what: &str, text: &str) {
    let end = text.char_indices().nth(SHOWN).map_or(text.len(), |(index, _)| index);
    let text = text.get(..end).unwrap_or(text);
    // A log that cannot be written is no reason to stop.
    let _ = writeln!(std::io::stderr(), "pilothouse {what} {text}");
}
