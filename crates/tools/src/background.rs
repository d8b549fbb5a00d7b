//! Commands that go on while the turn does, with their output in a file.

use std::collections::HashMap;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pilothouse_proc::Ladder;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::printed::Printed;
use crate::shell::{Left, Shell};
use crate::tool::Outcome;
use crate::workspace::Workspace;

/// A file of endless output would fill the disk; past this the command is ended.
const LARGEST_FILE: u64 = 1 << 30;

/// The commands of one session that run in the background. Clones share them; the last one to go ends them all.
#[derive(Clone, Debug)]
pub struct Background {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    live: Mutex<HashMap<String, Live>>,
    /// Those that are over: their output can still be asked for.
    over: Mutex<HashMap<String, TaskEnd>>,
    ended: mpsc::UnboundedSender<TaskEnd>,
    stop_all: CancellationToken,
}

#[derive(Clone, Debug)]
struct Live {
    task: Task,
    stop: CancellationToken,
    gone: CancellationToken,
}

/// Whether a background command still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskState {
    Running,
    /// With this exit code; without one if it was stopped.
    Ended(Option<i32>),
}

/// A command that runs in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The id that the model and the host know it by.
    pub id: String,
    /// The command line.
    pub command: String,
    /// What it is for, in the model's words.
    pub description: String,
    /// Where its output goes.
    pub output: PathBuf,
}

/// How a background command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskEnd {
    /// Which one.
    pub task: Task,
    /// Its exit code; `None` when it was stopped.
    pub code: Option<i32>,
}

impl Background {
    /// No commands yet. Ends are told through the receiver; unbounded, because there are only as many as were started.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<TaskEnd>) {
        let (ended, ends) = mpsc::unbounded_channel();
        let (live, over) = (Mutex::default(), Mutex::default());
        let shared = Shared { live, over, ended, stop_all: CancellationToken::new() };
        (Self { shared: Arc::new(shared) }, ends)
    }

    /// The commands that run now.
    pub fn tasks(&self) -> Vec<Task> {
        let mut tasks: Vec<Task> = self.shared.live().values().map(|live| live.task.clone()).collect();
        tasks.sort_by(|a, b| a.id.cmp(&b.id));
        tasks
    }

    /// Ends a command with its whole group. `false`: no such command runs.
    pub fn stop(&self, id: &str) -> bool {
        let live = self.shared.live().get(id).cloned();
        live.map(|live| live.stop.cancel()).is_some()
    }

    pub(crate) fn state(&self, id: &str) -> Option<(Task, TaskState)> {
        if let Some(live) = self.shared.live().get(id) {
            return Some((live.task.clone(), TaskState::Running));
        }
        self.shared.over().get(id).map(|end| (end.task.clone(), TaskState::Ended(end.code)))
    }

    /// Waits until a command is over; at once if it does not run.
    pub(crate) async fn ended(&self, id: &str) {
        let gone = self.shared.live().get(id).map(|live| live.gone.clone());
        if let Some(gone) = gone {
            gone.cancelled().await;
        }
    }

    /// Starts a command in the background.
    pub(crate) async fn start(
        &self,
        shell: Shell,
        command: &str,
        description: Option<&str>,
        workspace: &Workspace,
    ) -> Result<Task, Outcome> {
        let file = output_file(workspace, None).map_err(not_kept)?;
        let (mut child, cwd_file) = shell.start().await?;
        let pipe = child.take_stdout();
        let left = Left { child, pipe, output: Printed::default(), timed_out: false, cwd_file };
        Ok(self.keep(left, file, command, description))
    }

    /// Takes over a command that a call has waited for so far, under the id it was promised.
    pub(crate) fn adopt(
        &self,
        left: Left,
        id: &str,
        command: &str,
        description: Option<&str>,
        workspace: &Workspace,
    ) -> Result<Task, Outcome> {
        let file = output_file(workspace, Some(id)).map_err(not_kept)?;
        left.output.write_to(&file.file).map_err(not_kept)?;
        Ok(self.keep(left, file, command, description))
    }

    fn keep(&self, left: Left, file: OutputFile, command: &str, description: Option<&str>) -> Task {
        let task = Task {
            id: file.id,
            command: command.to_owned(),
            description: description.unwrap_or(command).to_owned(),
            output: file.path,
        };
        let Left { mut child, pipe, output, cwd_file, .. } = left;
        let stop = self.shared.stop_all.child_token();
        let gone = CancellationToken::new();
        let live = Live { task: task.clone(), stop: stop.clone(), gone: gone.clone() };
        self.shared.live().insert(task.id.clone(), live);
        // Weak: a running command must not keep alive what ends it.
        let shared = Arc::downgrade(&self.shared);
        let told = task.clone();
        let following = tokio::spawn(async move {
            let copied = copy(pipe, file.file, output.size());
            let code = tokio::select! {
                exit = async { tokio::join!(child.exited(), copied).0 } => Some(crate::shell::code(exit)),
                () = stop.cancelled() => {
                    child.close(Ladder::now()).await;
                    None
                }
            };
            drop(cwd_file);
            code
        });
        tokio::spawn(async move {
            // The session waits for the end of every command, so one that nobody can follow any more has failed.
            let code = following.await.unwrap_or(Some(NOT_FOLLOWED));
            if let Some(shared) = shared.upgrade() {
                let end = TaskEnd { task: told, code };
                shared.over().insert(end.task.id.clone(), end.clone());
                shared.live().remove(&end.task.id);
                gone.cancel();
                // Nobody listens any more when the session ends.
                let _ = shared.ended.send(end);
            }
        });
        task
    }
}

/// The exit code of a command whose output could not be followed to its end.
const NOT_FOLLOWED: i32 = 1;

fn not_kept(error: std::io::Error) -> Outcome {
    Outcome::failed(format!("cannot keep the output: {error}"))
}

impl Shared {
    fn live(&self) -> MutexGuard<'_, HashMap<String, Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn over(&self) -> MutexGuard<'_, HashMap<String, TaskEnd>> {
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.stop_all.cancel();
    }
}

struct OutputFile {
    id: String,
    path: PathBuf,
    file: std::fs::File,
}

/// A new file for output, of this name or of any.
fn output_file(workspace: &Workspace, id: Option<&str>) -> std::io::Result<OutputFile> {
    let folder = workspace.make_output_dir()?;
    if let Some(id) = id {
        let path = folder.join(format!("{id}.output"));
        let file = std::fs::File::options().write(true).create_new(true).mode(0o600).open(&path)?;
        return Ok(OutputFile { id: id.to_owned(), path, file });
    }
    let file = tempfile::Builder::new().prefix("b").suffix(".output").rand_bytes(8).tempfile_in(folder)?;
    let (file, path) = file.keep().map_err(|e| e.error)?;
    let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(OutputFile { id, path, file })
}

async fn copy(pipe: Option<tokio::net::unix::pipe::Receiver>, file: std::fs::File, mut written: u64) {
    let (Some(mut pipe), mut file) = (pipe, tokio::fs::File::from_std(file)) else { return };
    let mut chunk = vec![0; 16 << 10];
    while let Ok(n @ 1..) = pipe.read(&mut chunk).await {
        written += n as u64;
        let Some(part) = chunk.get(..n) else { return };
        if written > LARGEST_FILE || file.write_all(part).await.is_err() || file.flush().await.is_err() {
            return;
        }
    }
}
