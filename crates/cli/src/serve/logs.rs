//! The log on stderr.

use std::io::{self, Write};

use anyhow::anyhow;
use tracing_subscriber::EnvFilter;

use super::flags::LogFormat;
use crate::visible::is_invisible;

const USUAL_LEVEL: &str = "warn";

pub(super) fn start(format: LogFormat, level: Option<&str>) -> anyhow::Result<()> {
    let level = level.unwrap_or(USUAL_LEVEL);
    let filter = EnvFilter::try_new(level)
        .map_err(|error| anyhow!("--log-level {level} makes no sense ({error}): use a level such as info"))?;
    // Without colours: whatever looks like an escape sequence then comes from elsewhere.
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(|| Visible(std::io::stderr()));
    let started = match format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow!("the log cannot be written: {error}"))
}

/// Writes events, each in one line. Names, paths and errors come from devices, repositories and CLIs: what could break a
/// line or steer a terminal is written as an escape that JSON knows, too.
struct Visible<W>(W);

impl<W: Write> Write for Visible<W> {
    /// The subscriber writes each event whole.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let mut shown = String::with_capacity(event.len());
        for char in line.chars() {
            if char.is_control() || is_invisible(char) {
                let mut units = [0; 2];
                for unit in char.encode_utf16(&mut units) {
                    shown.push_str(&format!("\\u{unit:04x}"));
                }
            } else {
                shown.push(char);
            }
        }
        shown.push('\n');
        self.0.write_all(shown.as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_bidi_characters_of_an_event_are_escaped() {
        let mut written = Visible(Vec::new());
        written
            .write_all("INFO starts path=/a\nERROR forged\u{1b}[2J\u{9b}1m\u{202e}\t\u{e0041}é\n".as_bytes())
            .unwrap();
        let shown = String::from_utf8(written.0).unwrap();
        assert_eq!(
            shown,
            "INFO starts path=/a\\u000aERROR forged\\u001b[2J\\u009b1m\\u202e\\u0009\\udb40\\udc41é\n"
        );
    }
}
