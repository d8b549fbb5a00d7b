//! Interrupts: whatever runs ends, the receipt comes at once, and the next turn works.

use std::sync::Arc;

use pilothouse::proto::TerminalReason;
use pilothouse::{
    CancellationToken, Error, Event, HookCall, HookEvent, Matcher, PartialMessage, PermissionRequest,
    Priority, Prompt, TurnError,
};
use pilothouse_testkit::Turn;
use tokio::sync::Notify;

use super::stage::{PATIENCE, Stage, ask, bash};

#[tokio::test]
async fn in_a_stream() {
    let endless = Turn::text("word ".repeat(40)).hanging();
    let Some(stage) = Stage::open([endless, Turn::text("next answer")]) else { return };
    let session = stage.connect(stage.options().include_partial_messages()).await.expect("connect");
    let mut turn = session.send("go").await.expect("sent");
    let mut partial = PartialMessage::default();
    let mut interrupted = false;
    while let Some(event) = turn.next().await {
        let event = event.expect("an event");
        if let Event::Frame { frame, .. } = &event {
            partial.push(frame);
        }
        if !interrupted && partial.text().contains("word") {
            session.interrupt().await.expect("a receipt");
            interrupted = true;
        }
    }
    let result = turn.result().await.expect("a result");
    assert_eq!(result.terminal_reason.as_ref(), Some(&TerminalReason::AbortedStreaming));
    assert_eq!(ask(&session, "next").await.text(), "next answer");
    stage.close(session).await;
}

#[tokio::test]
async fn in_an_approval() {
    let Some(stage) = Stage::open([bash("touch made"), Turn::text("next answer")]) else { return };
    let (asked, withdrawn) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell_asked, tell_withdrawn) = (Arc::clone(&asked), Arc::clone(&withdrawn));
    let options = stage.options().on_permission(move |request: PermissionRequest| {
        let (asked, withdrawn) = (Arc::clone(&tell_asked), Arc::clone(&tell_withdrawn));
        async move {
            asked.notify_one();
            request.cancelled().cancelled().await;
            withdrawn.notify_one();
            request.allow(); // too late, and it must not count
        }
    });
    let session = stage.connect(options).await.expect("connect");
    let turn = session.send("go").await.expect("sent");
    asked.notified().await;
    session.interrupt().await.expect("a receipt");
    withdrawn.notified().await;
    let result = turn.result().await.expect("a result");
    assert_eq!(result.terminal_reason.as_ref(), Some(&TerminalReason::AbortedTools));
    assert_eq!(ask(&session, "next").await.text(), "next answer");
    assert!(!stage.has("made"));
    stage.close(session).await;
}

#[tokio::test]
async fn in_bash() {
    let Some(stage) =
        Stage::open([bash("touch started; sleep 20; touch finished"), Turn::text("next answer")])
    else {
        return;
    };
    let session = stage.connect(stage.options().allow_tools(["Bash"])).await.expect("connect");
    let turn = session.send("go").await.expect("sent");
    stage.until("the command runs", |stage| stage.has("started")).await;
    session.interrupt().await.expect("a receipt");
    let result = turn.result().await.expect("a result");
    assert_eq!(result.terminal_reason.as_ref(), Some(&TerminalReason::AbortedTools));
    stage.until("the command is gone", |stage| !stage.runs("sleep 20")).await;
    assert!(!stage.has("finished"));
    assert_eq!(ask(&session, "next").await.text(), "next answer");
    stage.close(session).await;
}

#[tokio::test]
async fn by_the_token_of_the_turn() {
    let endless = Turn::text("word ".repeat(40)).hanging();
    let Some(stage) = Stage::open([endless, Turn::text("next answer")]) else { return };
    let session = stage.connect(stage.options()).await.expect("connect");
    let token = CancellationToken::new();
    let turn = tokio::spawn(session.send("go").await.expect("sent").abort_on(token.clone()));
    stage.api.wait_for_main_calls(1, PATIENCE).await.expect("the call");
    token.cancel();
    let error = turn.await.expect("no panic").expect_err("an abort");
    assert!(error.was_stopped(), "{error}");
    assert_eq!(error.turn().map(TurnError::to_string).as_deref(), Some("the turn was interrupted"));
    assert_eq!(ask(&session, "next").await.text(), "next answer");
    stage.close(session).await;
}

#[tokio::test]
async fn the_token_of_a_queued_message_spares_the_running_turn() {
    let Some(stage) =
        Stage::open([bash("touch started; until [ -e go ]; do sleep 0.1; done"), Turn::text("first answer")])
    else {
        return;
    };
    let session = stage.connect(stage.options().allow_tools(["Bash"])).await.expect("connect");
    let first = session.send("go").await.expect("sent");
    stage.until("the command runs", |stage| stage.has("started")).await;
    let token = CancellationToken::new();
    let later = Prompt::new("second").priority(Priority::Later);
    let second = session.send(later).await.expect("sent").abort_on(token.clone());
    token.cancel();
    let error = tokio::time::timeout(PATIENCE, second).await.expect("in time").expect_err("an abort");
    assert!(matches!(error, Error::Withdrawn), "{error}");
    std::fs::write(stage.sandbox.project().join("go"), "").expect("written");
    assert_eq!(first.await.expect("a result").text(), "first answer");
    stage.close(session).await;
}

#[tokio::test]
async fn in_a_hook() {
    let Some(stage) = Stage::open([bash("touch made"), Turn::text("next answer")]) else { return };
    let (called, withdrawn) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell_called, tell_withdrawn) = (Arc::clone(&called), Arc::clone(&withdrawn));
    let options =
        stage.options().hook(HookEvent::PreToolUse, Matcher::tool("Bash"), move |call: HookCall| {
            let (called, withdrawn) = (Arc::clone(&tell_called), Arc::clone(&tell_withdrawn));
            async move {
                called.notify_one();
                call.cancelled().cancelled().await;
                withdrawn.notify_one();
                call.allow()
            }
        });
    let session = stage.connect(options).await.expect("connect");
    let turn = session.send("go").await.expect("sent");
    called.notified().await;
    session.interrupt().await.expect("a receipt");
    withdrawn.notified().await;
    assert!(turn.await.expect_err("an interrupt").was_stopped());
    assert!(!stage.has("made"));
    assert_eq!(ask(&session, "next").await.text(), "next answer");
    stage.close(session).await;
}
