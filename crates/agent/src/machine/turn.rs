use pilothouse_proto::{StopReason, ToolUseId};

/// How often a model that hit its output limit is told to go on.
const MOST_CONTINUATIONS: u32 = 3;
/// How often structured output may fail to fit its schema.
const MOST_SCHEMA_FAILURES: u32 = 5;
/// How often in a row a stop hook may send the model on.
pub(crate) const MOST_STOP_BLOCKS: u32 = 8;

/// What a turn is held to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Round trips to the model.
    pub(crate) rounds: Option<u64>,
    /// Whether the turn must end in structured output.
    pub(crate) structured: bool,
}

/// The model's message is complete.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answered {
    /// Why it stopped.
    pub(crate) stop: Option<StopReason>,
    /// Whether anything can be shown of it: text or a call.
    pub(crate) visible: bool,
    /// Whether the money is spent.
    pub(crate) over_budget: bool,
}

/// How a tool call ended, as far as the turn is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallEnd {
    /// There is a result for the model.
    Result,
    /// The host wants the turn to stop.
    Interrupted,
    /// A hook wants the turn to stop.
    HookStopped,
    /// A hook put it off.
    Deferred,
    /// It was one call too many that no check could judge.
    Unjudged,
    /// Structured output was given.
    Structured,
    /// Structured output was given and does not fit its schema.
    BadStructure,
}

/// What is said to a model that stopped too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nudge {
    /// It hit the output limit.
    OutputLimit,
    /// It was stopped by a safety check.
    Refusal,
    /// It said nothing.
    Empty,
    /// It owes structured output.
    Structured,
}

/// Why the model is asked no more, though it has not done what it was to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GaveUp {
    /// It hit the output limit again and again.
    OutputLimit,
    /// A safety check stopped it again, after it had been told.
    Refusal,
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Completed,
    HookStopped,
    /// A hook put a call off.
    Deferred,
    /// A stop hook said that nothing is to follow.
    StopHookPrevented,
    MaxTurns,
    Budget,
    SchemaFailures,
    /// The model goes on calling what no check can judge.
    Unjudged,
    /// The user stopped it while the model answered.
    AbortedStreaming,
    /// The user stopped it while tools ran.
    AbortedTools,
    ApiError,
}

/// What the driver is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Take in what came meanwhile, then ask the model.
    Ask,
    /// Start a tool call.
    Run(ToolUseId),
    /// Say this to the model; `Ask` follows.
    Nudge(Nudge),
    /// Tell this as a failure, then call [`Turn::failed`].
    GiveUp(GaveUp),
    /// Let stop hooks have their say, then call [`Turn::stop_hooks_said`].
    StopHooks,
    /// The turn is over.
    End(End),
}

/// One turn: the model is asked, calls tools, is asked again, until it is done or something ends it.
#[derive(Debug)]
pub(crate) struct Turn {
    limits: Limits,
    rounds: u64,
    calls: Vec<Call>,
    /// The model's message is complete; its calls may still run.
    answered: bool,
    ended: bool,
    continuations: u32,
    refused: bool,
    nudged_empty: bool,
    nudged_structured: bool,
    schema_failures: u32,
    stop_blocks: u32,
}

#[derive(Debug)]
struct Call {
    id: ToolUseId,
    parallel: bool,
    state: CallState,
}

#[derive(Debug, PartialEq)]
enum CallState {
    Waiting,
    Running,
    Ended(CallEnd),
}

