//! One turn in the terminal: show it, ask what has to be asked, stop it on Ctrl-C.

use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use pilothouse::{Options, OwnTurns, PermissionRequest, Session, Turn, TurnResult};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::unconstrained;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::printer::{DIM, Printer};
use crate::talk::input::TypedAhead;
use crate::talk::output::Output;
use crate::talk::{approval, input};

/// How often the progress line moves.
const TICK: Duration = Duration::from_millis(120);

/// Where a person sits: approvals to decide, and Ctrl-C.
#[derive(Debug)]
pub(crate) struct Desk {
    requests: mpsc::UnboundedReceiver<PermissionRequest>,
    interrupts: Signal,
    typed_ahead: TypedAhead,
}

/// How a turn ended for the person.
#[derive(Debug)]
pub(crate) enum Ending {
    /// With a result.
    Result(Box<TurnResult>),
    /// With a result, after Ctrl-C.
    Stopped,
    /// With a second Ctrl-C.
    Quit,
}

/// What wants attention between turns.
#[derive(Debug)]
pub(crate) enum Call {
    /// The person pressed Ctrl-C.
    Interrupt,
    /// The agent started a turn by itself.
    Turn(Box<Turn>),
    /// The agent asks for an approval, for instance for something that goes on in the background.
    Approval(PermissionRequest),
}

impl Desk {
    /// Sets up the desk, and options that bring approvals to it.
    pub(crate) fn new(options: Options) -> std::io::Result<(Self, Options)> {
        // Unbounded: there are as many requests as tool calls wait, and the agent waits with them.
        let (sender, requests) = mpsc::unbounded_channel();
        let options = options.on_permission(move |request| {
            // Without a desk the request is dropped, which refuses it.
            sender.send(request).ok();
            std::future::ready(())
        });
        let interrupts = signal(SignalKind::interrupt())?;
        Ok((Self { requests, interrupts, typed_ahead: TypedAhead::default() }, options))
    }

    /// What was typed ahead of the questions that were asked here.
    pub(crate) fn typed_ahead(&self) -> TypedAhead {
        self.typed_ahead.clone()
    }

    /// Waits for Ctrl-C.
    pub(crate) async fn interrupted(&mut self) {
        self.interrupts.recv().await;
    }

    /// Waits for what comes between turns. Cancel safe.
    pub(crate) async fn called(&mut self, own_turns: &mut OwnTurns) -> Call {
        // In this order, so that a Ctrl-C at the prompt stops no turn that comes after it, and a tool call of a new turn is
        // shown before it is asked about.
        tokio::select! {
            biased;
            () = async { self.interrupts.recv().await; } => Call::Interrupt,
            Some(turn) = own_turns.next() => Call::Turn(Box::new(turn)),
            Some(request) = self.requests.recv() => Call::Approval(request),
        }
    }

    /// Shows a turn to its end.
    pub(crate) async fn follow(
        &mut self,
        session: &Session,
        mut turn: Turn,
        output: &mut Output,
        printer: &mut Printer,
    ) -> anyhow::Result<Ending> {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut interrupted = false;
        loop {
            // Every arm is cancel safe: they wait on channels, a timer and a signal. In this order, so that a tool call is
            // shown before it is asked about, and no flood of messages keeps Ctrl-C away.
            tokio::select! {
                biased;
                () = async { self.interrupts.recv().await; } => {
                    if interrupted {
                        return Ok(Ending::Quit);
                    }
                    interrupted = true;
                    interrupt(session, printer)?;
                }
                Some(line) = output.heard() => output.line(&line, printer)?,
                event = turn.next() => match event {
                    Some(event) => output.event(&event?, printer)?,
                    None => break,
                },
                Some(request) = self.requests.recv() => {
                    interrupted |= self.decide(request, session, printer).await?;
                }
                _ = ticks.tick() => output.tick(printer)?,
            }
        }
        let result = turn.result().await?;
        output.result(&result, result.raw(), printer)?;
        self.forget_interrupts();
        if interrupted {
            printer.note(format_args!("{DIM}stopped{DIM:#}"))?;
            return Ok(Ending::Stopped);
        }
        Ok(Ending::Result(Box::new(result)))
    }

    /// Has a request decided that came between turns.
    pub(crate) async fn decide_between_turns(
        &mut self,
        request: PermissionRequest,
        session: &Session,
        printer: &mut Printer,
    ) -> anyhow::Result<()> {
        // It may be left over from a turn that was stopped, and concern nobody any more.
        if request.cancelled().is_cancelled() {
            return Ok(());
        }
        self.decide(request, session, printer).await?;
        self.forget_interrupts();
        Ok(())
    }

    /// Forgets a Ctrl-C that came too late for what it was to stop: it is not meant for what comes next.
    fn forget_interrupts(&mut self) {
        // Nothing needs to be woken: only what has already come is looked at. Unconstrained, because a task that has used up
        // its budget would otherwise be told that there is nothing.
        let mut cx = Context::from_waker(Waker::noop());
        while pin!(unconstrained(self.interrupts.recv())).poll(&mut cx).is_ready() {}
    }

    /// Has a request decided; true if Ctrl-C was the answer.
    async fn decide(
        &mut self,
        request: PermissionRequest,
        session: &Session,
        printer: &mut Printer,
    ) -> anyhow::Result<bool> {
        if !input::somebody_is_there() {
            approval::deny_unasked(request, printer)?;
            return Ok(false);
        }
        // The last question's answer may have been typed twice.
        self.typed_ahead.clear_the_way()?;
        let given_up = CancellationToken::new();
        {
            let mut asked = std::pin::pin!(approval::ask(request, &given_up, printer));
            tokio::select! {
                asked = &mut asked => {
                    asked?;
                    return Ok(false);
                }
                _ = self.interrupts.recv() => given_up.cancel(),
            }
            // The question must end before anything else is printed.
            asked.await?;
        }
        interrupt(session, printer)?;
        Ok(true)
    }
}

/// Stops the turn; the result that follows says so. The agent answers when it can.
fn interrupt(session: &Session, printer: &mut Printer) -> std::io::Result<()> {
    printer.note(format_args!("\n{DIM}stopping; Ctrl-C again to end{DIM:#}"))?;
    let session = session.clone();
    tokio::spawn(async move { session.interrupt().await });
    Ok(())
}

#[cfg(test)]
mod tests {
    use nix::sys::signal::{Signal, raise};

    use super::*;

    #[tokio::test]
    async fn a_ctrl_c_that_came_too_late_is_forgotten_and_the_next_one_counts() {
        let (mut desk, _options) = Desk::new(Options::new()).unwrap();
        let mut arrived = signal(SignalKind::interrupt()).unwrap();
        raise(Signal::SIGINT).unwrap();
        arrived.recv().await;
        // As a turn may leave it: without a budget, nothing that has come is seen.
        let (sender, mut spent) = mpsc::unbounded_channel();
        while {
            sender.send(()).unwrap();
            let mut cx = Context::from_waker(Waker::noop());
            spent.poll_recv(&mut cx).is_ready()
        } {}
        desk.forget_interrupts();
        let again = tokio::time::timeout(Duration::from_millis(50), desk.interrupted()).await;
        assert!(again.is_err(), "it was remembered");
        raise(Signal::SIGINT).unwrap();
        desk.interrupted().await;
    }
}
