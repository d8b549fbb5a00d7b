use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::background::{Background, Task};
use crate::exit_code;
use crate::image::Image;
use crate::large_output::{self, Shown};
use crate::printed::Printed;
use crate::schema::schema_of;
use crate::shell::{Ended, Reins, Shell, Waited};
use crate::text_file::LARGEST_IMAGE;
use crate::tool::{Done, Input, Outcome, Running, Spec, Tool, Touch};
use crate::workspace::Workspace;

/// A command that begins by sleeping for this many seconds blocks the session for nothing.
const LONGEST_SLEEP: f64 = 25.0;
/// This much of what a failed command printed goes to the model: its beginning and its end.
const LARGEST_FAILURE: usize = 10_000;

/// What a shell says of a command that SIGTERM has ended, and SIGKILL.
const TERMINATED: i32 = 143;
const KILLED: i32 = 137;

/// How long commands may take, and how much they may print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandLimits {
    /// The time of a command that asks for none.
    pub usual_time: Duration,
    /// The most that a command may ask for.
    pub longest_time: Duration,
    /// The most characters of output that go to the model as they are.
    pub largest_output: usize,
}

impl Default for CommandLimits {
    fn default() -> Self {
        Self {
            usual_time: Duration::from_secs(120),
            longest_time: Duration::from_secs(600),
            largest_output: large_output::LARGEST_INLINE,
        }
    }
}

/// Runs a shell command; the working directory is kept from call to call.
#[derive(Debug)]
pub struct Bash {
    background: Background,
    limits: CommandLimits,
}

impl Bash {
    /// Commands started in the background are kept in `background`.
    pub fn new(background: Background) -> Self {
        Self { background, limits: CommandLimits::default() }
    }

    /// Holds commands to these limits.
    pub fn with_limits(mut self, limits: CommandLimits) -> Self {
        self.limits = limits;
        self
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

    fn refuses(&self, input: &Input, _: &Workspace) -> Option<String> {
        let in_background = matches!(input.get("run_in_background"), Some(Value::Bool(true)));
        let command = input.get("command").and_then(Value::as_str).unwrap_or_default();
        let sleeps = first_sleep(command).is_some_and(|seconds| seconds >= LONGEST_SLEEP);
        (sleeps && !in_background).then(|| {
            "a command that begins by sleeping this long is refused: run what you wait for in the background instead".to_owned()
        })
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
        // Nothing, and less than nothing, is no time at all.
        let asked = args.maybe_number("timeout").filter(|millis| *millis > 0.0);
        let asked = asked.and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok());
        let timeout = asked.unwrap_or(self.limits.usual_time).min(self.limits.longest_time);
        let in_background = args.flag("run_in_background");
        if command.contains('\0') {
            args.problem("the parameter `command` contains a NUL character");
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
                return Ok(went_on(&task, timed_out.then_some(timeout), &printed, self.limits, workspace));
            }
            (Waited::Left(_), None) => return Err(Outcome::failed("the command was let go by nobody")),
            (Waited::Over(run), _) => run,
        };
        if let Some(cwd) = &run.cwd {
            workspace.set_cwd(cwd);
        }
        if matches!(run.ended, Ended::Exited(0))
            && let Some(shown) = picture(run.output.head())
        {
            return Ok(shown);
        }
        let Shown { text, structured, kept } =
            large_output::shown(&run.output, self.limits.largest_output, workspace);
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
                let mut text = large_output::both_ends(&run.output, LARGEST_FAILURE);
                if let Some(confined) = workspace.confined(&command) {
                    text = format!("{}\n{}", text.trim_end(), confined.note());
                }
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
fn went_on(
    task: &Task,
    timeout: Option<Duration>,
    printed: &Printed,
    limits: CommandLimits,
    workspace: &Workspace,
) -> Outcome {
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
    let Shown { text, structured, .. } = large_output::shown(printed, limits.largest_output, workspace);
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

/// The seconds that a command begins by sleeping, whatever follows.
fn first_sleep(command: &str) -> Option<f64> {
    let mut words = command.split([' ', '\t', '\n', ';', '&', '|']).filter(|word| !word.is_empty());
    match (words.next(), words.next()) {
        (Some("sleep"), Some(seconds)) => seconds.trim_end_matches('s').parse().ok(),
        _ => None,
    }
}

/// A picture that a command has printed as a data URL.
fn picture(output: &[u8]) -> Option<Outcome> {
    let url = std::str::from_utf8(output).ok()?.trim();
    let (kind, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    if !kind.starts_with("image/") || data.len() / 4 * 3 > LARGEST_IMAGE {
        return None;
    }
    let bytes = base64::engine::general_purpose::STANDARD.decode(data).ok()?;
    // What the bytes are counts; a model cannot be shown anything else.
    let kind = Image::of(&bytes)?.kind;
    let source = json!({ "type": "base64", "media_type": kind, "data": data });
    let structured = json!({
        "stdout": url, "stderr": "", "interrupted": false, "isImage": true, "noOutputExpected": false,
    });
    let content = json!([{ "type": "image", "source": source }]);
    Some(Outcome::Done(Box::new(Done { content, structured })))
}
