//! What every scenario stands on: the CLI, an API that says what the script says, and a throw-away home.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use pilothouse::{Error, Options, Prompt, Session, TurnResult};
use pilothouse_testkit::{Api, Sandbox, Turn, processes_marked};
use serde_json::{Map, Value, json};

/// Where `cargo xtask real` tells which CLI to drive.
const CLI_VARIABLE: &str = "PILOTHOUSE_REAL_CLI";

/// Long enough for a CLI on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The longest that a scripted turn may take, retries included.
const TURN_LIMIT: Duration = Duration::from_secs(40);

pub(crate) struct Stage {
    pub(crate) api: Api,
    pub(crate) sandbox: Sandbox,
    cli: PathBuf,
}

impl Stage {
    /// `None` when no CLI was chosen, and the scenario is not to be played.
    #[expect(clippy::print_stderr, reason = "a test that was not played must not look as if it was")]
    pub(crate) fn open(script: impl IntoIterator<Item = Turn>) -> Option<Stage> {
        let Some(cli) = std::env::var_os(CLI_VARIABLE) else {
            eprintln!("not selected: `cargo xtask real` chooses a CLI by {CLI_VARIABLE}");
            return None;
        };
        let api = Api::script(script).expect("a loopback port");
        let sandbox = Sandbox::new().expect("a folder for temporary files");
        Some(Stage { api, sandbox, cli: cli.into() })
    }

    /// For a scenario about the process that the CLI is.
    pub(crate) fn open_process(script: impl IntoIterator<Item = Turn>) -> Option<Stage> {
        Stage::open(script)
    }

    /// Options for this CLI in this sandbox; nothing is inherited.
    pub(crate) fn options(&self) -> Options {
        let options = Options::new().executable(&self.cli).cwd(self.sandbox.project()).env_clear();
        self.sandbox
            .env(&self.api.url())
            .into_iter()
            .fold(options, |options, (name, value)| options.env(name, value))
    }

    /// Starts the CLI.
    pub(crate) async fn connect(&self, options: Options) -> Result<Session, Error> {
        options.connect().await
    }

    /// The same for a program that chooses its CLI by `PILOTHOUSE_CLAUDE`.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let cli = ("PILOTHOUSE_CLAUDE".to_owned(), self.cli.to_string_lossy().into_owned());
        self.sandbox.env(&self.api.url()).into_iter().chain([cli]).collect()
    }

    /// Whether the project has this file: what a tool did or did not do.
    pub(crate) fn has(&self, file: &str) -> bool {
        self.sandbox.project().join(file).exists()
    }

    /// What the model was told came of its last tool call.
    pub(crate) fn last_tool_result(&self) -> String {
        let calls = self.api.main_calls();
        let last = calls.last().and_then(|call| call.tool_results().last().map(|result| result.to_string()));
        last.expect("a tool result reached the API")
    }

    /// Whether a process of this sandbox has this in its command line.
    pub(crate) fn runs(&self, command: &str) -> bool {
        processes_marked(&self.sandbox.marker()).iter().any(|process| process.command.contains(command))
    }

    /// Ends the CLI as an out-of-memory killer would.
    pub(crate) fn kill_cli(&self) {
        let cli = self.cli.to_string_lossy().into_owned();
        let processes = processes_marked(&self.sandbox.marker());
        let found = processes.iter().find(|process| process.command.starts_with(&cli)).expect("the CLI runs");
        let pid = nix::unistd::Pid::from_raw(i32::try_from(found.pid).expect("a process id"));
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).expect("kill");
    }

    /// Waits until something has happened outside of the protocol.
    pub(crate) async fn until(&self, what: &str, holds: impl Fn(&Stage) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < deadline, "waited {PATIENCE:?} until {what}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends the session and makes sure that it left no process behind.
    pub(crate) async fn close(self, session: Session) {
        session.close().await;
        self.nothing_left().await;
    }

    pub(crate) async fn nothing_left(self) {
        let left = self.sandbox.leftovers(Duration::from_secs(5)).await;
        assert!(left.is_empty(), "still running: {left:?}");
    }
}

/// A call of Bash, as the model would make it.
pub(crate) fn bash(command: &str) -> Turn {
    Turn::tool("Bash", json!({"command": command, "description": "run it"}))
}

/// Sends a message and waits for the result of the turn that takes it in.
pub(crate) async fn ask(session: &Session, prompt: impl Into<Prompt>) -> TurnResult {
    let turn = session.send(prompt).await.expect("sent");
    tokio::time::timeout(TURN_LIMIT, turn.into_future()).await.expect("in time").expect("a result")
}

/// The members of a JSON object.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("no object: {other}"),
    }
}
