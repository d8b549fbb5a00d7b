//! One test, one sandbox, one faulty CLI; afterwards no process of it may be left.

use std::time::Duration;

use pilothouse::{Error, Event, Options, Session, Turn, TurnResult};
use pilothouse_testkit::{MARKER_VARIABLE, Sandbox, binary};

/// How long anything in a test may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(30);

/// A sandbox and the options for the CLI in it.
pub(crate) struct Bench {
    sandbox: Sandbox,
    fault: &'static str,
}

impl Bench {
    pub(crate) fn new(fault: &'static str) -> Self {
        Self { sandbox: Sandbox::new().unwrap(), fault }
    }

    /// Options that start the faulty CLI, marked as this test's.
    pub(crate) fn options(&self) -> Options {
        Options::new()
            .executable(binary("faulty").unwrap())
            .cwd(self.sandbox.project())
            .env("FAULTY", self.fault)
            .env(MARKER_VARIABLE, self.sandbox.marker())
    }

    /// Where the CLI runs.
    pub(crate) fn project(&self) -> std::path::PathBuf {
        self.sandbox.project()
    }

    /// Whether a process of the test is there.
    pub(crate) fn is_running(&self) -> bool {
        !pilothouse_testkit::processes_marked(&self.sandbox.marker()).is_empty()
    }

    pub(crate) async fn connect(&self) -> Session {
        within(self.options().connect()).await.unwrap()
    }

    /// Fails unless every process of the test is gone.
    pub(crate) async fn no_process_is_left(&self) {
        let left = self.sandbox.leftovers(Duration::from_secs(5)).await;
        assert!(left.is_empty(), "still running: {left:?}");
    }

    /// Runs a session through one prompt and closes it.
    pub(crate) async fn ask(&self, options: Options) -> (Vec<Event>, TurnResult) {
        let session = within(options.connect()).await.unwrap();
        let turn = within(session.send("go")).await.unwrap();
        let (events, result) = read(turn).await;
        within(session.close()).await;
        self.no_process_is_left().await;
        (events, result.unwrap())
    }
}

/// Waits for something that must not hang.
pub(crate) async fn within<T>(future: impl IntoFuture<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("this hangs")
}

/// Reads a turn to its end: its events, and how it ended.
pub(crate) async fn read(mut turn: Turn) -> (Vec<Event>, Result<TurnResult, Error>) {
    let mut events = Vec::new();
    while let Some(event) = within(turn.next()).await {
        match event {
            Ok(event) => events.push(event),
            Err(_) => break,
        }
    }
    let result = within(turn.result()).await;
    (events, result)
}

/// The inner `response` object that the CLI saw, which it gives back as its answer.
pub(crate) fn seen_by_cli(result: &TurnResult) -> serde_json::Value {
    serde_json::from_str(result.text()).unwrap()
}
