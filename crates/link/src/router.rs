//! The task that owns a connection: reads it, knows which requests are open in either direction, and ends it.
//!
//! It awaits neither handlers nor readers. Requests go to [`Serve`](crate::Serve), which returns at once; events go to an
//! unbounded queue; replies go to the request that waits for them.

mod input;
mod process;
mod routing;

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use pilothouse_proc::Ladder;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::connect::Connect;
use crate::end::End;
use crate::ended::{EndKind, Ended};
use crate::handle::{Closed, Handle, RequestIds, Shared};
use crate::panics::contain;
use crate::queue::{self, Events};
use crate::tape::Taps;
use crate::transport::Transport;
use crate::waiting::Resolver;
use crate::writer::Writer;

use input::{Input, Read};
use process::Process;
use routing::Routing;

/// How long the output of a child that has exited is read on: a descendant may hold the pipe.
const DRAIN: Duration = Duration::from_millis(250);

/// How long a child's exit is waited for behind the end of its output: it may have closed its output and live on. An exit
/// says more, and on a busy machine it is noticed late.
const EXIT: Duration = Duration::from_secs(1);

/// How much is read from an end that is being closed. Without a bound a child that writes faster than it is read would put
/// off its own end for ever, and fill the memory of its host.
const LAST_WORDS: usize = 64 << 20;

/// Connects and starts the tasks.
pub(crate) fn start<E: End>(connect: Connect<E>, transport: Transport) -> (Handle<E>, Events<E::In>) {
    let writer = Arc::new(Writer::new(transport.writer, E::READS.opposite(), connect.taps.clone()));
    let resolver = Resolver::new();
    let (events_in, events) = queue::queue();
    let (close, close_asked) = watch::channel(None);
    let (ended_in, ended) = watch::channel(None);
    let (closed_in, closed) = watch::channel(None);
    let handle = Handle::new(Shared {
        writer: writer.clone(),
        waiting: resolver.waiting(),
        close,
        ids: RequestIds::new(),
        ended,
        closed,
        child: transport.child.as_ref().map(|child| (child.pid(), child.stderr())),
        request_timeout: connect.request_timeout,
        ladder: connect.ladder,
        end: std::marker::PhantomData,
    });
    let router = Router {
        close_asked,
        input: Input::new(transport.reader, connect.max_line),
        process: transport.child.map(Process::new),
        routing: Routing::new(connect.serve, writer.clone(), resolver, events_in, connect.taps.clone()),
        ladder: connect.ladder,
        closing: false,
        read_failure: None,
        deadline: None,
        taps: connect.taps,
        ended: ended_in,
        closed: closed_in,
    };
    let drained = tokio::spawn(writer.drain());
    tokio::spawn(router.run(drained));
    (handle, events)
}

struct Router<E: End> {
    /// Holds a ladder once a handle asked for the end; its sender goes with the last handle.
    close_asked: watch::Receiver<Option<Ladder>>,
    input: Input,
    process: Option<Process>,
    routing: Routing<E>,
    ladder: Ladder,
    /// This end asked for the end.
    closing: bool,
    read_failure: Option<io::Error>,
    /// When an end under way is waited for no longer.
    deadline: Option<Instant>,
    taps: Taps,
    ended: watch::Sender<Option<Arc<Ended>>>,
    closed: watch::Sender<Option<Closed>>,
}

