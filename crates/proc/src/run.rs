use std::io;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::time::{Instant, timeout_at};

use crate::child::Child;
use crate::error::SpawnError;
use crate::exit::Exit;
use crate::ladder::Ladder;
use crate::spawn::Spawn;

/// How long stdout is read on after the child's exit, in case a stray descendant holds the pipe.
const DRAIN: Duration = Duration::from_millis(250);

/// Bounds of [`Spawn::run`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// When the child is ended.
    pub timeout: Duration,
    /// How many bytes of stdout are kept; the rest is read and dropped, so that the child does not stall.
    pub stdout: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(60), stdout: 16 << 20 }
    }
}

/// How a bounded run came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The child exited on its own.
    Exited(Exit),
    /// The time was up; the group was ended.
    TimedOut,
}

/// What a bounded run produced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub outcome: Outcome,
    /// What it wrote to stdout, up to the limit.
    pub stdout: Vec<u8>,
    /// Whether stdout was longer than the limit.
    pub stdout_cut: bool,
    /// The end of what it wrote to stderr: at most 64 KiB.
    pub stderr_tail: String,
}

impl Finished {
    /// Whether the child exited in time and reported success.
    pub fn success(&self) -> bool {
        matches!(self.outcome, Outcome::Exited(exit) if exit.success())
    }
}

impl Spawn {
    /// Runs the child to its end with `input` on stdin. Dropping the future kills the group.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// use pilothouse_proc::{Limits, Spawn};
    ///
    /// let done = Spawn::new("tr").args(["a-z", "A-Z"]).run(b"loud", Limits::default()).await?;
    /// assert!(done.success());
    /// assert_eq!(done.stdout, b"LOUD");
    /// # Ok::<(), pilothouse_proc::SpawnError>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Only when it could not be started; everything later is in [`Finished`].
    pub async fn run(self, input: &[u8], limits: Limits) -> Result<Finished, SpawnError> {
        let deadline = Instant::now() + limits.timeout;
        let mut child = self.start().await?;
        let mut output =
            Output { pipe: child.take_stdout(), kept: Vec::new(), limit: limits.stdout, cut: false };
        let stdin = child.take_stdin();
        let feed = async move {
            // A child that does not want its input closes the pipe; that is its right.
            if let Some(mut stdin) = stdin {
                let _ = stdin.write_all(input).await;
            }
        };
        let work = async {
            // All three only lose work that no longer matters when the deadline wins.
            let read = output.read_to_end();
            let both = async { tokio::join!(feed, read) };
            tokio::pin!(both);
            let exit = tokio::select! {
                exit = child.exited() => exit,
                _ = &mut both => return child.exited().await,
            };
            let _ = tokio::time::timeout(DRAIN, both).await;
            exit
        };
        let outcome = match timeout_at(deadline, work).await {
            Ok(exit) => Outcome::Exited(exit),
            Err(_) => {
                end(&mut child).await;
                Outcome::TimedOut
            }
        };
        Ok(Finished {
            outcome,
            stdout: output.kept,
            stdout_cut: output.cut,
            stderr_tail: child.stderr_tail(),
        })
    }

    /// [`Spawn::run`] for code outside a runtime. It brings its own, on its own thread, so it may be called anywhere.
    ///
    /// # Errors
    /// As [`Spawn::run`].
    pub fn run_blocking(self, input: &[u8], limits: Limits) -> Result<Finished, SpawnError> {
        let program = self.program().to_owned();
        let work = || -> io::Result<Result<Finished, SpawnError>> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            Ok(runtime.block_on(self.run(input, limits)))
        };
        let done = std::thread::scope(|scope| scope.spawn(work).join());
        let done = done.unwrap_or_else(|_| Err(io::Error::other("the thread that ran it panicked")));
        done.unwrap_or_else(|cause| Err(SpawnError::Io { program: program.into(), cause }))
    }
}

/// The time is already up, so the polite step is short.
async fn end(child: &mut Child) {
    let ladder = Ladder {
        after_end_of_input: Duration::ZERO,
        after_term: Duration::from_millis(500),
        ..Ladder::default()
    };
    child.close(ladder).await;
}

struct Output {
    pipe: Option<pipe::Receiver>,
    kept: Vec<u8>,
    limit: usize,
    cut: bool,
}

impl Output {
    async fn read_to_end(&mut self) {
        let Some(pipe) = self.pipe.take() else {
            return;
        };
        let mut scratch = Vec::with_capacity(8 * 1024);
        loop {
            if pipe.readable().await.is_err() {
                return;
            }
            scratch.clear();
            match pipe.try_read_buf(&mut scratch) {
                Ok(0) => return,
                Ok(_) => {
                    let room = self.limit.saturating_sub(self.kept.len());
                    self.cut |= scratch.len() > room;
                    let wanted = scratch.len().min(room);
                    self.kept.extend_from_slice(scratch.get(..wanted).unwrap_or_default());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    }
}
