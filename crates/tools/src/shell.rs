//! One bash command: its own process group, empty stdin, both outputs in one stream, a limit on everything.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pilothouse_proc::{Child, Ladder, Spawn};
use tokio::io::AsyncReadExt as _;
use tokio_util::sync::CancellationToken;

use crate::printed::Printed;
use crate::tool::Outcome;
use crate::workspace::Workspace;

/// How long output is read on after the command's end, in case a stray process holds the pipe.
const DRAIN: Duration = Duration::from_millis(250);

/// The command comes as `$1`, so that nothing of it needs quoting; `$2` is the file that tells where it ended up.
///
/// It is evaluated on the first line, so that the line numbers in bash's messages are the command's own. One that fails does
/// not move the session, and one that leaves a directory which is gone has failed. Jobs it left
/// running get a moment to say what they have to say; they go on until the session ends, as in any shell.
const WRAPPER: &str = r#"exec 2>&1; eval "$1" && pwd -P > "$2"
__status=$?
for _ in 1 2 3 4 5; do [ -n "$(jobs -pr)" ] && sleep 0.05; done
exit $__status
"#;

pub(crate) struct Shell {
    spawn: Spawn,
    cwd_file: Option<tempfile::TempPath>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Exited(i32),
    TimedOut,
    Stopped,
    /// Somebody outside of the turn ended it.
    Killed,
}

/// What somebody outside of the call may do with a command while the call waits for it.
#[derive(Clone, Debug)]
pub struct Reins {
    /// The id that the command has as a task, should it become one.
    pub id: String,
    /// Fires when the call is to wait no longer: the command goes on in the background.
    pub let_go: CancellationToken,
    /// Fires when the command is to end.
    pub kill: CancellationToken,
}

/// A command that goes on although its call waits no longer.
pub(crate) struct Left {
    pub(crate) child: Child,
    pub(crate) pipe: Option<tokio::net::unix::pipe::Receiver>,
    /// What it has printed so far.
    pub(crate) output: Printed,
    /// It was let go because its time was up, and not because somebody wanted so.
    pub(crate) timed_out: bool,
    pub(crate) cwd_file: Option<tempfile::TempPath>,
}

/// What came of waiting for a command.
pub(crate) enum Waited {
    Over(Run),
    Left(Box<Left>),
}

pub(crate) struct Run {
    pub(crate) ended: Ended,
    pub(crate) output: Printed,
    /// The directory the command left the shell in.
    pub(crate) cwd: Option<PathBuf>,
}

impl Shell {
    pub(crate) fn new(command: &str, workspace: &Workspace) -> Self {
        let cwd_file = tempfile::NamedTempFile::new().ok().map(tempfile::NamedTempFile::into_temp_path);
        let report = cwd_file.as_deref().unwrap_or(Path::new("/dev/null"));
        let spawn = workspace
            .spawn("/bin/bash", command)
            .args(["--noprofile", "--norc", "-c", WRAPPER, "/bin/bash", command])
            .arg(report)
            .cwd(workspace.cwd())
            .env("GIT_EDITOR", "true")
            .env("CLAUDECODE", "1")
            .no_stdin()
            .leave_group();
        Self { spawn, cwd_file }
    }

    /// Starts it. The file is where it will say which directory it ended in, which it does even if nobody looks: whoever
    /// has the command keeps the file too.
    pub(crate) async fn start(self) -> Result<(Child, Option<tempfile::TempPath>), Outcome> {
        let child = self.spawn.start().await.map_err(|e| Outcome::failed(e.to_string()))?;
        Ok((child, self.cwd_file))
    }

