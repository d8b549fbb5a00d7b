//! What every scenario stands on: the CLI, an API that says what the script says, and a throw-away home.

use std::path::PathBuf;
use std::time::Duration;

use pilothouse::{Error, Options, Session};
use pilothouse_testkit::{Api, Sandbox, Turn};

pub(crate) use super::play::{ask, bash, object};

/// Where `cargo xtask real` tells which CLI to drive.
const CLI_VARIABLE: &str = "PILOTHOUSE_REAL_CLI";

/// Long enough for a CLI on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The longest that a scripted turn may take, retries included.
pub(crate) const TURN_LIMIT: Duration = Duration::from_secs(40);

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

    /// Ends the CLI as an out-of-memory killer would.
    pub(crate) fn kill_cli(&self) {
        self.kill(&self.cli.to_string_lossy());
    }

    pub(crate) async fn nothing_left(self) {
        let left = self.sandbox.leftovers(Duration::from_secs(5)).await;
        assert!(left.is_empty(), "still running: {left:?}");
    }
}
