//! Control requests: each changes what the next turn does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pilothouse::{PermissionMode, PermissionRequest, Prompt};
use pilothouse_testkit::Turn;
use serde_json::{Map, json};

use super::mcp::calculator;
use super::stage::{Stage, ask, bash};

#[tokio::test]
async fn set_model_is_what_the_api_is_asked_for_next() {
    let Some(stage) = Stage::open([Turn::text("one"), Turn::text("two")]) else { return };
    let session = stage.connect(stage.options()).await.expect("connect");
    ask(&session, "first").await;
    session.set_model("claude-haiku-4-5").await.expect("set_model");
    ask(&session, "second").await;
    let models: Vec<String> = stage.api.main_calls().iter().map(|call| call.model().to_owned()).collect();
    assert!(!models[0].contains("haiku") && models[1].contains("haiku-4-5"), "{models:?}");
    stage.close(session).await;
}

#[tokio::test]
async fn set_permission_mode_decides_who_is_asked() {
    let script = [bash("touch one"), Turn::text("a"), bash("touch two"), Turn::text("b")];
    let Some(stage) = Stage::open(script) else { return };
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let options = stage.options().on_permission(move |request: PermissionRequest| {
        count.fetch_add(1, Ordering::SeqCst);
        async move { request.deny("no") }
    });
    let session = stage.connect(options).await.expect("connect");
    ask(&session, "first").await;
    session.set_permission_mode(PermissionMode::AcceptEdits).await.expect("set_permission_mode");
    ask(&session, "second").await;
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert!(!stage.has("one") && stage.has("two"));
    let refused = session.set_permission_mode(PermissionMode::BypassPermissions).await;
    assert!(refused.is_err(), "not launched for that: {refused:?}");
    stage.close(session).await;
}

#[tokio::test]
async fn mcp_servers_come_and_go_while_the_session_lives() {
    let script =
        [Turn::text("none"), Turn::tool("mcp__calc__add", json!({"a": 2, "b": 3})), Turn::text("five")];
    let Some(stage) = Stage::open(script) else { return };
    let session = stage.connect(stage.options().allow_tools(["mcp__calc"])).await.expect("connect");
    ask(&session, "first").await;
    assert!(!stage.api.main_calls()[0].conversation().contains("mcp__calc__add"));
    session.set_mcp_servers(BTreeMap::new(), [calculator()]).await.expect("mcp_set_servers");
    ask(&session, "add").await;
    assert!(stage.last_tool_result().contains('5'), "{}", stage.last_tool_result());
    let status = session.mcp_status().await.expect("mcp_status");
    let [server] = status.as_slice() else { panic!("one server, not {status:?}") };
    assert_eq!((server.name.as_str(), server.status.as_str()), ("calc", "connected"));
    session.set_mcp_servers(BTreeMap::new(), []).await.expect("mcp_set_servers");
    let status = session.mcp_status().await.expect("mcp_status");
    assert!(status.is_empty(), "{status:?}");
    stage.close(session).await;
}

#[tokio::test]
async fn rewind_files_puts_everything_back() {
    let Some(stage) = Stage::open([]) else { return };
    let changed = stage.sandbox.write("a.txt", "original\n").expect("write");
    let created = stage.sandbox.project().join("new.txt");
    for turn in [
        Turn::tool("Read", json!({"file_path": changed})),
        Turn::tool("Write", json!({"file_path": changed, "content": "changed\n"})),
        Turn::tool("Write", json!({"file_path": created, "content": "new\n"})),
        Turn::text("done"),
    ] {
        stage.api.push(turn);
    }
    let options = stage.options().permission_mode(PermissionMode::AcceptEdits).file_checkpointing();
    let session = stage.connect(options).await.expect("connect");
    let prompt = Prompt::new("go");
    let message = prompt.uuid().to_owned();
    ask(&session, prompt).await;
    assert_eq!(stage.sandbox.read("a.txt").as_deref(), Some("changed\n"));
    assert!(stage.has("new.txt"));

    let preview = session.preview_rewind(&message).await.expect("dry run");
    assert_eq!(preview.files_changed.as_ref().map(Vec::len), Some(2), "{preview:?}");
    assert!(stage.has("new.txt"), "a dry run changes nothing");
    session.rewind_files(&message).await.expect("rewind");
    assert_eq!(stage.sandbox.read("a.txt").as_deref(), Some("original\n"));
    assert!(!stage.has("new.txt"));
    stage.close(session).await;
}

#[tokio::test]
async fn an_unknown_request_is_an_error_and_the_session_goes_on() {
    let Some(stage) = Stage::open([Turn::text("still here")]) else { return };
    let session = stage.connect(stage.options()).await.expect("connect");
    let refused = session.request_raw("make_coffee", Map::new()).await;
    assert!(refused.expect_err("no such request").to_string().contains("make_coffee"));
    assert_eq!(ask(&session, "go").await.text(), "still here");
    stage.close(session).await;
}
