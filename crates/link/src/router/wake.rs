//! What the router waits for, in one place.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pilothouse_proc::{Child, Exit, Ladder, Report, StderrTail};
use tokio::io::AsyncRead;
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::io::poll_read_buf;

use super::Command;
use super::routing::Routing;
use crate::end::End;
use crate::ended::EndKind;
use crate::line::{Item, Lines};

/// A child's exit and the end of its output are waited for together, but not longer than this: a descendant may hold
/// the pipe, and a child may close its output and live on.
const DRAIN: Duration = Duration::from_millis(250);

/// A reader of events that did nothing for so long has stopped: from then on memory is spent rather than control.
const STALLED_AFTER: Duration = Duration::from_millis(250);

/// Whoever is being ended may say so much more; then nobody listens. One that writes faster than it is read would put off
/// its own end for ever, and fill the memory of a host that waits for it.
const LAST_WORDS: usize = 64 << 20;

/// The next thing to do.
pub(super) enum Wake {
    Command(Command),
    /// The last handle was dropped.
    HandlesGone,
    /// There are lines to route.
    Lines,
    /// A pause is over.
    Resume,
    /// Nothing more will come. There may be last lines to route.
    Ended(EndKind),
}

type Later<T> = Pin<Box<dyn Future<Output = T> + Send>>;

pub(super) struct Wakes {
    inbox: mpsc::UnboundedReceiver<Command>,
    /// The inbox was empty when it was asked last, so that it will wake the router.
    inbox_is_asked: bool,
    handles_gone: bool,
    /// Gone after the end of the stream.
    reader: Option<Box<dyn AsyncRead + Send + Unpin>>,
    /// Why reading ended.
    read_end: EndKind,
    lines: Lines,
    items: Vec<Item>,
    process: Process,
    stderr: Option<StderrTail>,
    /// The child is gone, or this end is closing.
    ending: bool,
    /// How many bytes came since.
    last_words: usize,
    /// Runs out when waiting for the rest of an end makes no sense any more.
    patience: Option<Pin<Box<Sleep>>>,
    pause: Pause,
}

/// The child behind the connection.
enum Process {
    None,
    Running {
        child: Child,
        exit: Later<Exit>,
        /// It was asked, so that it will wake the router.
        is_asked: bool,
    },
    /// The ladder is on its way.
    Ending(Later<(Child, Report)>),
    Gone {
        child: Child,
        exit: Exit,
        report: Option<Report>,
    },
    /// Between two of the above.
    Moving,
}

impl Wakes {
    pub(super) fn new(
        inbox: mpsc::UnboundedReceiver<Command>,
        reader: Box<dyn AsyncRead + Send + Unpin>,
        child: Option<Child>,
        max_line: usize,
    ) -> Self {
        let stderr = child.as_ref().map(Child::stderr);
        let process = match child {
            None => Process::None,
            Some(child) => {
                let exit = Box::pin(child.watch_exit());
                Process::Running { child, exit, is_asked: false }
            }
        };
        Self {
            inbox,
            inbox_is_asked: false,
            handles_gone: false,
            reader: Some(reader),
            read_end: EndKind::EndOfStream,
            lines: Lines::new(max_line),
            items: Vec::new(),
            process,
            stderr,
            ending: false,
            last_words: 0,
            patience: None,
            pause: Pause::default(),
        }
    }

    pub(super) async fn next<E: End>(&mut self, routing: &mut Routing<E>) -> Wake {
        std::future::poll_fn(|cx| self.poll_next(cx, routing)).await
    }

    /// The next command; none when the last handle is gone.
    pub(super) async fn next_command(&mut self) -> Option<Command> {
        self.inbox.recv().await
    }

    pub(super) fn lines(&mut self) -> &mut Vec<Item> {
        &mut self.items
    }

    pub(super) fn exit(&self) -> Option<Exit> {
        match &self.process {
            Process::Gone { exit, .. } => Some(*exit),
            _ => None,
        }
    }

