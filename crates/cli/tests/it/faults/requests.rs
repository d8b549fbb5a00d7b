//! Requests and replies in both directions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pilothouse::{Event, PermissionRequest};
use tokio::sync::Notify;

use super::rig::{Rig, read, within};

/// What the script's tool call would make.
const MADE: &str = "made-by-the-agent";

#[tokio::test]
async fn a_permission_handler_is_asked_once() {
    let rig = Rig::new("permission-asked");
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let options = rig.options().on_permission(move |request: PermissionRequest| {
        counter.fetch_add(1, Ordering::Relaxed);
        async move { request.allow() }
    });
    assert!(options.to_argv().unwrap().windows(2).any(|pair| pair == ["--permission-prompt-tool", "stdio"]));
    let played = rig.play(options).await;
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert!(rig.sandbox.read(MADE).is_some());
    let answers = played.written.iter().filter(|frame| frame["type"] == "control_response").count();
    assert_eq!(answers, 1, "{:?}", played.written);
}

#[tokio::test]
async fn what_nobody_handles_is_declined_or_refused() {
    // (script, the request's id, how it is answered)
    let cases = [
        ("unknown-request", "odd-1", "/subtype", "error"),
        ("elicitation", "ask-1", "/response/action", "decline"),
    ];
    for (script, request, place, answer) in cases {
        let rig = Rig::new(script);
        let played = rig.play(rig.options()).await;
        assert_eq!(played.result.text(), "still here", "{script}");
        let replies = played.replies_to(request);
        let [reply] = replies.as_slice() else { panic!("{script}: {replies:?}") };
        assert_eq!(reply.pointer(place).and_then(|value| value.as_str()), Some(answer), "{script}: {reply}");
    }
}

#[tokio::test]
async fn a_withdrawn_request_fires_the_token_and_takes_no_answer() {
    let rig = Rig::new("cancelled-request");
    let fired = Arc::new(Notify::new());
    let tell = Arc::clone(&fired);
    let options = rig.options().on_permission(move |request: PermissionRequest| {
        let fired = Arc::clone(&tell);
        async move {
            request.cancelled().cancelled().await;
            request.allow();
            fired.notify_one();
        }
    });
    let played = rig.play(options).await;
    within(fired.notified()).await;
    assert_eq!(played.result.text(), "then not");
    assert!(played.written.iter().all(|frame| frame["type"] != "control_response"), "{:?}", played.written);
    assert!(rig.sandbox.read(MADE).is_none(), "the call must not run");
}

#[tokio::test]
async fn an_interrupt_is_acknowledged_while_messages_are_unread() {
    let rig = Rig::new("unread-messages");
    let session = rig.connect().await;
    let turn = within(session.send("go")).await.unwrap();
    within(session.interrupt()).await.unwrap();
    let (events, result) = read(turn).await;
    let unread = events.iter().filter(|event| match event {
        Event::Frame { raw, .. } => raw.windows(9).any(|part| part == b"\"message "),
        _ => false,
    });
    assert_eq!(unread.count(), 400);
    assert!(result.unwrap().failure().is_some());
    within(session.close()).await;
    rig.no_process_is_left().await;
}

#[tokio::test]
async fn a_reply_that_comes_twice_counts_once() {
    let rig = Rig::new("double-reply");
    let session = rig.connect().await;
    // The second answer to the handshake must not pass for one of these.
    within(session.mcp_status()).await.unwrap();
    within(session.set_model("haiku")).await.unwrap();
    let result = within(within(session.send("go")).await.unwrap()).await.unwrap();
    assert_eq!(result.text(), "once is not enough");
    within(session.close()).await;
    rig.no_process_is_left().await;
}

#[tokio::test]
async fn a_late_reply_is_waited_for() {
    let rig = Rig::new("late-reply");
    assert_eq!(rig.play(rig.options()).await.result.text(), "first come, first served");
}
