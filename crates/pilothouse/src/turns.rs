//! Which send belongs to which turn: a pure machine, signals in, resolutions out.
//!
//! Sends and results are not one to one. The CLI merges messages that arrive during a turn into one next turn, takes
//! those that arrive during a tool run into the current one, and starts turns of its own. A current CLI names the
//! messages a turn took in, by the uuid we stamped on them; for one that does not, sends are matched in order and
//! whatever is left is settled when the run has gone quiet.

pub(crate) mod signal;

use std::collections::VecDeque;

use pilothouse_proto::Uuid;

pub(crate) use signal::{Lifecycle, RunState, Signal};

/// Names one turn handle inside a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TurnKey(pub(crate) u64);

/// What one signal changed. The frame itself goes to [`Turns::audience`] as it is *before* `ended` is taken off it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// A turn that nobody here asked for has begun.
    pub(crate) started: Option<TurnKey>,
    /// These end with the frame that was observed, which is a result.
    pub(crate) ended: Vec<TurnKey>,
    /// These were withdrawn before any turn took them.
    pub(crate) cancelled: Vec<TurnKey>,
}

/// The state of all open turns of one session.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    next_key: u64,
    /// Sends that no result has answered yet, oldest first.
    open: VecDeque<Send>,
    current: Option<Current>,
    /// The CLI has shown that it reports messages by uuid, so order is never used for guessing.
    names_messages: bool,
    /// Some turn has ended, so there is a result that left-over sends can be settled with.
    has_result: bool,
}

#[derive(Debug)]
struct Send {
    key: TurnKey,
    uuid: Uuid,
    /// A result or an idle run was seen after this was sent, and no sign of it since.
    overtaken: bool,
    /// The CLI has said that it keeps this for a later turn.
    queued: bool,
}

impl Send {
    /// Whether silence means that no turn will take this any more: not while a CLI that has it says that it is at work.
    fn is_left_over(&self, at_work: bool) -> bool {
        self.overtaken && !(self.queued && at_work)
    }
}

#[derive(Debug, Default)]
struct Current {
    audience: Vec<TurnKey>,
    /// The run was said to be idle although no result has come, and nothing was heard of the turn since.
    stalled: bool,
}

/// A result lists at most this many uuids, so a full list does not prove that a message was left out.
const LISTED_UUIDS: usize = 64;

impl Turns {
    /// Notes a user message that is about to be written.
    pub(crate) fn sent(&mut self, uuid: impl Into<Uuid>) -> TurnKey {
        let key = self.fresh_key();
        self.open.push_back(Send { key, uuid: uuid.into(), overtaken: false, queued: false });
        key
    }

    /// Forgets a send that could not be written.
    pub(crate) fn unsent(&mut self, key: TurnKey) {
        self.open.retain(|send| send.key != key);
        if let Some(current) = &mut self.current {
            current.audience.retain(|member| *member != key);
        }
    }

    /// The turns that see the frames of this moment: those of the running turn, else the oldest send still waiting.
    pub(crate) fn audience(&self) -> &[TurnKey] {
        match (&self.current, self.open.front()) {
            (Some(current), _) => &current.audience,
            (None, Some(send)) => std::slice::from_ref(&send.key),
            (None, None) => &[],
        }
    }

    /// True when no turn runs and no send waits for one.
    pub(crate) fn is_idle(&self) -> bool {
        self.current.is_none() && self.open.is_empty()
    }

    /// Takes in what one frame says about turns.
    pub(crate) fn observe(&mut self, signal: &Signal<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        match signal {
            Signal::Other => {}
            Signal::Lifecycle(uuid, state) => self.lifecycle(uuid, *state, &mut outcome),
            Signal::Body(uuids) => {
                self.open_turn(uuids, &mut outcome);
            }
            Signal::Result { uuids, self_started } => self.result(uuids, *self_started, &mut outcome),
            Signal::State(RunState::Idle) => {
                self.overtake();
                self.current.iter_mut().for_each(|current| current.stalled = true);
            }
            Signal::State(RunState::Busy) => {
                self.open.iter_mut().for_each(|send| send.overtaken = false);
                self.current.iter_mut().for_each(|current| current.stalled = false);
            }
        }
        outcome
    }