    pub(super) fn stderr_tail(&self) -> String {
        self.stderr.as_ref().map(StderrTail::text).unwrap_or_default()
    }

    /// Sends the child down the ladder, or gives another transport as long to end as the whole ladder's first step.
    pub(super) fn start_ending(&mut self, ladder: Ladder) {
        self.ending = true;
        self.process = match std::mem::replace(&mut self.process, Process::Moving) {
            Process::None => {
                self.patience = Some(Box::pin(sleep(ladder.after_end_of_input)));
                Process::None
            }
            Process::Running { child, .. } => Process::Ending(descend(child, ladder)),
            other => other,
        };
    }

    /// Makes sure that the child is gone, and says what it took.
    pub(super) async fn into_report(self, ladder: Ladder) -> Option<Report> {
        // Without a reader a child that still writes gets a signal of its own.
        drop(self.reader);
        match self.process {
            Process::None | Process::Moving => None,
            Process::Running { child, .. } => Some(descend(child, ladder).await.1),
            Process::Ending(end) => Some(end.await.1),
            Process::Gone { report: Some(report), .. } => Some(report),
            Process::Gone { child, .. } => Some(descend(child, ladder).await.1),
        }
    }

    /// Commands come before reads, so that a request is registered before its reply is looked at.
    /// Everything polled here keeps its state in `self`, so nothing is lost whichever is ready first.
    fn poll_next<E: End>(&mut self, cx: &mut Context<'_>, routing: &mut Routing<E>) -> Poll<Wake> {
        if !self.handles_gone
            && let Poll::Ready(command) = self.poll_command(cx)
        {
            return Poll::Ready(match command {
                Some(command) => Wake::Command(command),
                None => {
                    self.handles_gone = true;
                    Wake::HandlesGone
                }
            });
        }
        if self.reader.is_some() {
            // An end under way is not held up: what is left in the pipe is little, and a child that cannot write cannot
            // exit either.
            let may_read =
                if self.ending { Poll::Ready(May::Read) } else { self.pause.poll_may_read(cx, routing) };
            match may_read {
                Poll::Ready(May::Read) => {
                    if let Poll::Ready(wake) = self.poll_read(cx) {
                        return Poll::Ready(wake);
                    }
                }
                Poll::Ready(May::LookAgain) => return Poll::Ready(Wake::Resume),
                Poll::Pending => {}
            }
        }
        self.poll_end(cx)
    }

