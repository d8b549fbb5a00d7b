//! The loop of a session: takes what comes, and does what the queue says.

mod background;
mod control;
mod frames;
mod held;
mod intake;
mod resuming;

use std::sync::Arc;
use std::time::Duration;

use pilothouse_link::Inbound;
use pilothouse_proto::AgentFrame;
use pilothouse_proto::system::SessionState;
use pilothouse_tools::TaskEnd;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::agent::{Complain, Finish, Signal};
use crate::frames::result;
use crate::launch::OutputFormat;
use crate::machine::{Doing, Prompt, Queue, Stop};
use crate::resume;
use crate::session::Session;
use crate::stop::StopSignal;
use crate::suggest;
use crate::talk;
use crate::turn::{self, STOPPING, TurnOver};
use crate::unwind::caught;

use held::Held;
use intake::{Came, Intake};

/// How long a session that cannot begin waits for its host to speak first.
const FIRST_WORD: Duration = Duration::from_secs(2);

/// Everything the loop listens to.
pub(crate) struct Driver {
    pub(crate) session: Arc<Session>,
    pub(crate) signals: mpsc::UnboundedReceiver<Signal>,
    pub(crate) task_ends: mpsc::UnboundedReceiver<TaskEnd>,
    pub(crate) complain: Complain,
    pub(crate) first: Option<Prompt>,
}

struct Running {
    driver: Driver,
    turns: JoinSet<TurnOver>,
    stop: StopSignal,
    /// Set when the session is over.
    finish: Option<i32>,
    /// The process ends after the running turn, whatever waits.
    leaving: Option<i32>,
    held: Held,
    /// Until when an ending session waits for its subagents.
    patience: Option<Instant>,
    /// Takes up a turn that an earlier process did not end, once the host has spoken.
    resuming: Option<Prompt>,
    /// The host knows of that.
    resumption_told: bool,
    /// Fires when the user has said something, so that nobody need guess it any more.
    guessing: CancellationToken,
}

/// How long a session that a signal ends waits for its commands to be told of.
const LAST_WORDS: Duration = Duration::from_millis(20);

/// How long a session whose input is over waits for subagents in the background, unless it is told otherwise.
const BG_CEILING: Duration = Duration::from_secs(600);
/// Commands in the background may take longer: they were started to.
const COMMANDS_CEILING: Duration = Duration::from_secs(30 * 60);

fn bg_ceiling(session: &Session) -> Duration {
    if !session.has_background_agents() {
        return COMMANDS_CEILING;
    }
    match session.launch().env.number("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS") {
        None => BG_CEILING,
        Some(0) => Duration::MAX,
        Some(millis) => Duration::from_millis(millis),
    }
}

async fn until(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}

impl Driver {
    /// Runs the session to its end.
    pub(crate) async fn run(
        self,
        events: pilothouse_link::Events<pilothouse_proto::HostFrame>,
        requests: mpsc::UnboundedReceiver<Inbound<pilothouse_link::Agent>>,
    ) -> Finish {
        let session = self.session.clone();
        let complain = self.complain.clone();
        let mut intake = Intake::new(events, requests);
        if let Err(cannot) = resume::under_policy(&session).and_then(|()| resume::begin(&session)) {
            if cannot.with_result {
                // Nothing is said before the host has spoken, unless it never does.
                if let Ok(Came::Request(request)) = tokio::time::timeout(FIRST_WORD, intake.next()).await {
                    request.responder.leave_unanswered();
                }
                // Hosts stop reading after a result, so the complaint is first.
                complain(&cannot.text);
                // Who reads plain text has read the complaint.
                if session.launch().output != OutputFormat::Text {
                    let frame = result::of_failed_start(&session, &cannot.text);
                    session.output().emit(AgentFrame::Result(Box::new(frame)));
                }
            } else {
                complain(&cannot.text);
            }
            return finish(&session, 1).await;
        }
        for warning in session.warnings() {
            complain(&warning);
        }
        match &session.launch().name {
            Some(name) => session.entitle(name),
            None => session.tell_title(),
        }
        session.mcp.start_external();
        let mut running = Running {
            driver: self,
            turns: JoinSet::new(),
            stop: StopSignal::default(),
            finish: None,
            leaving: None,
            held: Held::default(),
            patience: None,
            resuming: resuming::prompt(&session),
            resumption_told: false,
            guessing: CancellationToken::new(),
        };
        running.start_contexts().await;
        let code = running.listen(intake).await;
        finish(&session, code).await
    }
}

async fn finish(session: &Session, code: i32) -> Finish {
    session.end_background_work();
    session.recorder().mirror(session.output());
    session.mcp.close();
    session.workspace().end_strays();
    session.workspace().remove_empty_output_dir();
    session.write_down_cost();
    let printed = session.output().printed();
    session.host().close().await;
    Finish { code, printed }
}

