use std::path::Path;
use std::time::Duration;

use pilothouse_proc::{Limits, Outcome, Spawn};
use pilothouse_proto::system::HookOutcome;

use super::occasion::Occasion;
use crate::launch::Launch;
use crate::plugins::PluginHome;

/// More than this of a hook's output is nobody's answer.
const LARGEST_OUTPUT: usize = 16 << 20;
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

/// A command that is to be told of an occasion.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) command: &'a str,
    pub(crate) shell: Option<&'a str>,
    /// The plugin that it is from.
    pub(crate) plugin: Option<&'a PluginHome>,
    pub(crate) cwd: &'a Path,
}

impl Run<'_> {
    /// Runs it with the occasion as JSON on its stdin. Dropping the future ends the command and its children.
    pub(crate) async fn to_its_end(&self, occasion: &Occasion, launch: &Launch, timeout: Duration) -> Ran {
        let mut input = match serde_json::to_vec(&occasion.input) {
            Ok(input) => input,
            Err(error) => return Ran::failed(error.to_string(), HookOutcome::Error),
        };
        input.push(b'\n');
        let shell = self.shell.unwrap_or("sh");
        let mut spawn = Spawn::new(shell).args(["-c", self.command]).env_clear().cwd(self.cwd);
        spawn = spawn.env("CLAUDECODE", "1").env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
        for (name, value) in launch.env.iter() {
            spawn = spawn.env(name, value);
        }
        spawn = spawn.env("CLAUDE_PROJECT_DIR", launch.locations().project);
        for (name, value) in self.plugin.map(PluginHome::variables).into_iter().flatten() {
            spawn = spawn.env(name, value);
        }
        let finished = match spawn.run(&input, Limits { timeout, stdout: LARGEST_OUTPUT }).await {
            Ok(finished) => finished,
            Err(error) => return Ran::failed(error.to_string(), HookOutcome::Error),
        };
        let mut stdout = String::from_utf8_lossy(&finished.stdout).into_owned();
        if finished.stdout_cut {
            stdout.push_str("\n… (the hook printed more, which was not kept)");
        }
        let (code, outcome) = match finished.outcome {
            Outcome::Exited(exit) if exit.success() => (Some(0), HookOutcome::Success),
            Outcome::Exited(exit) => (exit.code(), HookOutcome::Error),
            Outcome::TimedOut => (None, HookOutcome::Cancelled),
        };
        Ran { stdout, stderr: finished.stderr_tail, code, outcome }
    }
}