    /// The router is one task, which is woken by the same waker each time. So what was asked once and had nothing need only
    /// be looked at until it has something; asking anew would be a good part of what it costs to pass a line on.
    fn poll_command(&mut self, cx: &mut Context<'_>) -> Poll<Option<Command>> {
        if self.inbox_is_asked && self.inbox.is_empty() && !self.inbox.is_closed() {
            return Poll::Pending;
        }
        let command = self.inbox.poll_recv(cx);
        self.inbox_is_asked = command.is_pending();
        command
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Wake> {
        let Some(reader) = &mut self.reader else {
            return Poll::Pending;
        };
        loop {
            match poll_read_buf(Pin::new(&mut *reader), cx, self.lines.space()) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(bytes @ 1..)) => {
                    self.lines.split(&mut self.items);
                    if self.ending {
                        self.last_words += bytes;
                        if self.last_words > LAST_WORDS {
                            return Poll::Ready(self.stop_reading());
                        }
                    }
                    if !self.items.is_empty() {
                        return Poll::Ready(Wake::Lines);
                    }
                }
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(end) => {
                    if let Err(error) = end {
                        self.read_end = EndKind::ReadFailed(error.to_string());
                    }
                    return Poll::Ready(self.stop_reading());
                }
            }
        }
    }

    /// Nothing more is read; there may be a last line without its end.
    fn stop_reading(&mut self) -> Wake {
        self.reader = None;
        self.lines.finish(&mut self.items);
        if matches!(self.process, Process::None | Process::Gone { .. }) {
            return self.end();
        }
        self.wait_a_little();
        Wake::Lines
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Wake> {
        if self.poll_process(cx) {
            // Reading may have paused; from now on it does not.
            return Poll::Ready(Wake::Resume);
        }
        let gone = matches!(self.process, Process::None | Process::Gone { .. });
        if gone && self.reader.is_none() {
            return Poll::Ready(self.end());
        }
        if let Some(patience) = &mut self.patience
            && patience.as_mut().poll(cx).is_ready()
        {
            self.patience = None;
            self.lines.finish(&mut self.items);
            return Poll::Ready(self.end());
        }
        Poll::Pending
    }

    /// Notices that the child is gone, and starts the time that its output may still take. True at that moment.
    fn poll_process(&mut self, cx: &mut Context<'_>) -> bool {
        let gone = match &mut self.process {
            Process::Running { child, is_asked: true, .. } if !child.has_exited() => None,
            Process::Running { exit, is_asked, .. } => {
                *is_asked = true;
                match exit.as_mut().poll(cx) {
                    Poll::Ready(exit) => Some((None, exit)),
                    Poll::Pending => None,
                }
            }
            Process::Ending(end) => match end.as_mut().poll(cx) {
                Poll::Ready((child, report)) => {
                    let exit = report.exit.unwrap_or(Exit { status: None });
                    Some((Some((child, report)), exit))
                }
                Poll::Pending => None,
            },
            _ => None,
        };
        let Some((ended, exit)) = gone else {
            return false;
        };
        self.process = match (std::mem::replace(&mut self.process, Process::Moving), ended) {
            (_, Some((child, report))) => Process::Gone { child, exit, report: Some(report) },
            (Process::Running { child, .. }, None) => Process::Gone { child, exit, report: None },
            (other, None) => other,
        };
        self.ending = true;
        self.wait_a_little();
        true
    }

    fn wait_a_little(&mut self) {
        self.patience = Some(Box::pin(sleep(DRAIN)));
    }

    fn end(&mut self) -> Wake {
        let kind = std::mem::replace(&mut self.read_end, EndKind::EndOfStream);
        Wake::Ended(match (kind, self.exit()) {
            (EndKind::EndOfStream, Some(_)) => EndKind::Exited,
            (kind, _) => kind,
        })
    }
}

fn descend(mut child: Child, ladder: Ladder) -> Later<(Child, Report)> {
    Box::pin(async move {
        let report = child.close(ladder).await;
        (child, report)
    })
}

/// Whether reading waits for the reader of events.
#[derive(Default)]
struct Pause {
    /// Wakes us to see whether the reader of events still reads, and how often it had read at the last look.
    look: Option<(Pin<Box<Sleep>>, u64)>,
    /// It has stopped; this is how often it had read then.
    stalled_at: Option<u64>,
}

enum May {
    Read,
    LookAgain,
}

impl Pause {
    fn poll_may_read<E: End>(&mut self, cx: &mut Context<'_>, routing: &mut Routing<E>) -> Poll<May> {
        let events = routing.events();
        if !events.is_full() || routing.has_open_requests() {
            self.look = None;
            return Poll::Ready(May::Read);
        }
        let polls = events.polls();
        if self.stalled_at == Some(polls) {
            return Poll::Ready(May::Read);
        }
        self.stalled_at = None;
        if events.poll_room(cx).is_ready() {
            self.look = None;
            return Poll::Ready(May::Read);
        }
        let (look, seen) = self.look.get_or_insert_with(|| (Box::pin(sleep(STALLED_AFTER)), polls));
        if look.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        if *seen == polls {
            self.stalled_at = Some(polls);
            self.look = None;
        } else {
            *seen = polls;
            look.as_mut().reset(Instant::now() + STALLED_AFTER);
        }
        Poll::Ready(May::LookAgain)
    }
}
