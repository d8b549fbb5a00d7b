//! One task per session that has a CLI. Whatever happens to the session happens here, one thing after the other.

mod approvals;
mod commands;
mod ending;
mod frames;

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pilothouse::{AllEvents, Options, Prompt, Session};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::DropGuard;

use super::channel::OpenBlock;
use super::command::{Command, What};
use super::recorder::{Ending, Recorder};
use super::refusal::Refusal;
use super::translate::Translator;
use crate::api::{ApprovalId, ModeChanged, ModelChanged, Reply, SessionArchived, SessionRenamed};
use crate::auth::Project;

pub(crate) use approvals::closed;

/// How often what has been streamed is stored, so that a crash costs no more than this.
const BLOCK_STORED_EVERY: Duration = Duration::from_millis(250);

/// How many frames of the CLI are handled before an approval that came after them, at most.
const FRAMES_BEFORE_APPROVAL: usize = 10_000;

type Answer = oneshot::Sender<Result<Reply, Refusal>>;

/// A session with a CLI.
pub(crate) struct Actor {
    recorder: Recorder,
    /// Where the CLI works.
    project: Arc<Project>,
    commands: mpsc::Receiver<Command>,
    notes: mpsc::Receiver<Note>,
    to_self: mpsc::Sender<Note>,
    cli: Option<Cli>,
    translator: Translator,
    approvals: HashMap<ApprovalId, Open>,
    open: OpenBlock,
    /// When the open block was last stored; none when the store has none.
    stored_block: Option<Instant>,
    /// Whether the CLI has begun a turn that it has not ended.
    begun: bool,
    /// Whether the CLI has said that nothing runs since the last turn.
    idle: bool,
    waiting_for_idle: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// Told what the session is called by Claude Code whenever that changes.
    on_claude_id: Box<dyn Fn(&str) + Send>,
    /// After so long without a decision an approval is denied; never if there is none.
    decide_within: Option<Duration>,
}

/// The live end of a session.
struct Cli {
    session: Session,
    events: AllEvents,
    prompts: mpsc::UnboundedSender<Prompt>,
}

/// An approval that the CLI waits for.
struct Open {
    request: pilothouse::PermissionRequest,
    /// Ends the task that waits for the CLI to take it back.
    _watch: DropGuard,
}

/// What other tasks tell the actor.
enum Note {
    Connected(Box<Result<Session, pilothouse::Error>>),
    Asked(pilothouse::PermissionRequest),
    Withdrawn(ApprovalId),
    /// Nobody has decided about it within the time that the bridge was told to give.
    Undecided(ApprovalId),
    ModeSet {
        mode: String,
        by: String,
        answer: Answer,
    },
    ModelSet {
        model: Option<String>,
        by: String,
        answer: Answer,
    },
}

enum Step {
    Command(Option<Command>),
    Note(Note),
    Frame(Option<pilothouse::Event>),
    Idle,
}

impl Actor {
    /// Starts the CLI and the task. The task ends when the CLI does.
    pub(crate) fn start(
        recorder: Recorder,
        project: Arc<Project>,
        options: Options,
        commands: mpsc::Receiver<Command>,
        on_claude_id: Box<dyn Fn(&str) + Send>,
        decide_within: Option<Duration>,
    ) -> impl Future<Output = ()> + Send {
        let (to_self, notes) = mpsc::channel(64);
        let asked = to_self.clone();
        let options = options.include_partial_messages().on_permission(move |request| {
            let asked = asked.clone();
            // A session that is gone drops the request, which denies it.
            async move { drop(asked.send(Note::Asked(request)).await) }
        });
        let connected = to_self.clone();
        let connecting = tokio::spawn(async move {
            let result = options.connect().await;
            drop(connected.send(Note::Connected(Box::new(result))).await);
        });
        let mut actor = Self {
            recorder,
            project,
            commands,
            notes,
            to_self,
            cli: None,
            translator: Translator::default(),
            approvals: HashMap::new(),
            open: OpenBlock::default(),
            stored_block: None,
            begun: false,
            idle: true,
            waiting_for_idle: None,
            on_claude_id,
            decide_within,
        };
        async move {
            actor.run().await;
            actor.answer_the_rest().await;
            // A CLI that is still being started is killed before anybody else may use its Claude session.
            connecting.abort();
            drop(connecting.await);
        }
    }

    async fn run(&mut self) {
        loop {
            let step = self.next().await;
            let ending = match step {
                Step::Command(None) => Some(ending::shut_down(false, None)),
                Step::Command(Some(Command { what: what @ (What::Stop | What::ShutDown), by, answer })) => {
                    let ending = match what {
                        What::ShutDown => self.shut_down(by).await,
                        _ => ending::stopped(by),
                    };
                    self.close_cli().await;
                    let stored = self.end(&ending).await;
                    let ack = stored.map_err(Refusal::from).map(|seq| self.ack(seq, None, None, Known::New));
                    // Whoever hears that it is stopped finds it so.
                    self.commands.close();
                    drop(answer.send(ack));
                    return;
                }
                Step::Command(Some(command)) => {
                    self.command(command).await;
                    None
                }
                Step::Note(note) => self.note(note).await,
                Step::Frame(Some(event)) => {
                    self.frame(&event).await;
                    None
                }
                Step::Frame(None) => Some(self.cli_ended()),
                Step::Idle => {
                    self.idle = true;
                    self.waiting_for_idle = None;
                    None
                }
            };
            let ending = ending.or_else(|| {
                self.recorder.channel.failed().map(|error| ending::interrupted(error.to_string()))
            });
            if let Some(ending) = ending {
                self.close_cli().await;
                // A log that failed fails again here; there is nobody left to tell.
                drop(self.end(&ending).await);
                return;
            }
            self.release_queue().await;
        }
    }

    /// What came while the session ended is answered as if it had come afterwards.
    async fn answer_the_rest(&mut self) {
        self.commands.close();
        while let Some(Command { what, by, answer }) = self.commands.recv().await {
            match what {
                What::Decide { id, .. } => drop(answer.send(Ok(closed(&self.recorder, id)))),
                What::Rename(title) => self.acknowledged(SessionRenamed { title, by }, answer).await,
                What::Archive(archived) => self.acknowledged(SessionArchived { archived, by }, answer).await,
                _ => drop(answer.send(Err(Refusal::not_running()))),
            }
        }
    }

    async fn next(&mut self) -> Step {
        let Self { commands, notes, cli, waiting_for_idle, .. } = self;
        let frame = async {
            match cli {
                Some(cli) => cli.events.next().await,
                None => std::future::pending().await,
            }
        };
        let idle = async {
            match waiting_for_idle {
                Some(idle) => idle.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            frame = frame => Step::Frame(frame),
            command = commands.recv() => Step::Command(command),
            Some(note) = notes.recv() => Step::Note(note),
            () = idle => Step::Idle,
        }
    }

    async fn note(&mut self, note: Note) -> Option<Ending> {
        match note {
            Note::Connected(result) => match *result {
                Ok(session) => self.connected(session),
                Err(error) => return Some(ending::start_failed(&error)),
            },
            Note::Asked(request) => self.asked(request).await,
            Note::Withdrawn(id) => self.withdrawn(&id).await,
            Note::Undecided(id) => self.undecided(id).await,
            Note::ModeSet { mode, by, answer } => {
                self.acknowledged(ModeChanged { mode, by }, answer).await;
            }
            Note::ModelSet { model, by, answer } => {
                self.acknowledged(ModelChanged { model, by }, answer).await;
            }
        }
        None
    }
}

/// Whether a command was carried out before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    New,
    Before,
}
