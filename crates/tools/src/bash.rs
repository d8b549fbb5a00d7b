use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::background::{Background, Task};
use crate::exit_code;
use crate::large_output::{self, Shown};
use crate::schema::schema_of;
use crate::shell::{Ended, Reins, Shell, Waited};
use crate::tool::{Input, Outcome, Running, Spec, Tool, Touch};
use crate::workspace::Workspace;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
const LONGEST_TIMEOUT: Duration = Duration::from_secs(600);
/// A bare `sleep` of this many seconds blocks the session for nothing.
const LONGEST_SLEEP: f64 = 30.0;

/// What a shell says of a command that SIGTERM has ended, and SIGKILL.
const TERMINATED: i32 = 143;
const KILLED: i32 = 137;

/// Runs a shell command; the working directory is kept from call to call.
#[derive(Debug)]
pub struct Bash {
    background: Background,
}

impl Bash {
    /// Commands started in the background are kept in `background`.
    pub fn new(background: Background) -> Self {
        Self { background }
    }
}

impl Tool for Bash {
    fn spec(&self) -> Spec {
        Spec {
            name: "Bash",
            description: "Runs a command in bash and returns what it prints. The working directory is kept between calls, \
                          other shell state is not. Standard input is empty. timeout is in milliseconds: 120000 unless \
                          set, at most 600000. With run_in_background the call returns at once and the output goes to a file. \
                          For files use Read, Edit and Write instead of cat, sed and echo.",
            input_schema: schema_of::<pilothouse_proto::tool::BashInput>(),
        }
    }

    /// What a command touches is in its text: the gate analyses that itself.
    fn touches(&self, _: &Input, _: &Workspace) -> Vec<Touch> {
        Vec::new()
    }

    fn run<'a>(&'a self, input: Input, workspace: &'a Workspace, stop: CancellationToken) -> Running<'a> {
        self.run_held(input, workspace, stop, None)
    }
}

