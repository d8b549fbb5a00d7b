//! One way, one runtime, one sandbox with a CLI in it, one time limit.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use pilothouse::{Error, Options, Session};
use pilothouse_testkit::{MARKER_VARIABLE, Sandbox, binary};
use tokio::runtime::{Builder, Runtime};

use crate::harness::within;

/// How long a way may take, whatever it waits for.
const LIMIT: Duration = Duration::from_secs(60);

/// What a CLI in `sh` needs to speak. `$line` is the line that was read last.
const SPEECH: &str = r#"#!/bin/sh
field() { printf '%s' "$line" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
reply() { printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":%s}}\n' "$(field request_id)" "$1"; }
hello() { read -r line; reply '{"commands":[],"agents":[],"output_style":"default","available_output_styles":[],"models":[],"account":{}}'; }
text() { printf '{"type":"assistant","parent_tool_use_id":null,"message":{"id":"m","type":"message","role":"assistant","model":"fake","content":[{"type":"text","text":"%s"}],"stop_reason":null,"stop_sequence":null,"usage":{}},"uuid":"u","session_id":"s"}\n' "$1"; }
result() { printf '{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"%s","session_id":"s","total_cost_usd":0,"uuid":"r"}\n' "$1"; }
ask() { printf '{"type":"control_request","request_id":"%s","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t"}}\n' "$1"; }
"#;

pub(crate) fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

pub(crate) fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Where a way plays. Clones share it.
#[derive(Clone)]
pub(crate) struct Stage(Arc<Sandbox>);

impl Stage {
    /// Options for the CLI that misbehaves as `fault` says.
    pub(crate) fn faulty(&self, fault: &str) -> Options {
        self.options().executable(binary("faulty").unwrap()).env("FAULTY", fault)
    }

    /// Options for a CLI in `sh`.
    pub(crate) fn script(&self, body: &str) -> Options {
        // Each in a file of its own: one that is being executed cannot be written.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("cli-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let path = self.0.write(name, &format!("{SPEECH}{body}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        self.options().executable(path)
    }

    /// Short steps, so that a CLI that must be killed is killed soon.
    fn options(&self) -> Options {
        let step = Duration::from_millis(300);
        Options::new().cwd(self.0.project()).env(MARKER_VARIABLE, self.0.marker()).exit_grace(step)
    }

    pub(crate) fn project(&self) -> std::path::PathBuf {
        self.0.project()
    }

    /// Fails unless every process of the way is gone, or goes soon.
    pub(crate) async fn no_process_is_left(&self) {
        let left = self.0.leftovers(Duration::from_secs(10)).await;
        assert!(left.is_empty(), "still running: {left:?}");
    }
}

/// Runs a way on a thread of its own, so that even one that blocks its runtime is found out.
pub(crate) fn play<F: Future<Output = ()>>(runtime: Runtime, way: impl FnOnce(Stage) -> F + Send + 'static) {
    let stage = Stage(Arc::new(Sandbox::new().unwrap()));
    let (done, finished) = mpsc::channel::<()>();
    let thread = std::thread::spawn({
        let stage = stage.clone();
        move || {
            runtime.block_on(async {
                way(stage.clone()).await;
                stage.no_process_is_left().await;
            });
            drop(runtime);
            drop(done);
        }
    });
    let hangs = matches!(finished.recv_timeout(LIMIT), Err(mpsc::RecvTimeoutError::Timeout));
    assert!(!hangs, "this hangs");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

pub(crate) async fn connected(options: Options) -> Session {
    within(options.connect()).await.unwrap()
}

/// Awaits something that must be there well before any default limit of a minute.
pub(crate) async fn soon<T>(future: impl IntoFuture<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(10), future).await.expect("this takes too long")
}

pub(crate) fn ended<T: std::fmt::Debug>(result: Result<T, Error>) -> std::sync::Arc<pilothouse::Ended> {
    match result {
        Err(Error::Ended(ended)) => ended,
        other => panic!("not the end of the session: {other:?}"),
    }
}

/// Closes and sees that it is quick and that nothing works afterwards.
pub(crate) async fn closed(session: &Session) {
    soon(session.close()).await;
    ended(soon(session.set_color("red")).await);
}
