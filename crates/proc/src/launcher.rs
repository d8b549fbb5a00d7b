//! One thread that starts the children of this process.
//!
//! The kernel sends the parent-death signal when the *thread* that started a child ends, not the process. Runtime
//! threads come and go, so children are started by a thread that lives as long as the process: this one, unless it is
//! the main thread that asks. It also reaps children whose runtime ended before they did.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use tokio::sync::oneshot;

use crate::leader::{self, Leader};
use crate::program::Program;

/// How often children without a runtime are looked at, while there are any.
const REAP_EVERY: Duration = Duration::from_millis(50);

enum Job {
    Start { what: Start, reply: oneshot::Sender<io::Result<Leader>> },
    Reap(Leader),
}

/// How a child is started.
pub(crate) enum Start {
    Program(Program),
    /// By the standard library, which can make it another user.
    Command(Box<Command>),
}

impl Start {
    fn start(self) -> io::Result<Leader> {
        // Nobody collects orphans until this one is known to be none.
        let mut living = leader::living();
        let leader = match self {
            Self::Program(program) => program.start(),
            Self::Command(mut command) => {
                prepare(&mut command);
                command.spawn().map(Leader::from)
            }
        }?;
        living.insert(leader.process);
        Ok(leader)
    }
}

static JOBS: Mutex<Option<Sender<Job>>> = Mutex::new(None);

/// Starts a child in a process group of its own.
pub(crate) async fn launch(what: Start) -> io::Result<Leader> {
    if nix::unistd::gettid() == nix::unistd::getpid() {
        return what.start();
    }
    let (reply, answer) = oneshot::channel();
    submit(Job::Start { what, reply })?;
    answer.await.map_err(|_| io::Error::other("the thread that starts children is gone"))?
}

/// Waits for a child that is dying and that no runtime looks after any more.
pub(crate) fn reap_later(leader: Leader) {
    if submit(Job::Reap(leader)).is_err() {
        tracing::debug!("a killed child stays a zombie until this process ends");
    }
}

fn submit(job: Job) -> io::Result<()> {
    let mut jobs = JOBS.lock().unwrap_or_else(PoisonError::into_inner);
    let sender = match &*jobs {
        Some(sender) => sender,
        None => {
            let (sender, receiver) = channel();
            thread::Builder::new().name("pilothouse-launcher".into()).spawn(move || serve(&receiver))?;
            jobs.insert(sender)
        }
    };
    sender.send(job).map_err(|_| io::Error::other("the thread that starts children is gone"))
}

fn serve(jobs: &Receiver<Job>) {
    let mut dying: Vec<Leader> = Vec::new();
    loop {
        let job = if dying.is_empty() {
            jobs.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            jobs.recv_timeout(REAP_EVERY)
        };
        dying.retain(|leader| matches!(leader.try_wait(), Ok(None)));
        match job {
            Ok(Job::Start { what, reply }) => {
                // The caller may have given up meanwhile; then nobody will ever look after this child.
                if let Err(Ok(orphan)) = reply.send(what.start()) {
                    crate::group::kill_unreaped(orphan.process);
                    if matches!(orphan.try_wait(), Ok(None)) {
                        dying.push(orphan);
                    }
                }
            }
            Ok(Job::Reap(leader)) => dying.push(leader),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[expect(unsafe_code, reason = "the parent-death signal can only be set between fork and exec")]
fn prepare(command: &mut Command) {
    command.process_group(0);
    let parent = rustix::process::getpid();
    // SAFETY: the closure makes two system calls and builds errors from numbers; it neither allocates nor locks, so
    // it may run in a forked copy of a process with threads.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // If the parent died before the line above there is nobody left to send the signal.
            if getppid() != Some(parent) {
                return Err(rustix::io::Errno::SRCH.into());
            }
            Ok(())
        });
    }
}
