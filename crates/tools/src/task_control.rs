//! Looks after what runs in the background: shows what it has put out, and stops it.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pilothouse_proto::tool::{TaskOutputInput, TaskStopInput};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::background::{Background, TaskState};
use crate::schema::schema_of;
use crate::tool::{Input, Outcome, Running, Spec, Tool, Touch};
use crate::workspace::Workspace;

/// How much of an output file is shown: its end, which is what one waits for.
const SHOWN: u64 = 30_000;
const DEFAULT_WAIT: Duration = Duration::from_secs(30);
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// Background work that is not a command, such as subagents.
pub trait OtherTasks: Send + Sync {
    /// Stops a task and says what it was; `None` if there is no such task.
    fn stop(&self, id: &str) -> Option<StoppedTask>;
}

/// A task that was told to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoppedTask {
    /// What kind of task it is, for example `local_agent`.
    pub task_type: String,
    /// What it was for.
    pub description: String,
}

/// Shows what a background command has put out so far, or waits for its end.
#[derive(Debug)]
pub struct TaskOutput(pub Background);

/// Stops background work.
pub struct TaskStop {
    background: Background,
    others: Vec<Arc<dyn OtherTasks>>,
}

impl TaskStop {
    /// Stops the commands of `background`.
    pub fn new(background: Background) -> Self {
        Self { background, others: Vec::new() }
    }

    /// Stops these, too.
    pub fn and(mut self, others: Arc<dyn OtherTasks>) -> Self {
        self.others.push(others);
        self
    }

    fn stop(&self, input: Input) -> Result<Outcome, Outcome> {
        let mut args = Args::new("TaskStop", input);
        let id = args.maybe_text("task_id").or_else(|| args.maybe_text("shell_id"));
        if id.is_none() {
            args.problem("the required parameter `task_id` is missing");
        }
        args.check()?;
        let id = id.unwrap_or_default();
        let command = self.background.tasks().into_iter().find(|task| task.id == id);
        let stopped = match command {
            Some(task) if self.background.stop(&id) => {
                Some(StoppedTask { task_type: "local_bash".to_owned(), description: task.command })
            }
            _ => self.others.iter().find_map(|others| others.stop(&id)),
        };
        let Some(StoppedTask { task_type, description }) = stopped else {
            return Err(Outcome::failed(match self.background.state(&id) {
                Some(_) => format!("Task {id} has ended already"),
                None => format!("There is no task with the id {id:?}"),
            }));
        };
        let message = format!("Stopped task {id} ({description})");
        let result =
            json!({ "message": message, "task_id": id, "task_type": task_type, "command": description });
        Ok(Outcome::text(message, result))
    }
}

impl std::fmt::Debug for TaskStop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskStop").field("background", &self.background).finish_non_exhaustive()
    }
}

impl Tool for TaskStop {
    fn spec(&self) -> Spec {
        Spec {
            name: "TaskStop",
            description: "Stops a background task by its id, with all processes that it started.",
            input_schema: schema_of::<TaskStopInput>(),
        }
    }

    fn touches(&self, _: &Input, _: &Workspace) -> Vec<Touch> {
        Vec::new()
    }

    fn run<'a>(&'a self, input: Input, _: &'a Workspace, _: CancellationToken) -> Running<'a> {
        Box::pin(async move { self.stop(input).unwrap_or_else(|refused| refused) })
    }
}

impl Tool for TaskOutput {
    fn spec(&self) -> Spec {
        Spec {
            name: "TaskOutput",
            description: "Shows the last part of what a background task has put out. With block (the default) it waits for \
                          the task to end, up to timeout milliseconds: 30000 unless set, at most 600000.",
            input_schema: schema_of::<TaskOutputInput>(),
        }
    }

    fn runs_in_parallel(&self) -> bool {
        true
    }

    fn touches(&self, _: &Input, _: &Workspace) -> Vec<Touch> {
        Vec::new()
    }

    fn run<'a>(&'a self, input: Input, _: &'a Workspace, stop: CancellationToken) -> Running<'a> {
        Box::pin(async move { self.show(input, stop).await.unwrap_or_else(|refused| refused) })
    }
}

impl TaskOutput {
    async fn show(&self, input: Input, stop: CancellationToken) -> Result<Outcome, Outcome> {
        let mut args = Args::new("TaskOutput", input);
        let id = args.text("task_id");
        let waits = args.maybe_flag("block").unwrap_or(true);
        let wait = args.maybe_count("timeout").map_or(DEFAULT_WAIT, Duration::from_millis).min(LONGEST_WAIT);
        args.check()?;
        if waits {
            tokio::select! {
                () = self.0.ended(&id) => {}
                () = tokio::time::sleep(wait) => {}
                () = stop.cancelled() => return Err(Outcome::Stopped { partial: String::new() }),
            }
        }
        let Some((task, state)) = self.0.state(&id) else {
            return Err(Outcome::failed(format!("There is no task with the id {id:?}")));
        };
        let output =
            end_of(&task.output).map_err(|e| Outcome::failed(format!("cannot read the output: {e}")))?;
        let (status, code) = match state {
            TaskState::Running => ("running", None),
            TaskState::Ended(Some(0)) => ("completed", Some(0)),
            TaskState::Ended(Some(code)) => ("failed", Some(code)),
            TaskState::Ended(None) => ("killed", None),
        };
        let retrieval = match state {
            TaskState::Running if waits => "timeout",
            TaskState::Running => "not_ready",
            TaskState::Ended(_) => "success",
        };
        let exit = code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
        let said = match output.is_empty() {
            true => format!("Task {id} is {status}{exit}. It has put out nothing so far."),
            false => format!("Task {id} is {status}{exit}. The end of its output:\n{output}"),
        };
        let result = json!({ "retrieval_status": retrieval, "task": {
            "task_id": id, "task_type": "local_bash", "status": status, "description": task.description,
            "output": output, "exitCode": code,
        }});
        Ok(Outcome::text(said, result))
    }
}

fn end_of(path: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(SHOWN)))?;
    let mut end = Vec::new();
    file.take(SHOWN).read_to_end(&mut end)?;
    Ok(String::from_utf8_lossy(&end).trim_end().to_owned())
}
