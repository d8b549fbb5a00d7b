//! Turns: what is sent, what comes back, and what stops it.

use std::sync::Arc;
use std::time::Duration;

use pilothouse::proto::{AgentFrame, ContentBlock, ResultSubtype};
use pilothouse::{
    Error, Event, McpRegistration, PartialMessage, PermissionRequest, Session, TurnError, query,
};
use pilothouse_testkit::{Block, Turn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Notify;

use super::mcp::calculator;
use super::stage::{PATIENCE, Stage, TURN_LIMIT, ask, bash};

#[tokio::test]
async fn a_plain_turn_reaches_the_api_and_comes_back() {
    let Some(stage) = Stage::open([Turn::text("hello back")]) else { return };
    let session = stage.connect(stage.options()).await.expect("connect");
    let result = ask(&session, "hello there").await;
    assert_eq!(result.text(), "hello back");
    assert!(result.failure().is_none());
    let calls = stage.api.main_calls();
    assert_eq!(calls.len(), 1);
    assert!(calls[0].last_user().contains("hello there"));
    stage.close(session).await;
}

/// A query does not wait for the answer to `initialize`, so all that it says must hold for a message right behind it.
#[tokio::test]
async fn a_query_is_answered_with_what_initialize_said() {
    let answer = json!({"city": "Bergen", "degrees": 7, "sky": null, "hours": []});
    let script = [
        Turn::tool("mcp__calc__add", json!({"a": 20, "b": 22})),
        Turn::tool("StructuredOutput", answer),
        Turn::text("after"),
    ];
    let Some(stage) = Stage::open(script) else { return };
    let options = stage
        .options()
        .system_prompt("You speak of nothing but the weather.")
        .mcp(calculator())
        .mcp_registration(McpRegistration::Initialize)
        .structured::<Weather>()
        .on_permission(async |request: PermissionRequest| request.allow());
    let result = tokio::time::timeout(TURN_LIMIT, query("weather", options)).await;
    let result = result.expect("in time").expect("a result");
    assert_eq!(result.structured::<Weather>().expect("structured output").city, "Bergen");
    let calls = stage.api.main_calls();
    assert!(calls[0].body["system"].to_string().contains("You speak of nothing but the weather."));
    assert!(calls[0].tools().contains(&"StructuredOutput"), "{:?}", calls[0].tools());
    assert!(calls[1].conversation().contains("42"), "{}", calls[1].conversation());
    stage.nothing_left().await;
}

#[tokio::test]
async fn several_turns_share_one_history() {
    let Some(stage) = Stage::open([Turn::text("first answer"), Turn::text("second answer")]) else { return };
    let session = stage.connect(stage.options()).await.expect("connect");
    let first = ask(&session, "first question").await;
    let second = ask(&session, "second question").await;
    assert_eq!(second.text(), "second answer");
    assert_eq!(first.session_id, second.session_id);
    let conversation = stage.api.main_calls()[1].conversation();
    for said in ["first question", "first answer", "second question"] {
        assert!(conversation.contains(said), "{said} is missing in {conversation}");
    }
    stage.close(session).await;
}

#[tokio::test]
async fn partial_messages_add_up_to_the_text() {
    let text = "one two three four five six";
    let script = [Turn::text(text).chunked(6, Duration::from_millis(20))];
    let Some(stage) = Stage::open(script) else { return };
    let session = stage.connect(stage.options().include_partial_messages()).await.expect("connect");
    let mut turn = session.send("count").await.expect("sent");
    let (mut pieces, mut partial) = (0, PartialMessage::default());
    while let Some(event) = turn.next().await {
        let event = event.expect("an event");
        if let Event::Frame { frame, .. } = &event {
            let before = partial.text().len();
            partial.push(frame);
            pieces += usize::from(partial.text().len() > before);
        }
    }
    assert_eq!(partial.text(), text);
    assert!(partial.is_complete());
    assert!(pieces >= 3, "{pieces} pieces");
    stage.close(session).await;
}

#[tokio::test]
async fn thinking_is_told_apart_from_text() {
    let script = [Turn::blocks([Block::Thinking("let me see".into()), Block::Text("42".into())])];
    let Some(stage) = Stage::open(script) else { return };
    let session = stage.connect(stage.options()).await.expect("connect");
    let mut turn = session.send("think").await.expect("sent");
    let mut thought = String::new();
    while let Some(event) = turn.next().await {
        let event = event.expect("an event");
        let Event::Frame { frame: AgentFrame::Assistant(message), .. } = &event else { continue };
        for block in &message.message.content {
            if let ContentBlock::Thinking(block) = block {
                thought.push_str(&block.thinking);
            }
        }
    }
    let result = turn.await.expect("a result");
    assert_eq!((thought.as_str(), result.text()), ("let me see", "42"));
    stage.close(session).await;
}

#[tokio::test]
async fn messages_sent_during_a_turn_become_one_next_turn() {
    let gate = Arc::new(Notify::new());
    let script = [Turn::text("one").held_by(&gate), Turn::text("two and three")];
    let Some(stage) = Stage::open(script) else { return };
    let session = stage.connect(stage.options()).await.expect("connect");
    let first = session.send("message one").await.expect("sent");
    stage.api.wait_for_main_calls(1, PATIENCE).await.expect("the first call");
    let second = session.send("message two").await.expect("sent");
    let third = session.send("message three").await.expect("sent");
    // Whoever has answered this has read what was sent before it.
    session.mcp_status().await.expect("mcp_status");
    gate.notify_one();
    let (first, second, third) = tokio::join!(first, second, third);
    assert_eq!(first.expect("a result").text(), "one");
    assert_eq!(second.expect("a result").text(), "two and three");
    assert_eq!(third.expect("a result").text(), "two and three");
    let calls = stage.api.main_calls();
    assert_eq!(calls.len(), 2, "the second and third message share a call");
    assert!(
        calls[1].conversation().contains("message two") && calls[1].conversation().contains("message three")
    );
    stage.close(session).await;
}

#[tokio::test]
async fn a_message_sent_during_a_tool_joins_the_running_turn() {
    let wait = bash("touch started; until [ -e seen ]; do sleep 0.05; done; echo slept");
    let Some(stage) = Stage::open([wait, Turn::text("saw both")]) else { return };
    let session = stage.connect(stage.options().allow_tools(["Bash"])).await.expect("connect");
    let first = session.send("go").await.expect("sent");
    stage.until("the command runs", |stage| stage.has("started")).await;
    let second = session.send("a late remark").await.expect("sent");
    session.mcp_status().await.expect("mcp_status");
    stage.sandbox.write("seen", "").expect("written");
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.expect("a result").text(), "saw both");
    assert_eq!(second.expect("a result").text(), "saw both");
    let calls = stage.api.main_calls();
    assert_eq!(calls.len(), 2);
    assert!(calls[1].conversation().contains("a late remark"));
    stage.close(session).await;
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Weather {
    city: String,
    degrees: i32,
    sky: Option<Sky>,
    hours: Vec<(u8, Sky)>,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
enum Sky {
    Clear,
    Cloudy { octas: u8 },
}

#[tokio::test]
async fn structured_output_is_decoded_into_the_callers_type() {
    let cloudy = json!({"Cloudy": {"octas": 8}});
    let answer = json!({"city": "Bergen", "degrees": 7, "sky": cloudy, "hours": [[9, "Clear"]]});
    let script = [Turn::tool("StructuredOutput", answer), Turn::text("after")];
    let Some(stage) = Stage::open(script) else { return };
    let session = stage.connect(stage.options().structured::<Weather>()).await.expect("connect");
    let result = ask(&session, "weather").await;
    let weather: Weather = result.structured().expect("structured output");
    let sky = Some(Sky::Cloudy { octas: 8 });
    assert_eq!(weather, Weather { city: "Bergen".into(), degrees: 7, sky, hours: vec![(9, Sky::Clear)] });
    assert!(stage.api.main_calls()[0].tools().contains(&"StructuredOutput"));
    stage.close(session).await;
}

#[tokio::test]
async fn max_turns_ends_the_turn_and_not_the_session() {
    let script = [bash("touch ran"), Turn::text("never asked for"), Turn::text("again")];
    let Some(stage) = Stage::open(script) else { return };
    let options = stage.options().allow_tools(["Bash(touch:*)"]).max_turns(1);
    let session = stage.connect(options).await.expect("connect");
    let failed = failure(&session, "go").await;
    assert!(failed.to_string().contains("`Options::max_turns`"), "{failed}");
    assert_eq!(*failed.subtype(), ResultSubtype::ErrorMaxTurns);
    assert!(failed.cost_usd() > 0.0 && failed.session_id() == failed.result().session_id.as_str());
    assert!(stage.has("ran"), "the tool of the one turn ran");
    assert_eq!(stage.api.main_calls().len(), 1, "no second call was made");
    stage.close(session).await;
}

#[tokio::test]
async fn a_turn_without_a_login_is_an_error_that_says_what_to_do() {
    let Some(stage) = Stage::open([]) else { return };
    let session = stage.connect(stage.options().env_remove("ANTHROPIC_API_KEY")).await.expect("connect");
    let failed = failure(&session, "go").await;
    assert!(failed.needs_login() && failed.text().starts_with("Not logged in"), "{failed}");
    assert!(
        failed.to_string().starts_with("the CLI is not logged in: run `claude` and use /login"),
        "{failed}"
    );
    assert_eq!(*failed.subtype(), ResultSubtype::Success, "as on the wire");
    stage.close(session).await;
}

/// Sends a message and gives the error of its turn.
async fn failure(session: &Session, prompt: &str) -> TurnError {
    let turn = session.send(prompt).await.expect("sent");
    match tokio::time::timeout(TURN_LIMIT, turn).await.expect("in time") {
        Err(Error::Turn(failed)) => (*failed).clone(),
        other => panic!("the turn did not fail: {other:?}"),
    }
}

#[tokio::test]
async fn the_budget_stops_the_next_call() {
    let script = [bash("echo 1").usage(100_000, 5_000), Turn::text("never asked for")];
    let Some(stage) = Stage::open(script) else { return };
    let session = stage.connect(stage.options().max_budget_usd(0.001)).await.expect("connect");
    let failed = failure(&session, "go").await;
    assert!(failed.to_string().contains("`Options::max_budget_usd`"), "{failed}");
    assert_eq!(*failed.subtype(), ResultSubtype::ErrorMaxBudgetUsd);
    assert!(failed.cost_usd() > 0.001 && session.usage().cost_usd > 0.001);
    assert_eq!(stage.api.main_calls().len(), 1);
    stage.close(session).await;
}

#[tokio::test]
async fn an_api_failure_that_passes_is_retried() {
    // (name, what fails first)
    let cases = [
        ("overloaded", Turn::error(529)),
        ("rate limit", Turn::error(429).retry_after(1)),
        ("dropped connection", Turn::dropped()),
        ("error event", Turn::text("half an ans").breaking_off("overloaded_error")),
    ];
    for (name, failure) in cases {
        let Some(stage) = Stage::open([failure, Turn::text("in the end")]) else { return };
        let session = stage.connect(stage.options()).await.expect("connect");
        let result = ask(&session, "go").await;
        assert_eq!(result.text(), "in the end", "{name}");
        assert_eq!(stage.api.main_calls().len(), 2, "{name}");
        stage.close(session).await;
    }
}

#[tokio::test]
async fn an_api_failure_that_stays_is_an_error_result() {
    // (status, what the message says)
    for (status, said) in [(403, "403"), (413, "too large"), (500, "500")] {
        let Some(stage) = Stage::open([Turn::error(status).times(20)]) else { return };
        let options = stage.options().env("CLAUDE_CODE_MAX_RETRIES", "1");
        let session = stage.connect(options).await.expect("connect");
        let result = ask(&session, "go").await;
        assert!(result.failure().is_some(), "{status}");
        assert!(result.text().contains(said), "{status}: {}", result.text());
        stage.close(session).await;
    }
}
