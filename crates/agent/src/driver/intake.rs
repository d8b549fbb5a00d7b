//! What comes from the host, in the order in which it was sent.

use pilothouse_link::{Agent, Event, Events, Inbound};
use pilothouse_proto::HostFrame;
use tokio::sync::mpsc;

/// Requests and messages come by different ways; this puts them in order again.
#[derive(Debug)]
pub(super) struct Intake {
    events: Events<HostFrame>,
    requests: mpsc::UnboundedReceiver<Inbound<Agent>>,
    /// How many events were handed on.
    taken: u64,
    held: Option<Inbound<Agent>>,
    stashed: Option<Event<HostFrame>>,
    events_ended: bool,
}

/// One thing that came.
#[derive(Debug)]
pub(super) enum Came {
    Request(Box<Inbound<Agent>>),
    Event(Box<Event<HostFrame>>),
    /// Nothing more will come.
    End,
}

impl Intake {
    pub(super) fn new(events: Events<HostFrame>, requests: mpsc::UnboundedReceiver<Inbound<Agent>>) -> Self {
        Self { events, requests, taken: 0, held: None, stashed: None, events_ended: false }
    }

    /// The next thing. Safe to drop and call again: what was received is kept here.
    pub(super) async fn next(&mut self) -> Came {
        loop {
            self.hold();
            if let Some(request) = self.due() {
                return Came::Request(Box::new(request));
            }
            if let Some(event) = self.stashed.take() {
                self.taken += 1;
                return Came::Event(Box::new(event));
            }
            if self.events_ended {
                return match self.held.take() {
                    Some(request) => Came::Request(Box::new(request)),
                    None => Came::End,
                };
            }
            tokio::select! {
                biased;
                Some(request) = self.requests.recv(), if self.held.is_none() => self.held = Some(request),
                event = self.events.next() => match event {
                    // A request that was sent before it is looked for first, in the next round.
                    Some(event) => self.stashed = Some(event),
                    None => self.events_ended = true,
                },
            }
        }
    }

    fn hold(&mut self) {
        if self.held.is_none() {
            self.held = self.requests.try_recv().ok();
        }
    }

    fn due(&mut self) -> Option<Inbound<Agent>> {
        self.held.take_if(|request| request.after <= self.taken)
    }
}
