//! The pace of a message: what a call tells the host falls between the pieces of the message that made it as it does
//! with the real CLI.
//!
//! A call starts as soon as its block is complete, while the rest of the message is still coming. Hosts that show a
//! message as it is written see both, so their order matters. It is kept by counting pieces, not by a clock; when the
//! API pauses, nothing is held back for longer than it takes to notice.

use std::time::Duration;

use tokio::sync::watch;

/// A message is paused when no piece of it comes for this long; nothing waits for a message that is paused.
const PAUSE: Duration = Duration::from_millis(40);
/// The longest that anything is held back for a message that goes on and on.
const LONGEST: Duration = Duration::from_millis(150);

/// How far a message has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    pieces: u64,
    over: bool,
}

/// Follows a message, for the calls in it.
#[derive(Debug)]
pub(crate) struct PaceMaker(watch::Sender<Progress>);

impl PaceMaker {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(Progress::default()))
    }

    /// One more piece of the message was told.
    pub(crate) fn step(&self) {
        self.0.send_modify(|progress| progress.pieces += 1);
    }

    /// Nothing more comes of the message.
    pub(crate) fn over(&self) {
        self.0.send_modify(|progress| progress.over = true);
    }

    /// Whether any call goes by it.
    pub(crate) fn is_followed(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// The pace for a call that starts now.
    pub(crate) fn pace(&self) -> Pace {
        let progress = self.0.subscribe();
        let begun = progress.borrow().pieces;
        Pace { progress: Some(progress), begun }
    }
}

/// How far the message around a call has come since the call began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    /// None for a call that is in no message.
    progress: Option<watch::Receiver<Progress>>,
    begun: u64,
}

impl Pace {
    /// Waits until the message has gone on by so many pieces, has ended, or has paused.
    pub(crate) async fn reach(&self, pieces: u64) {
        self.wait(|progress| progress.pieces >= self.begun + pieces).await;
    }

    /// Waits until the message has ended or has paused.
    pub(crate) async fn end(&self) {
        self.wait(|_| false).await;
    }

    /// Waits until the host is asked about a call of this tool: what is checked before takes the longer the more there is
    /// to read.
    pub(crate) async fn question(&self, tool: &str, of_server: bool) {
        match tool {
            "Bash" | "WebFetch" => self.reach(2).await,
            "Edit" | "Write" | "NotebookEdit" => self.end().await,
            _ if of_server => self.reach(1).await,
            _ => {}
        }
    }

    /// Waits until a call of this tool, which nobody need be asked about, shows that it runs.
    pub(crate) async fn start(&self, tool: &str, of_server: bool) {
        if of_server || matches!(tool, "Agent" | "Task" | "EnterPlanMode") {
            self.reach(1).await;
        }
    }

    /// Waits until the result of a call of this tool is told.
    pub(crate) async fn result(&self, tool: &str, in_background: bool) {
        match tool {
            "EnterPlanMode" | "StructuredOutput" => self.reach(2).await,
            "Agent" | "Task" if in_background => self.reach(2).await,
            _ => self.end().await,
        }
    }

    async fn wait(&self, enough: impl Fn(Progress) -> bool) {
        let Some(mut progress) = self.progress.clone() else { return };
        let waiting = async {
            loop {
                let now = *progress.borrow_and_update();
                if now.over || enough(now) {
                    return;
                }
                // An error on either level means that no more pieces come.
                if !matches!(tokio::time::timeout(PAUSE, progress.changed()).await, Ok(Ok(()))) {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(LONGEST, waiting).await;
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
