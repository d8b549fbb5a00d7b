//! Handlers of the user that panic, never return, or use the session that called them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pilothouse::mcp_server::{NoInput, Server};
use pilothouse::session_store::{Entry, SessionKey, SessionStore, StoreFuture};
use pilothouse::tape::{Direction, Tap};
use pilothouse::{
    DialogRequest, ElicitationRequest, Error, HookCall, HookEvent, Matcher, Options, PermissionRequest,
    Session,
};
use serde_json::{Value, json};

use super::stage::{Stage, closed, connected, soon};
use super::ways;
use crate::harness::seen_by_cli;

ways!(
    on_stderr_panics_on_every_line,
    on_stderr_panics_and_the_exit_is_still_known,
    a_tap_panics_on_every_line,
    a_permission_handler_panics_at_once,
    a_permission_handler_panics_later,
    a_hook_panics_at_once,
    a_hook_panics_later,
    an_elicitation_handler_panics,
    a_dialog_handler_panics,
    a_tool_panics_at_once,
    a_tool_panics_later,
    a_tool_s_input_panics_when_it_is_read,
    a_session_store_panics_while_it_is_filled,
    a_session_store_panics_before_it_returns_a_future,
    a_session_store_panics_while_a_session_is_loaded,
    a_handler_panics_when_it_is_dropped,
    a_handler_never_returns,
    a_hook_never_returns_and_is_answered_for,
    a_tool_never_returns,
    a_handler_asks_the_cli_itself,
    a_handler_closes_its_session,
    a_handler_sends_the_next_message,
    a_handler_panics_a_hundred_times,
);

/// Runs a session through one prompt and closes it; what the CLI saw comes back.
async fn told(options: Options) -> Value {
    let session = connected(options).await;
    let result = soon(soon(session.send("go")).await.unwrap()).await.unwrap();
    closed(&session).await;
    seen_by_cli(&result)["response"].clone()
}

async fn text_of(options: Options) -> String {
    let session = connected(options).await;
    let result = soon(soon(session.send("go")).await.unwrap()).await.unwrap();
    closed(&session).await;
    result.text().to_owned()
}

async fn later() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

async fn on_stderr_panics_on_every_line(stage: Stage) {
    let body = "hello; echo one >&2; read -r line; echo two >&2; sleep 0.1; echo three >&2; result done; read -r line";
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let options = stage.script(body).on_stderr(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        panic!("on purpose");
    });
    let session = connected(options).await;
    assert_eq!(soon(soon(session.send("go")).await.unwrap()).await.unwrap().text(), "done");
    closed(&session).await;
    assert_eq!(count.load(Ordering::SeqCst), 3);
}

async fn on_stderr_panics_and_the_exit_is_still_known(stage: Stage) {
    let options = stage.script("hello; echo one >&2; read -r line; echo two >&2; exit 6");
    let options = options.on_stderr(|_| panic!("on purpose"));
    for _ in 0..10 {
        let session = connected(options.clone()).await;
        later().await;
        assert!(session.try_ended().is_none(), "it runs on");
        session.end_input();
        assert_eq!(soon(session.ended()).await.exit.and_then(|exit| exit.code()), Some(6));
    }
}

struct PanickingTap;

impl Tap for PanickingTap {
    fn line(&self, _: Direction, _: &[u8]) {
        panic!("on purpose");
    }
}

async fn a_tap_panics_on_every_line(stage: Stage) {
    assert_eq!(text_of(stage.faulty("plain").tap(Arc::new(PanickingTap))).await, "hello");
}

async fn a_permission_handler_panics_at_once(stage: Stage) {
    let options =
        stage.faulty("permission").on_permission(|_: PermissionRequest| async { panic!("on purpose") });
    assert_eq!(told(options).await["behavior"], "deny");
}

async fn a_permission_handler_panics_later(stage: Stage) {
    let options = stage.faulty("permission").on_permission(|request: PermissionRequest| async move {
        later().await;
        assert_eq!(request.tool_name, "another", "on purpose");
    });
    assert_eq!(told(options).await["behavior"], "deny");
}

fn refused(output: &Value) -> bool {
    output["hookSpecificOutput"]["permissionDecision"] == "deny"
}

async fn a_hook_panics_at_once(stage: Stage) {
    let hook = |_: HookCall| async { panic!("on purpose") };
    let seen = told(stage.faulty("hook").hook(HookEvent::PreToolUse, Matcher::all(), hook)).await;
    assert!(refused(&seen), "{seen}");
}