impl Bash {
    /// Runs a call that somebody holds the reins of: it can be let go, and then goes on in the background, which it also
    /// does when its time is up, unless it only waits. Without reins its time is its end.
    pub fn run_held<'a>(
        &'a self,
        input: Input,
        workspace: &'a Workspace,
        stop: CancellationToken,
        reins: Option<Reins>,
    ) -> Running<'a> {
        Box::pin(async move {
            let done = self.call(input, workspace, stop, reins.as_ref()).await;
            done.unwrap_or_else(|refused| refused)
        })
    }

    async fn call(
        &self,
        input: Input,
        workspace: &Workspace,
        stop: CancellationToken,
        reins: Option<&Reins>,
    ) -> Result<Outcome, Outcome> {
        let mut args = Args::new("Bash", input);
        let command = args.text("command");
        let description = args.maybe_text("description");
        let timeout =
            args.maybe_count("timeout").map_or(DEFAULT_TIMEOUT, Duration::from_millis).min(LONGEST_TIMEOUT);
        let in_background = args.flag("run_in_background");
        if command.contains('\0') {
            args.problem("the parameter `command` contains a NUL character");
        }
        if !in_background && bare_sleep(&command).is_some_and(|seconds| seconds >= LONGEST_SLEEP) {
            args.problem("a command that only sleeps this long is refused: run what you wait for in the background instead");
        }
        args.check()?;
        let shell = Shell::new(&command, workspace);
        if in_background {
            let task = self.background.start(shell, &command, description.as_deref(), workspace).await?;
            return Ok(Outcome::text(
                format!(
                    "Command running in background with ID: {}. Its output is written to {}",
                    task.id,
                    task.output.display()
                ),
                json!({
                    "stdout": "", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false,
                    "backgroundTaskId": task.id,
                }),
            ));
        }
        let outlives = reins.is_some() && !begins_with_sleep(&command);
        let run = match (shell.run(timeout, outlives, stop, reins).await?, reins) {
            (Waited::Left(left), Some(reins)) => {
                let (timed_out, printed) = (left.timed_out, left.output.clone());
                let text = description.as_deref();
                let task = self.background.adopt(*left, &reins.id, &command, text, workspace)?;
                return Ok(went_on(&task, timed_out.then_some(timeout), &printed, workspace));
            }
            (Waited::Left(_), None) => return Err(Outcome::failed("the command was let go by nobody")),
            (Waited::Over(run), _) => run,
        };
        if let Some(cwd) = &run.cwd {
            workspace.set_cwd(cwd);
        }
        let Shown { text, structured, kept } = large_output::shown(&run.output, workspace);
        let meaning = match run.ended {
            Ended::Exited(code) => exit_code::meaning(&command, code),
            _ => None,
        };
        match run.ended {
            Ended::Exited(code) if code == 0 || meaning.is_some() => {
                let silent = text.is_empty();
                let said = if silent { "(Bash completed with no output)".to_owned() } else { text };
                let mut result = json!({
                    "stdout": structured, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": silent,
                });
                if let (Some(meaning), Some(result)) = (meaning, result.as_object_mut()) {
                    result.insert("returnCodeInterpretation".to_owned(), meaning.into());
                }
                if let (Some(kept), Some(result)) = (kept, result.as_object_mut()) {
                    result.insert("persistedOutputPath".to_owned(), json!(kept.path));
                    result.insert("persistedOutputSize".to_owned(), json!(kept.size));
                }
                Ok(Outcome::text(said, result))
            }
            Ended::Exited(code) => {
                Err(Outcome::failed(format!("Exit code {code}\n{text}").trim_end().to_owned()))
            }
            Ended::TimedOut => Err(Outcome::failed(
                format!(
                    "Exit code {TERMINATED}\nThe command was ended after {} s, its timeout; set a longer one\n{text}",
                    timeout.as_secs_f64()
                )
                .trim_end()
                .to_owned(),
            )),
            Ended::Killed => {
                Err(Outcome::failed(format!("Exit code {KILLED}\n{}\n\n[killed]", text.trim_end())))
            }
            Ended::Stopped => Err(Outcome::Stopped { partial: text }),
        }
    }
}

/// What the model hears of a command that goes on without its call.
fn went_on(task: &Task, timeout: Option<Duration>, printed: &[u8], workspace: &Workspace) -> Outcome {
    let (id, file) = (&task.id, task.output.display());
    let mut result = json!({
        "stdout": "", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false,
        "backgroundTaskId": id,
    });
    let Some(timeout) = timeout else {
        if let Some(result) = result.as_object_mut() {
            result.insert("backgroundedByUser".to_owned(), true.into());
        }
        let text = format!(
            "The user moved the command to the background, where it goes on with ID: {id}. Its output is written to {file}"
        );
        return Outcome::text(text, result);
    };
    let Shown { text, structured, .. } = large_output::shown(printed, workspace);
    if let Some(result) = result.as_object_mut() {
        result.insert("stdout".to_owned(), structured.into());
        result.insert("timedOutAfterMs".to_owned(), (timeout.as_millis() as u64).into());
    }
    let said = format!(
        "{text}\nThe command did not end within {} s, its timeout, and goes on in the background with ID: {id}. Its output is \
         written to {file}. You will be told when it ends; do not start it a second time, and use TaskStop if it is no \
         longer needed.",
        timeout.as_secs_f64()
    );
    Outcome::text(said.trim_start().to_owned(), result)
}

/// Whether a command begins by waiting: whoever waits longer than it may gains nothing from waiting on unseen.
fn begins_with_sleep(command: &str) -> bool {
    command.split_whitespace().next() == Some("sleep")
}

/// The seconds of a command that is nothing but one `sleep`.
fn bare_sleep(command: &str) -> Option<f64> {
    let mut words = command.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some("sleep"), Some(seconds), None) => seconds.trim_end_matches('s').parse().ok(),
        _ => None,
    }
}
