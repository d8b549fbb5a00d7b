//! In-process MCP servers: the model's calls end up in our closures, and their results in its next request.

use std::sync::Arc;

use pilothouse::mcp_server::{InProcessServer, NoInput, Server, ToolContext, image};
use pilothouse::proto::McpServerConfig;
use pilothouse::{Error, McpModeOverride, PermissionMode, PermissionRequest, SettingSource, Settings};
use pilothouse_testkit::Turn;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Notify;

use super::stage::{PATIENCE, Stage, ask, object};

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
    assert!(turn.await.expect_err("an interrupt").was_stopped());
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

/// A server that the CLI would start; this one does not work, which is enough to be listed.
fn external() -> McpServerConfig {
    serde_json::from_value(json!({"command": "/bin/false", "env": {"TOKEN": "t"}})).expect("a server")
}

/// Whether a CLI is too old for what came with 2.1.326. Our agent is not, whatever it says of itself.
async fn is_older(stage: &Stage) -> bool {
    let session = stage.connect(stage.options()).await.expect("connect");
    let version = session.handshake().claude_code_version.as_deref().unwrap_or_default().to_owned();
    session.close().await;
    let mut numbers = version.split('.').filter_map(|part| part.parse::<u64>().ok());
    (numbers.next(), numbers.next(), numbers.next()) < (Some(2), Some(1), Some(326))
}

#[tokio::test]
async fn servers_go_through_initialize_and_stay_off_the_command_line() {
    let Some(stage) = Stage::open([]) else { return };
    let options = stage.options().mcp_server("ext", external()).mcp_servers_in_initialize();
    let argv = format!("{:?}", options.to_argv().expect("arguments"));
    assert!(argv.contains("--await-initialize") && !argv.contains("TOKEN") && !argv.contains("--mcp-config"));
    match stage.connect(options).await {
        Ok(session) => {
            assert_eq!(session.handshake().mcp_servers_applied.as_ref(), Some(&true));
            let servers = session.mcp_status().await.expect("the servers");
            assert!(servers.iter().any(|server| server.name == "ext"), "{servers:?}");
            stage.close(session).await;
        }
        Err(Error::McpServersIgnored) => assert!(is_older(&stage).await, "the servers were not taken"),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn an_override_asks_about_one_server_where_the_mode_would_not() {
    let call = || Turn::tool("mcp__calc__add", json!({"a": 2, "b": 3}));
    let script = [call(), Turn::text("asked"), call(), Turn::text("not asked")];
    let Some(stage) = Stage::open(script) else { return };
    let options = stage
        .options()
        .mcp(calculator())
        .permission_mode(PermissionMode::BypassPermissions)
        .allow_dangerously_skip_permissions()
        .on_permission(async |request: PermissionRequest| request.deny("not today"));
    let session = stage.connect(options).await.expect("connect");
    let held = session.set_mcp_permission_mode_override("calc", Some(McpModeOverride::Default)).await;
    if let Err(Error::Refused { .. }) = &held {
        assert!(is_older(&stage).await, "{held:?}");
        return stage.close(session).await;
    }
    assert_eq!(held.expect("an answer").warning.into_option(), None);
    let unknown = session.set_mcp_permission_mode_override("nobody", Some(McpModeOverride::Auto)).await;
    assert!(unknown.expect("an answer").warning.is_some());
    assert_eq!(ask(&session, "go").await.text(), "asked");
    assert!(stage.last_tool_result().contains("not today"));
    session.set_mcp_permission_mode_override("calc", None).await.expect("an answer");
    assert_eq!(ask(&session, "again").await.text(), "not asked");
    assert!(stage.last_tool_result().contains('5'));
    let laxer = McpModeOverride::from("bypassPermissions");
    assert!(session.set_mcp_permission_mode_override("calc", Some(laxer)).await.is_err());
    stage.close(session).await;
}

#[tokio::test]
async fn rules_settings_and_servers_that_are_too_long_for_an_argument_arrive() {
    let Some(stage) = Stage::open_process([]) else { return };
    let server = json!({"command": "/bin/false", "args": vec!["x".repeat(1000); 200]});
    let denied: Vec<String> = (0..10_000).map(|n| format!("Bash(denied-{n} *)")).collect();
    let settings = json!({"permissions": {"deny": denied}});
    let options = stage
        .options()
        .setting_sources([] as [SettingSource; 0])
        .allow_tools((0..20_000).map(|n| format!("Bash(tool-{n} *)")))
        .settings(Settings::Inline(object(settings)))
        .mcp_server("ext", serde_json::from_value(server).expect("a server"));
    let session = stage.connect(options).await.expect("connect");
    let rules = session.permission_rules().await.expect("the rules").rules;
    let has = |text: &str| rules.iter().any(|rule| rule.rule == text);
    let arrived = has("Bash(tool-0 *)") && has("Bash(tool-19999 *)") && has("Bash(denied-9999 *)");
    assert!(arrived, "{} rules", rules.len());
    let servers = session.mcp_status().await.expect("the servers");
    assert!(servers.iter().any(|server| server.name == "ext"), "{servers:?}");
    stage.close(session).await;
}