async fn a_hook_panics_later(stage: Stage) {
    let hook = |_: HookCall| async {
        later().await;
        panic!("on purpose")
    };
    let seen = told(stage.faulty("hook").hook(HookEvent::PreToolUse, Matcher::all(), hook)).await;
    assert!(refused(&seen), "{seen}");
}

async fn an_elicitation_handler_panics(stage: Stage) {
    let options =
        stage.faulty("elicitation").on_elicitation(|_: ElicitationRequest| async { panic!("on purpose") });
    assert_eq!(told(options).await["action"], "decline");
}

async fn a_dialog_handler_panics(stage: Stage) {
    let options = stage.faulty("dialog").on_dialog("pick", |_: DialogRequest| async { panic!("on purpose") });
    assert_eq!(told(options).await["behavior"], "cancelled");
}

fn panics() -> u32 {
    panic!("on purpose")
}

async fn a_tool_panics_at_once(stage: Stage) {
    let server = Server::new("s").tool("t", "t", |_: NoInput| async { panics() }).build().unwrap();
    let text = text_of(stage.faulty("tour").mcp(server)).await;
    assert!(text.contains("panicked: on purpose"), "{text}");
}

async fn a_tool_panics_later(stage: Stage) {
    let tool = |_: NoInput| async {
        later().await;
        panics()
    };
    let server = Server::new("s").tool("t", "t", tool).build().unwrap();
    let text = text_of(stage.faulty("tour").mcp(server)).await;
    assert!(text.contains("panicked: on purpose"), "{text}");
}

/// Reads like any input, and panics.
#[derive(schemars::JsonSchema)]
struct Broken {}

impl<'de> serde::Deserialize<'de> for Broken {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("on purpose")
    }
}

async fn a_tool_s_input_panics_when_it_is_read(stage: Stage) {
    let server = Server::new("s").tool("t", "t", |_: Broken| async { 1 }).build().unwrap();
    let text = text_of(stage.faulty("tour").mcp(server)).await;
    assert!(text.contains("panicked: on purpose"), "{text}");
}

/// Panics wherever it is told to.
#[derive(Clone, Copy)]
enum PanickingStore {
    InAppend,
    BeforeAppend,
    InLoad,
}

impl SessionStore for PanickingStore {
    fn append<'a>(&'a self, _: &'a SessionKey, _: &'a [Entry]) -> StoreFuture<'a, ()> {
        assert!(!matches!(self, Self::BeforeAppend), "on purpose");
        Box::pin(async {
            later().await;
            panic!("on purpose")
        })
    }

    fn load<'a>(&'a self, _: &'a SessionKey) -> StoreFuture<'a, Option<Vec<Entry>>> {
        assert!(!matches!(self, Self::InLoad), "on purpose");
        Box::pin(async { Ok(None) })
    }
}

/// A CLI that says what it has written, and runs in the folder that it names.
fn mirroring(stage: &Stage, store: PanickingStore) -> Options {
    let config = stage.project().join("config");
    let path = config.join("projects/p/00000000-0000-4000-8000-00000000000a.jsonl");
    let mirror =
        json!({"type": "transcript_mirror", "filePath": path, "entries": [{"type": "user", "uuid": "e"}]});
    let body = format!("hello; read -r line; echo '{mirror}'; result done; read -r line");
    let config = config.to_string_lossy().into_owned();
    stage.script(&body).env("CLAUDE_CONFIG_DIR", config).session_store(Arc::new(store))
}

async fn a_session_store_panics_while_it_is_filled(stage: Stage) {
    assert_eq!(text_of(mirroring(&stage, PanickingStore::InAppend)).await, "done");
}

async fn a_session_store_panics_before_it_returns_a_future(stage: Stage) {
    assert_eq!(text_of(mirroring(&stage, PanickingStore::BeforeAppend)).await, "done");
}

async fn a_session_store_panics_while_a_session_is_loaded(stage: Stage) {
    let options = mirroring(&stage, PanickingStore::InLoad).resume("00000000-0000-4000-8000-00000000000a");
    let error = soon(options.connect()).await.unwrap_err();
    assert!(matches!(&error, Error::SessionStore(text) if text.contains("on purpose")), "{error}");
}

/// Panics when it is dropped, unless that would abort.
struct PanickingDrop;