impl Turn {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            rounds: 0,
            calls: Vec::new(),
            answered: false,
            ended: false,
            continuations: 0,
            refused: false,
            nudged_empty: false,
            nudged_structured: false,
            schema_failures: 0,
            stop_blocks: 0,
        }
    }

    /// The turn begins.
    pub(crate) fn begin(&mut self) -> Vec<Next> {
        self.ask()
    }

    /// The model calls a tool. It need not have finished its message.
    pub(crate) fn called(&mut self, id: ToolUseId, parallel: bool) -> Vec<Next> {
        self.calls.push(Call { id, parallel, state: CallState::Waiting });
        self.schedule()
    }

    /// The model's message broke off and will be made anew; its calls are void.
    pub(crate) fn discarded(&mut self) {
        self.calls.clear();
    }

    /// The model's message is complete.
    pub(crate) fn answered(&mut self, answer: Answered) -> Vec<Next> {
        self.answered = true;
        self.rounds += 1;
        if answer.over_budget {
            return self.end(End::Budget);
        }
        if !self.calls.is_empty() {
            return self.after_calls();
        }
        match answer.stop {
            Some(StopReason::MaxTokens | StopReason::ModelContextWindowExceeded) => {
                if self.continuations == MOST_CONTINUATIONS {
                    return vec![Next::GiveUp(GaveUp::OutputLimit)];
                }
                self.continuations += 1;
                self.nudge(Nudge::OutputLimit)
            }
            Some(StopReason::Refusal) => {
                if std::mem::replace(&mut self.refused, true) {
                    return vec![Next::GiveUp(GaveUp::Refusal)];
                }
                self.nudge(Nudge::Refusal)
            }
            _ if !answer.visible && !self.nudged_empty => {
                self.nudged_empty = true;
                self.nudge(Nudge::Empty)
            }
            _ if self.limits.structured && !self.nudged_structured => {
                self.nudged_structured = true;
                let mut next = vec![Next::Nudge(Nudge::Structured)];
                next.extend(self.next_round());
                next
            }
            _ => vec![Next::StopHooks],
        }
    }

    /// The stop hooks have had their say: done, or something for the model to go on with, which the driver has put into
    /// the conversation.
    pub(crate) fn stop_hooks_said(&mut self, go_on: bool) -> Vec<Next> {
        if !go_on || self.stop_blocks == MOST_STOP_BLOCKS {
            return self.end(End::Completed);
        }
        self.stop_blocks += 1;
        self.next_round()
    }

    /// A stop hook wants nothing to follow.
    pub(crate) fn stop_hooks_forbid(&mut self) -> Vec<Next> {
        self.end(End::StopHookPrevented)
    }

    /// Whether stop hooks have sent the model on as often as they may.
    pub(crate) fn stop_hooks_exhausted(&self) -> bool {
        self.stop_blocks == MOST_STOP_BLOCKS
    }

    /// Whether a stop hook has sent the model on before in this turn.
    pub(crate) fn stop_hook_active(&self) -> bool {
        self.stop_blocks > 0
    }

    /// A tool call ended.
    pub(crate) fn call_ended(&mut self, id: &ToolUseId, end: CallEnd) -> Vec<Next> {
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == *id) {
            if end == CallEnd::BadStructure {
                self.schema_failures += 1;
            }
            call.state = CallState::Ended(end);
        }
        let mut next = self.schedule();
        if self.answered {
            next.extend(self.after_calls());
        }
        next
    }

    /// The API gave no answer.
    pub(crate) fn failed(&mut self) -> Vec<Next> {
        self.end(End::ApiError)
    }

    /// The user stops the turn. Whether tools ran decides how that is told.
    pub(crate) fn stopped(&mut self) -> Vec<Next> {
        let tools = self.calls.iter().any(|call| !matches!(call.state, CallState::Ended(_)));
        self.end(if tools || (self.answered && !self.calls.is_empty()) {
            End::AbortedTools
        } else {
            End::AbortedStreaming
        })
    }

    /// Calls without a result yet, in order.
    pub(crate) fn unfinished(&self) -> Vec<ToolUseId> {
        let open = self.calls.iter().filter(|call| !matches!(call.state, CallState::Ended(_)));
        open.map(|call| call.id.clone()).collect()
    }

    /// The round trips made.
    pub(crate) fn rounds(&self) -> u64 {
        self.rounds
    }

    fn ask(&mut self) -> Vec<Next> {
        self.calls.clear();
        self.answered = false;
        vec![Next::Ask]
    }

    fn nudge(&mut self, nudge: Nudge) -> Vec<Next> {
        let mut next = vec![Next::Nudge(nudge)];
        next.extend(self.ask());
        next
    }

    fn end(&mut self, end: End) -> Vec<Next> {
        if self.ended {
            return Vec::new();
        }
        self.ended = true;
        vec![Next::End(end)]
    }

    /// Starts what may start: calls that run beside others as long as only such run, any other one alone, in order.
    fn schedule(&mut self) -> Vec<Next> {
        let mut next = Vec::new();
        let stopping =
            self.calls.iter().any(|call| matches!(call.state, CallState::Ended(CallEnd::Interrupted)));
        for at in 0..self.calls.len() {
            let (before, rest) = self.calls.split_at_mut(at);
            let Some(call) = rest.first_mut() else { break };
            if call.state != CallState::Waiting {
                continue;
            }
            let busy = before.iter().any(|other| {
                other.state == CallState::Waiting
                    || (other.state == CallState::Running && !(other.parallel && call.parallel))
            });
            if busy || self.ended || stopping {
                break;
            }
            call.state = CallState::Running;
            next.push(Next::Run(call.id.clone()));
        }
        next
    }

    /// When the message is complete and all its calls have ended, the next round or the end.
    fn after_calls(&mut self) -> Vec<Next> {
        let ended = |call: &Call, end: &CallEnd| matches!(&call.state, CallState::Ended(how) if how == end);
        if self.calls.iter().any(|call| ended(call, &CallEnd::Interrupted)) {
            return self.end(End::AbortedTools);
        }
        if self.calls.iter().any(|call| !matches!(call.state, CallState::Ended(_))) {
            return Vec::new();
        }
        if self.calls.iter().any(|call| ended(call, &CallEnd::Structured)) {
            return self.end(End::Completed);
        }
        if self.calls.iter().any(|call| ended(call, &CallEnd::Deferred)) {
            return self.end(End::Deferred);
        }
        if self.calls.iter().any(|call| ended(call, &CallEnd::HookStopped)) {
            return self.end(End::HookStopped);
        }
        if self.calls.iter().any(|call| ended(call, &CallEnd::Unjudged)) {
            return self.end(End::Unjudged);
        }
        if self.schema_failures >= MOST_SCHEMA_FAILURES {
            return self.end(End::SchemaFailures);
        }
        self.next_round()
    }

    /// Asks once more, unless there were rounds enough.
    fn next_round(&mut self) -> Vec<Next> {
        match self.limits.rounds {
            Some(most) if self.rounds >= most => self.end(End::MaxTurns),
            _ => self.ask(),
        }
    }
}
