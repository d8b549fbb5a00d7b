use std::time::{Duration, Instant};

use tokio::time::timeout;

use crate::child::Child;
use crate::exit::Exit;

/// How long each step of ending a child may take before the next one begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ladder {
    /// After the end of input. A CLI finishes its running turn in this time.
    pub after_end_of_input: Duration,
    /// After `SIGTERM` to the group.
    pub after_term: Duration,
    /// After `SIGKILL` to the whole tree. Only a process stuck inside the kernel needs any of it.
    pub after_kill: Duration,
}

impl Default for Ladder {
    fn default() -> Self {
        Self {
            after_end_of_input: Duration::from_secs(5),
            after_term: Duration::from_secs(3),
            after_kill: Duration::from_secs(2),
        }
    }
}

impl Ladder {
    /// No waiting for good manners: straight to `SIGKILL`.
    pub fn now() -> Self {
        Self { after_end_of_input: Duration::ZERO, after_term: Duration::ZERO, ..Self::default() }
    }
}

/// The step of the ladder that ended a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// It had exited before anyone asked.
    AlreadyExited,
    /// It exited when its input ended.
    EndOfInput,
    /// It exited on `SIGTERM`.
    Term,
    /// It was killed.
    Kill,
    /// It was killed but the system has not reported its end in time.
    Unconfirmed,
}

/// What ending a child took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The step that ended it.
    pub step: Step,
    /// How it exited; `None` only for [`Step::Unconfirmed`].
    pub exit: Option<Exit>,
    /// How long the ladder took.
    pub took: Duration,
    /// How long the child had lived.
    pub lived: Duration,
    /// The end of its stderr.
    pub stderr_tail: String,
}

pub(crate) async fn descend(child: &mut Child, ladder: Ladder) -> Report {
    let begun = Instant::now();
    let (step, exit) = steps(child, ladder).await;
    tracing::debug!(pid = child.pid(), ?step, ?exit, "child ended");
    Report {
        step,
        exit,
        took: begun.elapsed(),
        lived: child.started().elapsed(),
        stderr_tail: child.stderr_tail(),
    }
}

async fn steps(child: &Child, ladder: Ladder) -> (Step, Option<Exit>) {
    if let Some(exit) = child.try_exited() {
        return (Step::AlreadyExited, Some(exit));
    }
    if let Ok(exit) = timeout(ladder.after_end_of_input, child.exited()).await {
        return (Step::EndOfInput, Some(exit));
    }
    // A ladder without patience skips the polite signal: it would only add noise before the kill.
    if !ladder.after_term.is_zero() {
        child.group.terminate();
        if let Ok(exit) = timeout(ladder.after_term, child.exited()).await {
            return (Step::Term, Some(exit));
        }
    }
    child.group.kill_tree();
    match timeout(ladder.after_kill, child.exited()).await {
        Ok(exit) => (Step::Kill, Some(exit)),
        Err(_) => (Step::Unconfirmed, None),
    }
}