impl Drop for PanickingDrop {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "on purpose");
    }
}

async fn a_handler_panics_when_it_is_dropped(stage: Stage) {
    let value = PanickingDrop;
    let options = stage.faulty("permission").on_permission(move |request: PermissionRequest| {
        let _value = &value;
        async move { request.allow() }
    });
    let session = connected(options).await;
    soon(soon(session.send("go")).await.unwrap()).await.unwrap();
    let report = soon(session.close()).await.report.unwrap();
    assert_eq!(report.exit.and_then(|exit| exit.code()), Some(0));
}

async fn a_handler_never_returns(stage: Stage) {
    let options = stage.faulty("permission").on_permission(|request: PermissionRequest| async move {
        let _request = request;
        std::future::pending::<()>().await;
    });
    let session = connected(options).await;
    let mut turn = soon(session.send("go")).await.unwrap();
    soon(turn.next()).await.unwrap().unwrap();
    soon(session.set_color("red")).await.unwrap();
    closed(&session).await;
}

async fn a_hook_never_returns_and_is_answered_for(stage: Stage) {
    let hook = |_: HookCall| std::future::pending();
    let matcher = Matcher::all().timeout(Duration::from_millis(300));
    let seen = told(stage.faulty("hook").hook(HookEvent::PreToolUse, matcher, hook)).await;
    assert!(refused(&seen), "{seen}");
}

async fn a_tool_never_returns(stage: Stage) {
    let server = Server::new("s").tool("t", "t", |_: NoInput| std::future::pending::<u32>()).build().unwrap();
    let session = connected(stage.faulty("tour").mcp(server)).await;
    let mut turn = soon(session.send("go")).await.unwrap();
    soon(turn.next()).await.unwrap().unwrap();
    soon(session.set_color("red")).await.unwrap();
    closed(&session).await;
}

/// Options whose permission handler gets the session that calls it.
fn with_session<F: Future<Output = ()> + Send>(
    options: Options,
    act: impl Fn(Session, PermissionRequest) -> F + Copy + Send + Sync + 'static,
) -> (Options, Arc<OnceLock<Session>>) {
    let own = Arc::new(OnceLock::<Session>::new());
    let session = Arc::clone(&own);
    let options = options.on_permission(move |request: PermissionRequest| {
        let session = session.get().unwrap().clone();
        async move { act(session, request).await }
    });
    (options, own)
}

async fn a_handler_asks_the_cli_itself(stage: Stage) {
    let (options, own) = with_session(stage.faulty("permission"), |session, request| async move {
        for _ in 0..200 {
            session.set_color("red").await.unwrap();
        }
        request.allow();
    });
    let session = connected(options).await;
    own.set(session.clone()).unwrap();
    let result = soon(soon(session.send("go")).await.unwrap()).await.unwrap();
    assert_eq!(seen_by_cli(&result)["response"]["behavior"], "allow");
    closed(&session).await;
}

async fn a_handler_closes_its_session(stage: Stage) {
    let (options, own) = with_session(stage.faulty("permission"), |session, request| async move {
        session.close().await;
        request.allow();
    });
    let session = connected(options).await;
    own.set(session.clone()).unwrap();
    let turn = soon(session.send("go")).await.unwrap();
    assert!(soon(turn).await.is_err());
    closed(&session).await;
}

async fn a_handler_sends_the_next_message(stage: Stage) {
    let (options, own) = with_session(stage.faulty("permission"), |session, request| async move {
        drop(session.send("more").await.unwrap());
        request.allow();
    });
    let session = connected(options).await;
    own.set(session.clone()).unwrap();
    soon(soon(session.send("go")).await.unwrap()).await.unwrap();
    closed(&session).await;
}

async fn a_handler_panics_a_hundred_times(stage: Stage) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let options = stage.faulty("many_permissions").env("FAULTY_SIZE", "100").on_permission(
        move |_: PermissionRequest| {
            let n = counter.fetch_add(1, Ordering::SeqCst);
            async move {
                if n.is_multiple_of(2) {
                    later().await;
                }
                panic!("on purpose");
            }
        },
    );
    let session = connected(options).await;
    assert_eq!(soon(soon(session.send("go")).await.unwrap()).await.unwrap().text(), "0 right answers");
    assert_eq!(count.load(Ordering::SeqCst), 100);
    closed(&session).await;
}
