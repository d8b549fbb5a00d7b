//! One bash command: its own process group, empty stdin, both outputs in one stream, a limit on everything.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pilothouse_proc::{Child, Ladder, Spawn};
use tokio::io::AsyncReadExt as _;
use tokio_util::sync::CancellationToken;

use crate::tool::Outcome;
use crate::workspace::Workspace;

/// What is kept in memory of a command's output; the rest is read and dropped, so that the command does not stall.
const LARGEST_OUTPUT: usize = 32 << 20;
/// How long output is read on after the command's end, in case a stray process holds the pipe.
const DRAIN: Duration = Duration::from_millis(250);

/// The command comes as `$1`, so that nothing of it needs quoting; `$2` is the file that tells where it ended up.
///
/// It is evaluated on the first line, so that the line numbers in bash's messages are the command's own. Jobs it left
/// running get a moment to say what they have to say, then the group ends.
const WRAPPER: &str = r#"exec 2>&1; eval "$1"
__status=$?
pwd -P > "$2" 2>/dev/null
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
}

pub(crate) struct Run {
    pub(crate) ended: Ended,
    pub(crate) output: Vec<u8>,
    /// The directory the command left the shell in.
    pub(crate) cwd: Option<PathBuf>,
}

impl Shell {
    pub(crate) fn new(command: &str, workspace: &Workspace) -> Self {
        let cwd_file = tempfile::NamedTempFile::new().ok().map(tempfile::NamedTempFile::into_temp_path);
        let report = cwd_file.as_deref().unwrap_or(Path::new("/dev/null"));
        let spawn = workspace
            .spawn("/bin/bash")
            .args(["--noprofile", "--norc", "-c", WRAPPER, "/bin/bash", command])
            .arg(report)
            .cwd(workspace.cwd())
            .env("GIT_EDITOR", "true")
            .env("CLAUDECODE", "1")
            .no_stdin();
        Self { spawn, cwd_file }
    }

    pub(crate) async fn start(self) -> Result<Child, Outcome> {
        self.spawn.start().await.map_err(|e| Outcome::failed(e.to_string()))
    }

    pub(crate) async fn run(mut self, timeout: Duration, stop: CancellationToken) -> Result<Run, Outcome> {
        let cwd_file = self.cwd_file.take();
        let mut child = self.start().await?;
        let mut pipe = child.take_stdout();
        let mut output = Vec::new();
        let ended = {
            let mut reading = std::pin::pin!(collect(&mut pipe, &mut output));
            let mut read_all = false;
            // Each arm may lose the race at any point: reading keeps what it has, the others hold nothing.
            let finished = loop {
                tokio::select! {
                    () = &mut reading, if !read_all => read_all = true,
                    exit = child.exited() => break Some(exit),
                    () = tokio::time::sleep(timeout) => break None,
                    () = stop.cancelled() => {
                        child.close(Ladder::now()).await;
                        return Ok(Run { ended: Ended::Stopped, output: Vec::new(), cwd: None });
                    }
                }
            };
            if finished.is_none() {
                child
                    .close(Ladder {
                        after_end_of_input: Duration::ZERO,
                        after_term: Duration::from_millis(500),
                        ..Ladder::now()
                    })
                    .await;
            }
            if !read_all {
                let _ = tokio::time::timeout(DRAIN, reading).await;
            }
            match finished {
                Some(exit) => Ended::Exited(exit.code().unwrap_or_else(|| 128 + signal(exit))),
                None => Ended::TimedOut,
            }
        };
        let cwd = cwd_file.and_then(|file| std::fs::read_to_string(&file).ok());
        let cwd = cwd.map(|text| PathBuf::from(text.trim_end_matches('\n'))).filter(|path| path.is_dir());
        Ok(Run { ended, output, cwd })
    }
}

fn signal(exit: pilothouse_proc::Exit) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    exit.status.and_then(|status| status.signal()).unwrap_or_default()
}

async fn collect(pipe: &mut Option<tokio::net::unix::pipe::Receiver>, output: &mut Vec<u8>) {
    let Some(pipe) = pipe else { return };
    let mut chunk = vec![0; 64 << 10];
    while let Ok(n @ 1..) = pipe.read(&mut chunk).await {
        let room = LARGEST_OUTPUT.saturating_sub(output.len());
        output.extend_from_slice(chunk.get(..n.min(room)).unwrap_or_default());
    }
}
