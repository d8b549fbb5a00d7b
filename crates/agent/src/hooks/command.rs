use std::path::Path;
use std::time::Duration;

use pilothouse_proc::{Limits, Outcome, Spawn};
use pilothouse_proto::system::HookOutcome;

use super::occasion::Occasion;
use crate::launch::Launch;

/// More than this of a hook's output is nobody's answer.
const LARGEST_OUTPUT: usize = 1 << 20;
/// The exit code by which a command blocks.
const BLOCKS: i32 = 2;

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
    pub(crate) outcome: HookOutcome,
}

impl Ran {
    pub(crate) fn blocks(&self) -> bool {
        self.code == Some(BLOCKS)
    }

    /// What a server answered, as if it were a command that printed it.
    pub(crate) fn of_answer(answer: Result<String, String>) -> Self {
        match answer {
            Ok(stdout) => Self { stdout, stderr: String::new(), code: None, outcome: HookOutcome::Success },
            Err(why) => Self::failed(why, HookOutcome::Error),
        }
    }

    fn failed(stderr: String, outcome: HookOutcome) -> Self {
        Self { stdout: String::new(), stderr, code: None, outcome }
    }
}

/// Runs a command with the occasion as JSON on its stdin. Dropping the future ends the command and its children.
pub(crate) async fn run(
    command: &str,
    shell: Option<&str>,
    occasion: &Occasion,
    launch: &Launch,
    cwd: &Path,
    timeout: Duration,
) -> Ran {
    let mut input = match serde_json::to_vec(&occasion.input) {
        Ok(input) => input,
        Err(error) => return Ran::failed(error.to_string(), HookOutcome::Error),
    };
    input.push(b'\n');
    let mut spawn = Spawn::new(shell.unwrap_or("sh")).args(["-c", command]).env_clear().cwd(cwd);
    for (name, value) in launch.env.iter() {
        spawn = spawn.env(name, value);
    }
    let spawn = spawn.env("CLAUDE_PROJECT_DIR", launch.locations().project);
    let finished = match spawn.run(&input, Limits { timeout, stdout: LARGEST_OUTPUT }).await {
        Ok(finished) => finished,
        Err(error) => return Ran::failed(error.to_string(), HookOutcome::Error),
    };
    let stdout = String::from_utf8_lossy(&finished.stdout).into_owned();
    let (code, outcome) = match finished.outcome {
        Outcome::Exited(exit) if exit.success() => (Some(0), HookOutcome::Success),
        Outcome::Exited(exit) => (exit.code(), HookOutcome::Error),
        Outcome::TimedOut => (None, HookOutcome::Cancelled),
    };
    Ran { stdout, stderr: finished.stderr_tail, code, outcome }
}
