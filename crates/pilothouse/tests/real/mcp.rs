//! In-process MCP servers: the model's calls end up in our closures, and their results in its next request.

use std::sync::Arc;

use pilothouse::PermissionRequest;
use pilothouse::mcp_server::{InProcessServer, NoInput, Server, ToolContext, image};
use pilothouse_testkit::Turn;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Notify;

use super::stage::{PATIENCE, Stage, ask};

#[derive(Deserialize, JsonSchema)]
struct Pair {
    a: i64,
    b: i64,
}

/// A server with one tool that works and one that does not.
pub(crate) fn calculator() -> InProcessServer {
    Server::new("calc")
        .tool("add", "Adds two numbers", |pair: Pair| async move { pair.a + pair.b })
        .tool("divide", "Divides a by b", |pair: Pair| async move {
            pair.a.checked_div(pair.b).ok_or("nothing can be divided by zero")
        })
        .build()
        .expect("a server")
}

#[tokio::test]
async fn a_call_reaches_the_closure_and_its_result_the_model() {
    // (tool, input, what the model is told, whether that is an error)
    let cases = [
        ("mcp__calc__add", json!({"a": 20, "b": 22}), "42", false),
        ("mcp__calc__divide", json!({"a": 1, "b": 0}), "nothing can be divided by zero", true),
    ];
    for (tool, input, told, is_error) in cases {
        let Some(stage) = Stage::open([Turn::tool(tool, input), Turn::text("done")]) else { return };
        let options = stage.options().mcp(calculator()).allow_tools(["mcp__calc"]);
        let session = stage.connect(options).await.expect("connect");
        assert_eq!(ask(&session, "go").await.text(), "done");
        let result = stage.last_tool_result();
        assert!(result.contains(told), "{tool}: {result}");
        assert_eq!(result.contains(r#""is_error":true"#), is_error, "{tool}: {result}");
        stage.close(session).await;
    }
}

#[tokio::test]
async fn an_image_reaches_the_model_as_an_image() {
    // The smallest PNG there is: one transparent pixel.
    const PIXEL: &[u8] = include_bytes!("pixel.png");
    let Some(stage) = Stage::open([Turn::tool("mcp__camera__shoot", json!({})), Turn::text("nice")]) else {
        return;
    };
    let camera = Server::new("camera")
        .tool("shoot", "Takes a picture", |_: NoInput| async { image(PIXEL, "image/png") })
        .build()
        .expect("a server");
    let options = stage.options().mcp(camera).allow_tools(["mcp__camera"]);
    let session = stage.connect(options).await.expect("connect");
    ask(&session, "go").await;
    let result = stage.last_tool_result();
    assert!(result.contains(r#""type":"image""#) && result.contains("image/png"), "{result}");
    stage.close(session).await;
}

#[tokio::test]
async fn an_interrupt_cancels_the_call() {
    let Some(stage) = Stage::open([Turn::tool("mcp__slow__wait", json!({})), Turn::text("next answer")])
    else {
        return;
    };
    let (called, cancelled) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell_called, tell_cancelled) = (Arc::clone(&called), Arc::clone(&cancelled));
    let slow = Server::new("slow")
        .tool("wait", "Waits until it is cancelled", move |_: NoInput, context: ToolContext| {
            let (called, cancelled) = (Arc::clone(&tell_called), Arc::clone(&tell_cancelled));
            async move {
                called.notify_one();
                context.cancelled().cancelled().await;
                cancelled.notify_one();
                "too late"
            }
        })
        .build()
        .expect("a server");
    let options = stage.options().mcp(slow).allow_tools(["mcp__slow"]);
    let session = stage.connect(options).await.expect("connect");
    let turn = session.send("go").await.expect("sent");
    called.notified().await;
    session.interrupt().await.expect("a receipt");
    tokio::time::timeout(PATIENCE, cancelled.notified()).await.expect("the tool was told");
    assert!(turn.await.expect("a result").failure().is_some());
    assert_eq!(ask(&session, "next").await.text(), "next answer");
    assert!(!stage.api.main_calls()[1].conversation().contains("too late"));
    stage.close(session).await;
}

#[tokio::test]
async fn a_tool_is_asked_about_like_any_other() {
    let script = [Turn::tool("mcp__calc__add", json!({"a": 1, "b": 1})), Turn::text("understood")];
    let Some(stage) = Stage::open(script) else { return };
    let options = stage.options().mcp(calculator()).on_permission(async |request: PermissionRequest| {
        assert_eq!(request.tool_name, "mcp__calc__add");
        request.deny("no sums today");
    });
    let session = stage.connect(options).await.expect("connect");
    ask(&session, "go").await;
    assert!(stage.last_tool_result().contains("no sums today"));
    stage.close(session).await;
}