    /// True when handles are left that only silence can settle: call [`Turns::settle`] after a pause without frames.
    /// `at_work` is what the CLI says of itself.
    pub(crate) fn waits_for_quiet(&self, at_work: bool) -> bool {
        match &self.current {
            Some(current) => current.stalled,
            None => self.has_result && self.open.iter().any(|send| send.is_left_over(at_work)),
        }
    }

    /// The run stayed quiet: sends that a past turn must have swallowed end with the last result, and so does a turn that
    /// went idle without one.
    pub(crate) fn settle(&mut self, at_work: bool) -> Vec<TurnKey> {
        if !self.waits_for_quiet(at_work) {
            return Vec::new();
        }
        let mut settled = self.current.take().map(|current| current.audience).unwrap_or_default();
        if self.has_result {
            settled.extend(self.open.iter().filter(|send| send.is_left_over(at_work)).map(|send| send.key));
        }
        self.open.retain(|send| !settled.contains(&send.key));
        settled
    }

    /// The connection is over: nothing runs and nothing waits any more.
    pub(crate) fn end(&mut self) {
        self.open.clear();
        self.current = None;
    }

    fn fresh_key(&mut self) -> TurnKey {
        self.next_key += 1;
        TurnKey(self.next_key)
    }

    fn find(&self, uuid: &str) -> Option<TurnKey> {
        self.open.iter().find(|send| send.uuid == uuid).map(|send| send.key)
    }

    fn lifecycle(&mut self, uuid: &str, state: Lifecycle, outcome: &mut Outcome) {
        self.names_messages = true;
        let Some(key) = self.find(uuid) else { return };
        match state {
            Lifecycle::Queued => {
                for send in self.open.iter_mut().filter(|send| send.key == key) {
                    (send.overtaken, send.queued) = (false, true);
                }
            }
            Lifecycle::Started => {
                let current = self.current.get_or_insert_default();
                current.stalled = false;
                if !current.audience.contains(&key) {
                    current.audience.push(key);
                }
            }
            Lifecycle::Cancelled => {
                let taken = self.current.as_ref().is_some_and(|current| current.audience.contains(&key));
                if !taken {
                    self.open.retain(|send| send.key != key);
                    outcome.cancelled.push(key);
                }
            }
            // The result that follows (or came before) is what ends the handle.
            Lifecycle::Completed => {}
        }
    }

    /// Makes sure a turn is running and that the named messages are part of it.
    fn open_turn(&mut self, uuids: &[String], outcome: &mut Outcome) {
        if self.current.is_none() {
            self.current = Some(Current::default());
            self.join(uuids);
            if self.current.as_ref().is_some_and(|current| current.audience.is_empty()) {
                let key = match self.open.front() {
                    Some(send) if !self.names_messages => send.key,
                    _ => {
                        let key = self.fresh_key();
                        outcome.started = Some(key);
                        key
                    }
                };
                self.current.get_or_insert_default().audience.push(key);
            }
        } else {
            self.current.iter_mut().for_each(|current| current.stalled = false);
            self.join(uuids);
        }
    }

    fn join(&mut self, uuids: &[String]) {
        for uuid in uuids {
            self.names_messages = true;
            if let (Some(key), Some(current)) = (self.find(uuid), &mut self.current)
                && !current.audience.contains(&key)
            {
                current.audience.push(key);
            }
        }
    }

    fn result(&mut self, uuids: &[String], self_started: bool, outcome: &mut Outcome) {
        if self.current.is_none() && (self_started || (uuids.is_empty() && self.open.is_empty())) {
            // A result out of nowhere that is nobody's: a failed start, or a turn without a single frame.
            self.has_result = true;
            return;
        }
        self.open_turn(uuids, outcome);
        let Some(current) = self.current.take() else { return };
        outcome.ended = current.audience;
        // A message whose start was announced but that this result does not list belongs to the next turn.
        if !uuids.is_empty() && uuids.len() < LISTED_UUIDS {
            outcome.ended.retain(|key| {
                let send = self.open.iter().find(|send| send.key == *key);
                send.is_none_or(|send| uuids.iter().any(|uuid| send.uuid == uuid.as_str()))
            });
        }
        self.open.retain(|send| !outcome.ended.contains(&send.key));
        self.has_result = true;
        self.overtake();
    }

    fn overtake(&mut self) {
        let taken = self.current.as_ref().map(|current| current.audience.as_slice()).unwrap_or_default();
        for send in self.open.iter_mut().filter(|send| !taken.contains(&send.key)) {
            send.overtaken = true;
        }
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
