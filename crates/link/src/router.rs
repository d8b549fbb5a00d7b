//! The task that owns a connection: reads it, knows which requests are open in either direction, and ends it.
//!
//! It awaits nobody. Requests go to [`Serve`], which returns at once; events go to an unbounded queue; replies go to
//! whoever waits for them.

mod routing;
mod wake;

use std::sync::Arc;

use pilothouse_proc::Ladder;
use pilothouse_proto::{ControlResponse, RequestId};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::connect::Connect;
use crate::end::End;
use crate::ended::{EndKind, Ended};
use crate::handle::{Closed, Handle, RequestIds, Shared};
use crate::queue::{self, Events};
use crate::tape::Taps;
use crate::transport::Transport;
use crate::writer::Writer;

use routing::Routing;
use wake::{Wake, Wakes};

/// What handles ask of the router.
#[derive(Debug)]
pub(crate) enum Command {
    /// A request is about to be sent; its reply goes here.
    Await { id: RequestId, reply: oneshot::Sender<Box<ControlResponse>> },
    /// Nobody waits for that reply any more.
    Forget(RequestId),
    /// No more will be sent.
    EndInput,
    /// Close by this ladder.
    Close(Ladder),
}

/// Connects and starts the tasks.
pub(crate) fn start<E: End>(connect: Connect<E>, transport: Transport) -> (Handle<E>, Events<E::In>) {
    let writer = Arc::new(Writer::new(transport.writer, E::READS.opposite(), connect.taps.clone()));
    // Unbounded, because registering a request must not wait for the router; there are never more commands here
    // than requests being made.
    let (commands, inbox) = mpsc::unbounded_channel();
    let (events_in, events) = queue::queue();
    let (ended_in, ended) = watch::channel(None);
    let (closed_in, closed) = watch::channel(None);
    let handle = Handle::new(Shared {
        writer: writer.clone(),
        commands,
        ids: RequestIds::new(),
        ended,
        closed,
        child: transport.child.as_ref().map(|child| (child.pid(), child.stderr())),
        request_timeout: connect.request_timeout,
        ladder: connect.ladder,
        end: std::marker::PhantomData,
    });
    let router = Router {
        wakes: Wakes::new(inbox, transport.reader, transport.child, connect.max_line),
        routing: Routing::new(connect.serve, writer.clone(), events_in, connect.taps.clone()),
        taps: connect.taps,
        ladder: connect.ladder,
        closing: false,
        ended: ended_in,
        closed: closed_in,
    };
    let drained = tokio::spawn(writer.drain());
    tokio::spawn(router.run(drained));
    (handle, events)
}

struct Router<E: End> {
    wakes: Wakes,
    routing: Routing<E>,
    ladder: Ladder,
    /// This end asked for the end.
    closing: bool,
    taps: Taps,
    ended: watch::Sender<Option<Arc<Ended>>>,
    closed: watch::Sender<Option<Closed>>,
}

impl<E: End> Router<E> {
    async fn run(mut self, drained: JoinHandle<()>) {
        let kind = self.converse().await;
        let kind = if self.closing { EndKind::Closed } else { kind };
        let exit = self.wakes.exit();
        let cause = Arc::new(Ended {
            kind,
            exit,
            stderr_tail: self.wakes.stderr_tail(),
            last_failure: self.routing.take_last_failure(),
        });
        tracing::debug!(%cause, "connection ended");
        // The cause first: whoever is woken by what follows looks for it.
        self.ended.send_replace(Some(cause.clone()));
        if E::OUTLIVES_INPUT {
            self.routing.input_over();
            self.speak_on().await;
            self.routing.end_input();
            // Whoever does not read what is left has had as long as a child gets to end.
            let _ = tokio::time::timeout(self.ladder.after_end_of_input, drained).await;
        }
        self.routing.end();
        drop(self.routing);
        let report = self.wakes.into_report(self.ladder).await;
        self.taps.ended(report.as_ref().and_then(|report| report.exit));
        self.closed.send_replace(Some(Closed { cause, report }));
    }

    /// Handles one thing after the other until the connection is at its end.
    async fn converse(&mut self) -> EndKind {
        loop {
            if E::OUTLIVES_INPUT && self.closing {
                return EndKind::Closed;
            }
            match self.wakes.next(&mut self.routing).await {
                Wake::Command(Command::Await { id, reply }) => self.routing.await_reply(id, reply),
                Wake::Command(Command::Forget(id)) => self.routing.forget(&id),
                Wake::Command(Command::EndInput) => self.routing.end_input(),
                Wake::Command(Command::Close(ladder)) => self.close(ladder),
                Wake::HandlesGone => self.close(self.ladder),
                Wake::Lines => self.routing.route(self.wakes.lines()),
                Wake::Resume => {}
                Wake::Ended(kind) => {
                    self.routing.route(self.wakes.lines());
                    return kind;
                }
            }
        }
    }

    /// After the end of the input: frames and answers still leave, until this end is done as well.
    async fn speak_on(&mut self) {
        while !self.closing {
            match self.wakes.next_command().await {
                // Dropping the waiter tells it that no reply can come.
                Some(Command::Await { .. } | Command::Forget(_)) => {}
                Some(Command::EndInput) => self.routing.end_input(),
                Some(Command::Close(ladder)) => self.close(ladder),
                None => self.close(self.ladder),
            }
        }
    }

    fn close(&mut self, ladder: Ladder) {
        if !self.closing {
            self.closing = true;
            self.ladder = ladder;
            self.routing.end_input();
            self.wakes.start_ending(ladder);
        }
    }
}
