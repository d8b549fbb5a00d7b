use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use tokio::net::unix::pipe;
use tokio::sync::watch;

use crate::exit::Exit;
use crate::group::Group;
use crate::ladder::{self, Ladder, Report};
use crate::tail::StderrTail;
use crate::write_pipe::WritePipe;

/// A running child with its process group. Dropping it kills the group at once, without blocking.
pub struct Child {
    pub(crate) stdin: Option<WritePipe>,
    pub(crate) stdout: Option<pipe::Receiver>,
    pub(crate) group: Arc<Group>,
    pub(crate) tail: StderrTail,
    pub(crate) exit: watch::Receiver<Option<Exit>>,
    pub(crate) started: Instant,
}

impl Child {
    /// The child's process number, which is also its group's.
    pub fn pid(&self) -> u32 {
        self.group.leader()
    }

    /// Takes the writing end of the child's stdin. Dropping it is the end of input.
    pub fn take_stdin(&mut self) -> Option<WritePipe> {
        self.stdin.take()
    }

    /// Takes the reading end of the child's stdout.
    pub fn take_stdout(&mut self) -> Option<pipe::Receiver> {
        self.stdout.take()
    }

    /// Waits until the child has exited. By then what it left in its group is killed and its stderr is read.
    /// May be called any number of times, and dropped at any point.
    pub async fn exited(&self) -> Exit {
        self.watch_exit().await
    }

    /// [`Child::exited`] as a future that borrows nothing.
    pub fn watch_exit(&self) -> impl Future<Output = Exit> + Send + use<> {
        let mut exit = self.exit.clone();
        async move {
            match exit.wait_for(Option::is_some).await {
                Ok(exit) => exit.unwrap_or(Exit { status: None }),
                // The keeper ends without a word only when the runtime is shutting down.
                Err(_) => Exit { status: None },
            }
        }
    }

    /// Whether [`Child::exited`] would be ready now: cheaper than asking it.
    pub fn has_exited(&self) -> bool {
        // An error means that the keeper is gone, and nobody will say more.
        self.exit.has_changed().unwrap_or(true)
    }

    /// How the child ended, if it has.
    pub fn try_exited(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// The end of what the child wrote to stderr so far: at most 64 KiB.
    pub fn stderr_tail(&self) -> String {
        self.tail.text()
    }

    /// A view of that end which does not depend on this value.
    pub fn stderr(&self) -> StderrTail {
        self.tail.clone()
    }

    /// Ends the child by the ladder and says how it went. Drops stdin if it was not taken; whoever took it should
    /// drop it first, because end of input is the first step.
    pub async fn close(&mut self, ladder: Ladder) -> Report {
        self.stdin = None;
        ladder::descend(self, ladder).await
    }

    /// Kills the group now.
    pub fn kill(&self) {
        self.group.kill();
    }

    /// How long the child has existed.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.group.kill();
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child")
            .field("pid", &self.pid())
            .field("exit", &self.try_exited())
            .finish_non_exhaustive()
    }
}
