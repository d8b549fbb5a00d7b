//! The three ways a conversation is printed.

use std::sync::Arc;

use clap::Args;
use pilothouse::proto::TurnResult;
use pilothouse::tape::{Direction, Tap};
use pilothouse::{Event, Options};
use tokio::sync::mpsc;

use crate::printer::Printer;
use crate::talk::view::View;

/// Flags that choose how a conversation is printed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct OutputFlags {
    /// Print the result as one JSON object
    #[arg(long, conflicts_with = "stream_json")]
    json: bool,
    /// Print every frame as it comes, one JSON object a line
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
    /// Every line that the agent writes, as it stands on the wire: the handshake and requests, too.
    Lines(Option<mpsc::UnboundedReceiver<Vec<u8>>>),
}

/// Passes on what the agent writes. The queue stays short: who reads the wire and who prints share one thread.
struct Copy(mpsc::UnboundedSender<Vec<u8>>);

impl Tap for Copy {
    fn line(&self, direction: Direction, line: &[u8]) {
        if direction == Direction::Out {
            // Nobody is left to print it when the program ends early.
            self.0.send(line.to_owned()).ok();
        }
    }
}

impl OutputFlags {
    pub(crate) fn output(self) -> Output {
        match self {
            Self { stream_json: true, .. } => Output::Lines(None),
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

    /// Hears the wire of the session to come, if that is to be printed.
    pub(crate) fn listen(&mut self, options: Options) -> Options {
        let Self::Lines(heard) = self else { return options };
        let (sender, receiver) = mpsc::unbounded_channel();
        *heard = Some(receiver);
        options.tap(Arc::new(Copy(sender)))
    }

    /// The line that was heard next; never ready if nothing is listened to. Cancel safe.
    pub(crate) async fn heard(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::Lines(Some(lines)) => lines.recv().await,
            _ => std::future::pending().await,
        }
    }

    /// Prints all that is left of a session that has ended.
    pub(crate) fn finish(&mut self, printer: &mut Printer) -> std::io::Result<()> {
        while let Self::Lines(Some(lines)) = self
            && let Ok(line) = lines.try_recv()
        {
            self.line(&line, printer)?;
        }
        Ok(())
    }

    /// Prints a line that the agent wrote.
    pub(crate) fn line(&mut self, line: &[u8], printer: &mut Printer) -> std::io::Result<()> {
        if matches!(self, Self::Lines(_)) { printer.bytes(line) } else { Ok(()) }
    }

    /// Prints what arrived.
    pub(crate) fn event(&mut self, event: &Event, printer: &mut Printer) -> std::io::Result<()> {
        match (self, event) {
            (Self::Shown(view), Event::Frame { frame, .. }) => view.frame(frame, printer),
            (Self::Shown(_), Event::Malformed { error, .. }) => {
                printer.warning(format_args!("a message of the agent makes no sense: {error}"))
            }
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
            Self::Lines(_) => Ok(()),
        }
    }

    /// Shows that something is still going on.
    pub(crate) fn tick(&mut self, printer: &mut Printer) -> std::io::Result<()> {
        match self {
            Self::Shown(view) => view.tick(printer),
            Self::Result | Self::Lines(_) => Ok(()),
        }
    }
}
