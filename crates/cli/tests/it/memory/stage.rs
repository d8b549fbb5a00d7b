//! What every scenario stands on: an agent in this process, an API that says what the script says, a throw-away home.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pilothouse::{Error, Options, Session, Transport};
use pilothouse_agent::Agent;
use pilothouse_agent::launch::{Command, Environment};
use pilothouse_model::{ApiConfig, MessagesApi};
use pilothouse_testkit::{Api, Sandbox, Turn};

pub(crate) use super::play::{ask, bash, object};

/// How long anything may take before it counts as hanging.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
pub(crate) const TURN_LIMIT: Duration = PATIENCE;

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

    /// Ends the agent as an out-of-memory killer would.
    pub(crate) fn kill_cli(&self) {
        self.kill(PROGRAM);
    }

    pub(crate) async fn nothing_left(self) {
        for agent in self.agents.into_inner().expect("no panic") {
            tokio::time::timeout(PATIENCE, agent.finished()).await.expect("the agent ends");
        }
        let left = self.sandbox.leftovers(PATIENCE).await;
        assert!(left.is_empty(), "still running: {left:?}");
    }
}
