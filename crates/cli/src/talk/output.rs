//! The three ways a conversation is printed.

use clap::Args;
use pilothouse::proto::TurnResult;
use pilothouse::{AllEvents, Event, Session};

use crate::printer::Printer;
use crate::talk::view::View;

/// Flags that choose how a conversation is printed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct OutputFlags {
    /// Print the result as one JSON object
    #[arg(long, conflicts_with = "stream_json")]
    json: bool,
    /// Print every message as it comes, one JSON object a line
    #[arg(long)]
    stream_json: bool,
}

/// How a conversation is printed.
#[derive(Debug)]
pub(crate) enum Output {
    /// For people.
    Shown(View),
    /// The result only, as JSON.
    Result,
    /// Every message, as JSON; those between and after turns, too.
    Messages(Option<AllEvents>),
}

impl OutputFlags {
    pub(crate) fn output(self) -> Output {
        match self {
            Self { stream_json: true, .. } => Output::Messages(None),
            Self { json: true, .. } => Output::Result,
            Self { .. } => Output::Shown(View::default()),
        }
    }
}

impl Output {
    /// Whether somebody reads it as it comes, so that answers are best shown while they are written.
    pub(crate) fn is_for_people(&self) -> bool {
        matches!(self, Self::Shown(_))
    }

    /// Hears the whole session, if that is to be printed.
    pub(crate) fn listen(&mut self, session: &Session) {
        if let Self::Messages(events) = self {
            *events = Some(session.events());
        }
    }

    /// What was heard next; never ready if nothing is listened to. Cancel safe.
    pub(crate) async fn heard(&mut self) -> Option<Event> {
        match self {
            Self::Messages(Some(events)) => events.next().await,
            _ => std::future::pending().await,
        }
    }

    /// Prints all that is left of a session that has ended.
    pub(crate) async fn finish(&mut self, printer: &mut Printer) -> std::io::Result<()> {
        while let Self::Messages(Some(events)) = self
            && let Some(event) = events.next().await
        {
            self.event(&event, printer)?;
        }
        Ok(())
    }

    /// Prints what arrived in a turn, unless it is heard with the whole session.
    pub(crate) fn turn_event(&mut self, event: &Event, printer: &mut Printer) -> std::io::Result<()> {
        if matches!(self, Self::Messages(Some(_))) { Ok(()) } else { self.event(event, printer) }
    }

    /// Prints what arrived.
    pub(crate) fn event(&mut self, event: &Event, printer: &mut Printer) -> std::io::Result<()> {
        match (self, event) {
            (Self::Shown(view), Event::Frame { frame, .. }) => view.frame(frame, printer),
            (Self::Shown(_), Event::Malformed { error, .. }) => {
                printer.warning(format_args!("a message of the agent makes no sense: {error}"))
            }
            (
                Self::Messages(_),
                Event::Frame { raw, .. } | Event::Malformed { raw, .. } | Event::Noise { raw },
            ) => printer.bytes(raw),
            _ => Ok(()),
        }
    }

    /// Prints how a turn ended.
    pub(crate) fn result(
        &mut self,
        result: &TurnResult,
        raw: &[u8],
        printer: &mut Printer,
    ) -> std::io::Result<()> {
        match self {
            Self::Shown(view) => view.result(result, printer),
            Self::Result => printer.bytes(raw),
            Self::Messages(_) => Ok(()),
        }
    }

    /// Shows that something is still going on.
    pub(crate) fn tick(&mut self, printer: &mut Printer) -> std::io::Result<()> {
        match self {
            Self::Shown(view) => view.tick(printer),
            Self::Result | Self::Messages(_) => Ok(()),
        }
    }
}
