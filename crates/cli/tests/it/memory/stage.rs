//! What every scenario stands on: an agent in this process, an API that says what the script says, a throw-away home.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pilothouse::{Error, Options, Prompt, Session, Transport, TurnResult};
use pilothouse_agent::Agent;
use pilothouse_agent::launch::{Command, Environment};
use pilothouse_model::{ApiConfig, MessagesApi};
use pilothouse_testkit::{Api, Sandbox, Turn, processes_marked};
use serde_json::{Map, Value, json};

/// How long anything may take before it counts as hanging.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The program, for the few scenarios that are about a process.
const PROGRAM: &str = env!("CARGO_BIN_EXE_pilothouse-agent");

pub(crate) struct Stage {
    pub(crate) api: Api,
    pub(crate) sandbox: Sandbox,
    is_process: bool,
    agents: Mutex<Vec<Agent>>,
}

impl Stage {
    /// Always there: the real CLI may be missing, our agent is not.
    #[expect(clippy::unnecessary_wraps, reason = "the scenarios are shared with a stage that may be missing")]
    pub(crate) fn open(script: impl IntoIterator<Item = Turn>) -> Option<Stage> {
        let api = Api::script(script).expect("a loopback port");
        let sandbox = Sandbox::new().expect("a folder for temporary files");
        Some(Stage { api, sandbox, is_process: false, agents: Mutex::default() })
    }

    /// For a scenario about the process that the agent is.
    pub(crate) fn open_process(script: impl IntoIterator<Item = Turn>) -> Option<Stage> {
        Stage::open(script).map(|stage| Stage { is_process: true, ..stage })
    }

    /// Options for an agent in this sandbox; nothing is inherited.
    pub(crate) fn options(&self) -> Options {
        let options = Options::new().executable(PROGRAM).cwd(self.sandbox.project()).env_clear();
        self.sandbox
            .env(&self.api.url())
            .into_iter()
            .fold(options, |options, (name, value)| options.env(name, value))
    }

    /// Starts an agent with the arguments and the environment that a process would get, and connects to it.
    pub(crate) async fn connect(&self, options: Options) -> Result<Session, Error> {
        if self.is_process {
            return options.connect().await;
        }
        let text = |text: std::ffi::OsString| text.into_string().expect("text");
        let env: Environment =
            options.to_env().into_iter().map(|(name, value)| (text(name), text(value))).collect();
        let tokens = options.to_argv()?.into_iter().map(text);
        let launch = match Command::read(tokens, self.sandbox.project(), env.clone()) {
            Ok(Command::Run(launch)) => *launch,
            other => panic!("not a session: {other:?}"),
        };
        let model = MessagesApi::new(ApiConfig::from_env(|name| env.get(name).map(str::to_owned)));
        let (here, there) = Transport::memory();
        let agent = Agent::start(launch, there, Arc::new(model), pilothouse_agent::Options::default());
        self.agents.lock().expect("no panic").push(agent);
        options.connect_over(here).await
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

    /// Ends the agent as an out-of-memory killer would.
    pub(crate) fn kill_cli(&self) {
        let processes = processes_marked(&self.sandbox.marker());
        let found = processes.iter().find(|process| process.command.starts_with(PROGRAM)).expect("it runs");
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

    /// Ends the session and makes sure that it left neither an agent nor a process behind.
    pub(crate) async fn close(self, session: Session) {
        session.close().await;
        self.nothing_left().await;
    }

    pub(crate) async fn nothing_left(self) {
        for agent in self.agents.into_inner().expect("no panic") {
            tokio::time::timeout(PATIENCE, agent.finished()).await.expect("the agent ends");
        }
        let left = self.sandbox.leftovers(PATIENCE).await;
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
    tokio::time::timeout(PATIENCE, turn.into_future()).await.expect("in time").expect("a result")
}

/// The members of a JSON object.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("no object: {other}"),
    }
}
