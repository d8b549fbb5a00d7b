//! Work beside the conversation, and the end of the process under it.

use pilothouse::{Event, PermissionRequest, Subagent, query};
use pilothouse_testkit::{Block, Turn};
use serde_json::json;

use super::stage::{PATIENCE, Stage, ask};

#[tokio::test]
async fn a_subagents_messages_name_the_call_that_started_it() {
    let job = json!({
        "description": "sub job", "prompt": "SUBPROMPT do it", "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    let aloud = Block::Text("thinking aloud".into());
    let tool = Block::Tool { name: "Bash".into(), input: json!({"command": "touch by_subagent"}) };
    let script = [
        Turn::tool("Agent", job),
        Turn::blocks([aloud, tool]).when("SUBPROMPT"),
        Turn::text("sub result"),
        Turn::text("main done"),
    ];
    let Some(stage) = Stage::open(script) else { return };
    let options =
        stage.options().forward_subagent_text().on_permission(async |request: PermissionRequest| {
            assert!(request.agent_id.is_some(), "the approval names the subagent");
            request.allow();
        });
    let session = stage.connect(options).await.expect("connect");
    let mut turn = session.send("go").await.expect("sent");
    let mut from_subagent = 0;
    while let Some(event) = turn.next().await {
        let event = event.expect("an event");
        if let Event::Frame { frame, .. } = &event {
            from_subagent += usize::from(Subagent::of(frame).is_some());
        }
    }
    let result = turn.await.expect("a result");
    assert_eq!(result.text(), "main done");
    assert!(from_subagent >= 2, "{from_subagent} messages of the subagent");
    assert!(stage.has("by_subagent"));
    assert!(stage.last_tool_result().contains("sub result"));
    stage.close(session).await;
}

#[tokio::test]
async fn a_background_task_starts_a_turn_of_its_own() {
    let command = json!({"command": "sleep 1; touch finished", "run_in_background": true});
    let script = [Turn::tool("Bash", command), Turn::text("started"), Turn::text("saw it finish")];
    let Some(stage) = Stage::open(script) else { return };
    let session = stage.connect(stage.options().allow_tools(["Bash"])).await.expect("connect");
    let mut turns = session.own_turns();
    let result = ask(&session, "go").await;
    assert_eq!(result.text(), "started");
    let own = tokio::time::timeout(PATIENCE, turns.next()).await.expect("in time").expect("a turn");
    assert_eq!(own.await.expect("a result").text(), "saw it finish");
    assert!(stage.has("finished"));
    stage.close(session).await;
}

/// As the documentation of `query` says.
#[tokio::test]
async fn an_awaited_query_ends_the_work_in_the_background() {
    let command = json!({"command": "touch begun; sleep 30; touch finished", "run_in_background": true});
    let script = [Turn::tool("Bash", command), Turn::text("started")];
    let Some(stage) = Stage::open_process(script) else { return };
    let result = query("go", stage.options().allow_tools(["Bash"])).await.expect("a result");
    assert_eq!(result.text(), "started");
    assert!(!stage.runs("sleep 30"), "the command outlived the query");
    assert!(!stage.has("finished"));
    stage.nothing_left().await;
}

#[tokio::test]
async fn a_killed_cli_fails_the_turn_at_once_and_everything_after() {
    let Some(stage) = Stage::open_process([Turn::text("endless").hanging()]) else { return };
    let session = stage.connect(stage.options()).await.expect("connect");
    let turn = session.send("go").await.expect("sent");
    stage.api.wait_for_main_calls(1, PATIENCE).await.expect("the call");
    stage.kill_cli();
    let ended = tokio::time::timeout(PATIENCE, turn).await.expect("in time");
    let error = ended.expect_err("the CLI is gone").to_string();
    assert!(
        error.contains("SIGKILL") || error.contains("signal: 9") || error.contains("signal 9"),
        "{error}"
    );
    let later = session.send("next").await.expect_err("a dead session").to_string();
    assert_eq!(later, error, "the stored cause");
    assert!(session.interrupt().await.is_err());
    stage.close(session).await;
}
