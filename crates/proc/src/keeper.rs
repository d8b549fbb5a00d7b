//! The task that looks after one child: drains its stderr, notices its end, collects it.

use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use tokio::net::unix::pipe;
use tokio::sync::watch;

use crate::child::Child;
use crate::exit::{Exit, ExitWatch};
use crate::group::Group;
use crate::leader::Leader;
use crate::spawn::StderrLines;
use crate::tail::StderrTail;
use crate::write_pipe::WritePipe;
use crate::{group, guard, launcher, orphans};

/// The most that is read from stderr after the child has exited. Its own words fit in the pipe; only a stray
/// descendant could write more, and that must not delay the report.
const LAST_WORDS: usize = 1 << 20;

/// The most that is read from stderr in one go while the child runs, so that a flood leaves room for other tasks.
const BURST: usize = 256 * 1024;

/// The longest line handed to the stderr callback in one piece.
const MAX_LINE: usize = 64 * 1024;

/// Takes over a started child.
pub(crate) fn keep(mut leader: Leader, lines: Vec<StderrLines>, leaves_group: bool) -> io::Result<Child> {
    let process = leader.process;
    match Pipes::take(&mut leader) {
        Ok(pipes) => {
            let group = Arc::new(Group::new(process));
            guard::began(process);
            let tail = StderrTail::default();
            let (exited, exit) = watch::channel(None);
            let keeper = Keeper {
                leader: Some(leader),
                group: group.clone(),
                leaves_group,
                stderr: pipes.stderr,
                reader: StderrReader::new(tail.clone(), lines),
                exited,
            };
            tokio::spawn(keeper.run(pipes.watch));
            Ok(Child { stdin: pipes.stdin, stdout: pipes.stdout, group, tail, exit, started: Instant::now() })
        }
        Err(error) => {
            group::kill_unreaped(process);
            launcher::reap_later(leader);
            Err(error)
        }
    }
}

struct Pipes {
    stdin: Option<WritePipe>,
    stdout: Option<pipe::Receiver>,
    stderr: Option<pipe::Receiver>,
    watch: ExitWatch,
}

impl Pipes {
    fn take(leader: &mut Leader) -> io::Result<Self> {
        let receiver = |end: OwnedFd| pipe::Receiver::from_owned_fd(end);
        Ok(Self {
            watch: ExitWatch::new(leader.process)?,
            stdin: leader.stdin.take().map(WritePipe::new).transpose()?,
            stdout: leader.stdout.take().map(receiver).transpose()?,
            stderr: leader.stderr.take().map(receiver).transpose()?,
        })
    }
}

struct Keeper {
    /// Present until collected.
    leader: Option<Leader>,
    group: Arc<Group>,
    /// Whether what is left in the group may stay.
    leaves_group: bool,
    stderr: Option<pipe::Receiver>,
    reader: StderrReader,
    exited: watch::Sender<Option<Exit>>,
}

impl Keeper {
    async fn run(mut self, mut watch: ExitWatch) {
        loop {
            let Some(stderr) = &self.stderr else {
                watch.exited().await;
                break;
            };
            // Both arms only wait for readiness, so losing the race loses nothing.
            tokio::select! {
                () = watch.exited() => break,
                ready = stderr.readable() => {
                    if ready.is_err() || self.reader.read(|chunk| stderr.try_read(chunk), BURST).is_closed() {
                        self.stderr = None;
                    }
                }
            }
        }
        let status = self.leader.as_ref().map(|leader| self.group.reap(leader, self.leaves_group));
        self.leader = None;
        if let Some(stderr) = &self.stderr {
            // The runtime's idea of readiness may lag behind the exit, so this asks the system itself.
            let ask = |chunk: &mut [u8]| Ok(rustix::io::read(stderr, chunk)?);
            self.reader.read(ask, LAST_WORDS);
        }
        self.reader.finish();
        orphans::reap_orphans();
        let status = status.and_then(Result::ok);
        self.exited.send_replace(Some(Exit { status }));
    }
}

impl Drop for Keeper {
    /// The runtime went away first: end the group now, and let the launcher thread collect the leader.
    fn drop(&mut self) {
        if let Some(leader) = self.leader.take() {
            self.group.kill();
            launcher::reap_later(leader);
        }
    }
}

struct StderrReader {
    tail: StderrTail,
    lines: Vec<StderrLines>,
    partial: Vec<u8>,
}

enum Read {
    Open,
    Closed,
}

impl Read {
    fn is_closed(&self) -> bool {
        matches!(self, Self::Closed)
    }
}

impl StderrReader {
    fn new(tail: StderrTail, lines: Vec<StderrLines>) -> Self {
        Self { tail, lines, partial: Vec::new() }
    }

    /// Reads what is there, up to `limit`.
    fn read(&mut self, ask: impl Fn(&mut [u8]) -> io::Result<usize>, limit: usize) -> Read {
        let mut chunk = [0; 4096];
        let mut total = 0;
        while total < limit {
            match ask(&mut chunk) {
                Ok(0) => return Read::Closed,
                Ok(read) => {
                    total += read;
                    self.take(chunk.get(..read).unwrap_or_default());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Read::Open,
                Err(_) => return Read::Closed,
            }
        }
        Read::Open
    }

    fn take(&mut self, bytes: &[u8]) {
        self.tail.push(bytes);
        if self.lines.is_empty() {
            return;
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.partial.len() >= MAX_LINE {
                emit(&mut self.lines, &mut self.partial);
            }
        }
    }

    fn finish(&mut self) {
        if !self.partial.is_empty() {
            emit(&mut self.lines, &mut self.partial);
        }
    }
}

fn emit(listeners: &mut [StderrLines], partial: &mut Vec<u8>) {
    let line = String::from_utf8_lossy(partial.strip_suffix(b"\n").unwrap_or(partial));
    for listener in listeners {
        // A callback that panics must not end the task that also watches for the exit.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| listener(&line))) {
            tracing::error!("a stderr callback panicked; the child goes on");
            // The payload is a value of the user as well, and its drop may panic.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(payload))).map_err(std::mem::forget);
        }
    }
    drop(line);
    partial.clear();
}