    /// Runs it to its end, or until somebody who holds the reins lets it go. When its time is up it is let go as well if
    /// it `outlives` its time, and else ended.
    pub(crate) async fn run(
        self,
        timeout: Duration,
        outlives: bool,
        stop: CancellationToken,
        reins: Option<&Reins>,
    ) -> Result<Waited, Outcome> {
        let (mut child, cwd_file) = self.start().await?;
        let mut pipe = child.take_stdout();
        let mut output = Printed::default();
        let why = {
            let mut reading = std::pin::pin!(collect(&mut pipe, &mut output));
            let mut read_all = false;
            let time_up = tokio::time::sleep(timeout);
            tokio::pin!(time_up);
            // Each arm may lose the race at any point: reading keeps what it has, the others hold nothing.
            let why = loop {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => break Why::Stopped,
                    () = fired(reins.map(|reins| &reins.kill)) => break Why::Killed,
                    () = fired(reins.map(|reins| &reins.let_go)) => break Why::LetGo,
                    () = &mut reading, if !read_all => read_all = true,
                    exit = child.exited() => break Why::Exited(exit),
                    () = &mut time_up => break Why::TimeUp,
                }
            };
            match why {
                Why::Stopped => {
                    child.close(Ladder::now()).await;
                    return Ok(Waited::Over(Run {
                        ended: Ended::Stopped,
                        output: Printed::default(),
                        cwd: None,
                    }));
                }
                Why::Killed => drop(child.close(Ladder::now()).await),
                Why::TimeUp if !outlives => {
                    let ladder = Ladder {
                        after_end_of_input: Duration::ZERO,
                        after_term: Duration::from_millis(500),
                        ..Ladder::now()
                    };
                    child.close(ladder).await;
                }
                Why::LetGo | Why::TimeUp | Why::Exited(_) => {}
            }
            let goes_on = why == Why::LetGo || (why == Why::TimeUp && outlives);
            if !read_all && !goes_on {
                let _ = tokio::time::timeout(DRAIN, reading).await;
            }
            why
        };
        let ended = match why {
            Why::LetGo => {
                return Ok(Waited::Left(Box::new(Left { child, pipe, output, timed_out: false, cwd_file })));
            }
            Why::TimeUp if outlives => {
                return Ok(Waited::Left(Box::new(Left { child, pipe, output, timed_out: true, cwd_file })));
            }
            Why::Exited(exit) => {
                // The command's own stderr goes to stdout: what is here was said before the command began.
                if output.size() == 0 {
                    output.push(child.stderr_tail().as_bytes());
                }
                Ended::Exited(code(exit))
            }
            Why::TimeUp => Ended::TimedOut,
            Why::Killed => Ended::Killed,
            Why::Stopped => Ended::Stopped,
        };
        if let (Why::Exited(_), Some(pipe)) = (why, pipe) {
            // Jobs that go on may print what they like.
            tokio::spawn(discard(pipe));
        }
        let cwd = cwd_file.and_then(|file| std::fs::read_to_string(&file).ok());
        let cwd = cwd.map(|text| PathBuf::from(text.trim_end_matches('\n'))).filter(|path| path.is_dir());
        Ok(Waited::Over(Run { ended, output, cwd }))
    }
}

/// Why nobody waits for a command any more.
#[derive(Clone, Copy, PartialEq)]
enum Why {
    Exited(pilothouse_proc::Exit),
    TimeUp,
    Stopped,
    Killed,
    LetGo,
}

async fn fired(token: Option<&CancellationToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => std::future::pending().await,
    }
}

/// The exit code as a shell tells it: one that a signal ended has one too.
pub(crate) fn code(exit: pilothouse_proc::Exit) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    let signal = || exit.status.and_then(|status| status.signal()).unwrap_or_default();
    exit.code().unwrap_or_else(|| 128 + signal())
}

async fn discard(mut pipe: tokio::net::unix::pipe::Receiver) {
    let mut chunk = vec![0; 4 << 10];
    while let Ok(1..) = pipe.read(&mut chunk).await {}
}

async fn collect(pipe: &mut Option<tokio::net::unix::pipe::Receiver>, output: &mut Printed) {
    let Some(pipe) = pipe else { return };
    let mut chunk = vec![0; 64 << 10];
    while let Ok(n @ 1..) = pipe.read(&mut chunk).await {
        output.push(chunk.get(..n).unwrap_or_default());
    }
}