impl<E: End> Router<E> {
    async fn run(mut self, drained: JoinHandle<()>) {
        let kind = self.converse().await;
        let cause = Arc::new(Ended {
            kind,
            exit: self.process.as_ref().and_then(Process::exit),
            stderr_tail: self.process.as_ref().map(Process::stderr_tail).unwrap_or_default(),
            last_failure: self.routing.take_last_failure(),
        });
        tracing::debug!(%cause, "connection ended");
        if !E::OUTLIVES_INPUT {
            // Nothing is written any more to an end that is known to be gone.
            self.routing.abandon_output();
        }
        // Publish the cause before failing the open requests, because they read it.
        self.ended.send_replace(Some(cause.clone()));
        if E::OUTLIVES_INPUT {
            self.routing.input_over();
            // Frames and answers still leave, until this end is done as well.
            if !self.closing {
                let ladder = asked(&mut self.close_asked).await;
                self.close(ladder.unwrap_or(self.ladder));
            }
            // An other end that does not read what is left gets as long as a child gets to end.
            let _ = tokio::time::timeout(self.ladder.after_end_of_input, drained).await;
        }
        self.routing.end();
        // Handlers go with it, and what they hold may panic when it is dropped.
        contain("dropping a handler", || drop(self.routing));
        // A child that still writes gets SIGPIPE once nobody reads.
        drop(self.input);
        let report = match &mut self.process {
            None => None,
            Some(process) => {
                process.end_by(self.ladder);
                Some(process.gone().await.clone())
            }
        };
        self.taps.ended(report.as_ref().and_then(|report| report.exit));
        self.closed.send_replace(Some(Closed { cause, report }));
    }

    /// Handles one thing after the other until the connection is at its end.
    async fn converse(&mut self) -> EndKind {
        while !(E::OUTLIVES_INPUT && self.closing) {
            // Reading comes last: an other end that always has more to say must not hide the rest.
            tokio::select! {
                biased;
                // Cancel-safe: a watch keeps its value.
                ladder = asked(&mut self.close_asked), if !self.closing => {
                    self.close(ladder.unwrap_or(self.ladder));
                }
                // Cancel-safe: the future lives in the process.
                () = gone(&mut self.process) => {
                    if !self.input.is_open() {
                        break;
                    }
                    self.input.limit(LAST_WORDS);
                    self.deadline = Some(Instant::now() + DRAIN);
                }
                // Cancel-safe: the deadline is a point in time.
                () = reached(self.deadline) => {
                    self.input.close();
                    break;
                }
                // Cancel-safe: `Routing::room` changes nothing before it returns, and for `Input::read` see there.
                read = read(&mut self.input, &mut self.routing), if self.input.is_open() => match read {
                    Ok(Read::Lines) => self.routing.route(&mut self.input.items),
                    end => {
                        self.read_failure = end.err();
                        self.input.close();
                        if self.process.as_ref().is_none_or(Process::is_gone) {
                            break;
                        }
                        // An exit explains more than the end of a stream, and usually follows.
                        self.routing.route(&mut self.input.items);
                        self.deadline = Some(Instant::now() + EXIT);
                    }
                },
            }
        }
        self.routing.route(&mut self.input.items);
        match &self.read_failure {
            _ if self.closing => EndKind::Closed,
            Some(error) => EndKind::ReadFailed(error.to_string()),
            None if self.process.as_ref().is_some_and(Process::is_gone) => EndKind::Exited,
            None => EndKind::EndOfStream,
        }
    }

    fn close(&mut self, ladder: Ladder) {
        self.closing = true;
        self.ladder = ladder;
        self.routing.end_input();
        // An end under way is not held up by readers of events: a child that cannot write cannot exit either.
        self.input.limit(LAST_WORDS);
        match &mut self.process {
            Some(process) => process.end_by(ladder),
            None => self.deadline = Some(Instant::now() + ladder.after_end_of_input),
        }
    }
}

/// Waits until the end is asked for: the ladder to use, or none when the last handle was dropped.
async fn asked(close: &mut watch::Receiver<Option<Ladder>>) -> Option<Ladder> {
    close.wait_for(Option::is_some).await.ok().and_then(|ladder| *ladder)
}

/// Waits until the child is gone; for ever if there is none, or if that is known already.
async fn gone(process: &mut Option<Process>) {
    match process {
        Some(process) if !process.is_gone() => {
            process.gone().await;
        }
        _ => pending().await,
    }
}

async fn reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}

async fn read<E: End>(input: &mut Input, routing: &mut Routing<E>) -> io::Result<Read> {
    if !input.is_limited() {
        routing.room().await;
    }
    input.read().await
}
