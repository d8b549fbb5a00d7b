//! How a line of the agent's debug log looks: `2026-01-02T03:04:05.678Z [DEBUG] api: request model="x"`. Programs that read
//! such logs look for the level in brackets.

use std::fmt;

use jiff::{Timestamp, Unit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Time, level, what it is about, and what there is to say.
pub(crate) struct DebugLine;

impl<S, N> FormatEvent<S, N> for DebugLine
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut line: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let now = Timestamp::now();
        let now = now.round(Unit::Millisecond).unwrap_or(now);
        let about = event.metadata();
        write!(line, "{now:.3} [{}] {}: ", about.level(), about.target())?;
        context.format_fields(line.by_ref(), event)?;
        writeln!(line)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_has_its_time_its_level_and_its_category() {
        let page = Page::default();
        let to = page.clone();
        let log = tracing_subscriber::fmt()
            .with_ansi(false)
            .event_format(DebugLine)
            .with_writer(move || to.clone());
        tracing::subscriber::with_default(log.finish(), || {
            tracing::info!(target: "api", messages = 2, "request");
        });
        let line = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
        let (time, rest) = line.split_once(' ').unwrap();
        assert_eq!(rest, "[INFO] api: request messages=2\n");
        assert_eq!((time.len(), time.ends_with('Z')), ("2026-01-02T03:04:05.678Z".len(), true), "{time}");
    }
}
