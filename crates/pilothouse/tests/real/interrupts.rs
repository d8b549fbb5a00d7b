//! Interrupts: whatever runs ends, the receipt comes at once, and the next turn works.

use std::sync::Arc;

use pilothouse::proto::TerminalReason;
use pilothouse::{Event, HookCall, HookEvent, Matcher, PartialMessage, PermissionRequest};
use pilothouse_testkit::Turn;
use tokio::sync::Notify;

use super::stage::{Stage, ask, bash};

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
    let result = turn.await.expect("a result");
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
    let result = turn.await.expect("a result");
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
    let result = turn.await.expect("a result");
    assert_eq!(result.terminal_reason.as_ref(), Some(&TerminalReason::AbortedTools));
    stage.until("the command is gone", |stage| !stage.runs("sleep 20")).await;
    assert!(!stage.has("finished"));
    assert_eq!(ask(&session, "next").await.text(), "next answer");
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
    assert!(turn.await.expect("a result").failure().is_some());
    assert!(!stage.has("made"));
    assert_eq!(ask(&session, "next").await.text(), "next answer");
    stage.close(session).await;
}
