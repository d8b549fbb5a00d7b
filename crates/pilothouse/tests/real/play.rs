//! What scenarios do and look at, whichever stage they play on.

use std::time::{Duration, Instant};

use pilothouse::{Prompt, Session, TurnResult};
use pilothouse_testkit::{Turn, processes_marked};
use serde_json::{Map, Value, json};

use super::stage::{PATIENCE, Stage, TURN_LIMIT};

impl Stage {
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

    /// Ends the CLI that this program is, as an out-of-memory killer would.
    pub(crate) fn kill(&self, program: &str) {
        let processes = processes_marked(&self.sandbox.marker());
        let found =
            processes.iter().find(|process| process.command.starts_with(program)).expect("the CLI runs");
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

    /// Ends the session and makes sure that it left nothing behind.
    pub(crate) async fn close(self, session: Session) {
        session.close().await;
        self.nothing_left().await;
    }
}

/// A call of Bash, as the model would make it.
pub(crate) fn bash(command: &str) -> Turn {
    Turn::tool("Bash", json!({"command": command, "description": "run it"}))
}

/// Sends a message and waits for the result of the turn that takes it in, be it a failure or not.
pub(crate) async fn ask(session: &Session, prompt: impl Into<Prompt>) -> TurnResult {
    let turn = session.send(prompt).await.expect("sent");
    tokio::time::timeout(TURN_LIMIT, turn.result()).await.expect("in time").expect("a result")
}

/// The members of a JSON object.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("no object: {other}"),
    }
}