impl Running {
    async fn listen(&mut self, mut intake: Intake) -> i32 {
        let mut input_open = true;
        let Some(mut own_prompts) = self.session().take_own_prompts() else { return 1 };
        if let Some(first) = self.driver.first.take() {
            let doing = self.queue(|queue| queue.prompt(first));
            self.perform(doing);
        }
        loop {
            if let Some(code) = self.finish {
                return code;
            }
            tokio::select! {
                biased;
                Some(signal) = self.driver.signals.recv() => {
                    if let Some(code) = self.signal(signal).await {
                        return code;
                    }
                }
                Some(over) = self.turns.join_next() => self.turn_over(over),
                came = intake.next(), if input_open => {
                    self.tell_held();
                    match came {
                        // The request is refused when its responder is dropped, and the session goes on.
                        Came::Request(request) => drop(caught(self.request(*request)).await),
                        Came::Event(event) => {
                            self.resume_turn();
                            if let Err(complaint) = self.event(*event) {
                                (self.driver.complain)(&complaint);
                                return 1;
                            }
                        }
                        Came::End => {
                            input_open = false;
                            self.resume_turn();
                            let doing = self.queue(Queue::end_input);
                            self.perform(doing);
                        }
                    }
                }
                Some(end) = self.driver.task_ends.recv() => {
                    self.tell_held();
                    // One that was stopped comes back with no prompt.
                    let is_silent = end.code.is_none();
                    self.task_ended(end);
                    if is_silent {
                        self.look_at_the_end();
                    }
                }
                Some(prompt) = own_prompts.recv() => {
                    self.tell_held();
                    let doing = self.queue(|queue| queue.prompt(prompt));
                    self.perform(doing);
                }
                () = self.held.due() => self.tell_held(),
                () = until(self.patience) => {
                    self.session().end_background_work();
                    self.look_at_the_end();
                }
            }
        }
    }

    /// A session that waits for nothing but background work ends when there is none left.
    fn look_at_the_end(&mut self) {
        if self.patience.is_some() && !self.session().has_background_work() {
            self.perform(vec![Doing::Exit]);
        }
    }

    fn turn_over(&mut self, over: Result<TurnOver, tokio::task::JoinError>) {
        let fulfilled = match over {
            Ok(over) => over.fulfilled,
            Err(error) => {
                tracing::error!(%error, "a turn broke down");
                talk::close_open_calls(self.session().history());
                self.session().asks_nobody();
                let frame = result::of_failed_start(
                    self.session(),
                    "The turn broke down inside the agent; see the debug log",
                );
                self.session().output().emit(AgentFrame::Result(Box::new(frame)));
                false
            }
        };
        if let Some(code) = self.leaving {
            self.finish = Some(code);
            return;
        }
        let doing = self.queue(|queue| queue.turn_ended(fulfilled));
        if self.queue(|queue| queue.is_running()) || doing.contains(&Doing::Exit) {
            return self.perform(doing);
        }
        self.guessing = CancellationToken::new();
        suggest::after_turn(self.session(), self.guessing.clone());
        // Nothing else is to be done, so the host may have the word first.
        self.held.turn_ended(doing);
        if self.held.is_empty() {
            self.session().tell_state(SessionState::Idle);
        }
    }

    /// Tells what was held back, if anything was.
    fn tell_held(&mut self) {
        let doing = self.held.take();
        let ended = !doing.is_empty();
        self.perform(doing);
        if ended && !self.queue(|queue| queue.is_running()) {
            self.session().tell_state(SessionState::Idle);
        }
    }

    fn perform(&mut self, doing: Vec<Doing>) {
        let session = self.driver.session.clone();
        for step in doing {
            match step {
                Doing::Tell(uuid, lifecycle) => session.tell_lifecycle(&uuid, lifecycle),
                Doing::Repeat(frame) => {
                    if session.launch().replay_user_messages {
                        session.output().emit(AgentFrame::User(Box::new(turn::echo(&session, &frame))));
                    }
                }
                Doing::Start(prompts) => {
                    self.guessing.cancel();
                    session.tell_state(SessionState::Running);
                    self.stop = StopSignal::default();
                    self.patience = None;
                    self.turns.spawn(turn::run(session.clone(), prompts, self.stop.clone()));
                }
                Doing::Stop(why) => {
                    self.stop.fire(why);
                    if why == Stop::Urgent {
                        self.stop.tell();
                    }
                }
                // Work in the background comes back with a prompt, and after that turn the end is looked at again. Nobody
                // waits for it when the last turn failed.
                Doing::Exit if session.has_background_work() && !session.output().last_failed() => {
                    self.patience =
                        self.patience.or_else(|| Instant::now().checked_add(bg_ceiling(&session)));
                }
                Doing::Exit => {
                    session.end_background_work();
                    self.finish = Some(i32::from(session.output().last_failed()));
                }
            }
        }
    }

    async fn signal(&mut self, signal: Signal) -> Option<i32> {
        self.tell_held();
        let code = match signal {
            Signal::Interrupt => {
                if !self.queue(|queue| queue.is_running()) {
                    return Some(0);
                }
                self.stop.leave();
                self.stop.fire(Stop::Interrupt);
                self.stop.tell();
                self.leaving = Some(0);
                return None;
            }
            Signal::Terminate => 143,
            Signal::Hangup => 129,
        };
        // Work is told to stop so that it takes its children along; of what runs that is all that is told.
        self.driver.session.kill_background_work();
        self.driver.session.output().mute();
        self.driver.session.ending().cancel();
        if self.queue(|queue| queue.is_running()) {
            tokio::time::sleep(LAST_WORDS).await;
        }
        self.driver.session.host().end_input();
        for _ in 0..control::YIELDS {
            tokio::task::yield_now().await;
        }
        self.stop.fire(Stop::Interrupt);
        self.stop.tell();
        let _ =
            tokio::time::timeout(STOPPING, async { while self.turns.join_next().await.is_some() {} }).await;
        Some(code)
    }

    fn queue<T>(&self, look: impl FnOnce(&mut Queue) -> T) -> T {
        self.driver.session.queue(look)
    }

    fn session(&self) -> &Arc<Session> {
        &self.driver.session
    }
}
