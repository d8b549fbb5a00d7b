//! Many things at once. A tokio task may do 128 things before it must yield, and a poll beyond that is `Pending` without
//! being registered: a loop that takes that for "it will wake me" sleeps for ever.

use std::time::Duration;

use pilothouse_link::{Connect, EndKind, Event, Handle, Host};
use pilothouse_proto::control::Interrupt;
use serde_json::json;
use tokio::task::JoinSet;

use crate::peer::{Marker, Peer, within};

/// One less than the budget, the budget, one more, twice as much.
const BURSTS: [usize; 4] = [127, 128, 129, 256];

/// Answers so many requests and ends when its input does.
const ANSWERING: &str = r#"while read -r line; do
    id=${line#*\"request_id\":\"}
    echo "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"${id%%\"*}\",\"response\":{\"still_queued\":[]}}}"
done"#;

async fn ask_at_once(handle: &Handle<Host>, count: usize) {
    let mut asked = JoinSet::new();
    for _ in 0..count {
        let handle = handle.clone();
        asked.spawn(async move { handle.request(Interrupt::default()).await });
    }
    within(async {
        while let Some(answered) = asked.join_next().await {
            answered.unwrap().unwrap();
        }
    })
    .await;
}

/// The requests are answered in one write, so that the router handles all of them in one go.
async fn requests_at_once_over_memory_are_answered_and_close_returns() {
    for count in BURSTS {
        let (handle, _events, mut peer) = Peer::of(Connect::new());
        let asking = handle.clone();
        let asking = tokio::spawn(async move { ask_at_once(&asking, count).await });
        let mut replies = String::new();
        for _ in 0..count {
            let id = peer.hear().await.unwrap()["request_id"].clone();
            let response = json!({"subtype": "success", "request_id": id, "response": {"still_queued": []}});
            replies += &format!("{}\n", json!({"type": "control_response", "response": response}));
        }
        peer.write(replies).await;
        within(asking).await.unwrap();
        let closing = tokio::spawn(async move { handle.close().await });
        assert_eq!(peer.hear().await, None);
        peer.hang_up().await;
        assert_eq!(within(closing).await.unwrap().cause.kind, EndKind::Closed, "{count}");
    }
}

async fn requests_at_once_to_a_child_are_answered_and_leave_no_process() {
    for count in BURSTS {
        let marker = Marker::new();
        let connect = || Connect::<Host>::new().child(marker.shell(ANSWERING));
        let (handle, _events) = connect().await.unwrap();
        ask_at_once(&handle, count).await;
        assert_eq!(within(handle.close()).await.cause.kind, EndKind::Closed, "{count}");
        let (handle, _events) = connect().await.unwrap();
        ask_at_once(&handle, count).await;
        drop(handle);
        marker.assert_none_left_soon().await;
    }
}

/// The child writes so many lines, each read on its own, and exits while its grandchild holds the pipe: only the exit says
/// that it is gone.
async fn an_exit_after_many_reads_is_noticed() {
    for count in BURSTS {
        let marker = Marker::new();
        let script = format!(
            "i=0; while [ $i -lt {count} ]; do echo '{{\"type\":\"x\"}}'; i=$((i+1)); done; setsid sleep 3 & exit 7"
        );
        let (handle, mut events) = Connect::<Host>::new().child(marker.shell(&script)).await.unwrap();
        let mut seen = 0;
        while let Some(event) = within(events.next()).await {
            assert!(matches!(event, Event::Frame { .. }));
            seen += 1;
        }
        assert_eq!(seen, count);
        let ended = within(handle.ended()).await;
        assert_eq!((&ended.kind, ended.exit.unwrap().code()), (&EndKind::Exited, Some(7)));
        within(handle.close()).await;
    }
}

/// Requests that are given up leave nothing behind that would keep the connection.
async fn requests_dropped_at_once_let_the_connection_close() {
    let (handle, _events, mut peer) = Peer::of(Connect::new());
    for count in BURSTS {
        let mut asked = JoinSet::new();
        for _ in 0..count {
            let handle = handle.clone();
            asked.spawn(async move { handle.request(Interrupt::default()).await });
        }
        for _ in 0..count {
            assert_eq!(peer.hear().await.unwrap()["type"], "control_request");
        }
        within(asked.shutdown()).await;
        for _ in 0..count {
            assert_eq!(peer.hear().await.unwrap()["type"], "control_cancel_request");
        }
    }
    drop(handle);
    assert_eq!(peer.hear().await, None);
}

/// More is sent than the pipe holds, then the input ends, and only then the child begins to read: it gets all of it.
async fn the_end_of_input_behind_a_full_pipe_reaches_the_child() {
    let marker = Marker::new();
    let script = "sleep 1; wc -c | sed 's/^ *//; s/.*/{\"type\":\"count\",\"bytes\":&}/'";
    let (handle, mut events) = Connect::<Host>::new().child(marker.shell(script)).await.unwrap();
    let line = json!({"type": "x", "text": "y".repeat(300_000)}).to_string();
    within(handle.send_raw(&line)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    handle.end_input();
    let Some(Event::Frame { raw, .. }) = within(events.next()).await else { panic!("no answer") };
    let expected = format!("{{\"type\":\"count\",\"bytes\":{}}}", line.len() + 1);
    assert_eq!(String::from_utf8_lossy(&raw), expected);
    assert_eq!(within(handle.ended()).await.exit.unwrap().code(), Some(0));
}

macro_rules! on_both_runtimes {
    ($($test:ident),* $(,)?) => {
        mod current_thread {
            $(#[tokio::test]
            async fn $test() {
                super::$test().await;
            })*
        }

        mod multi_thread {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test().await;
            })*
        }
    };
}

on_both_runtimes!(
    requests_at_once_over_memory_are_answered_and_close_returns,
    requests_at_once_to_a_child_are_answered_and_leave_no_process,
    an_exit_after_many_reads_is_noticed,
    requests_dropped_at_once_let_the_connection_close,
    the_end_of_input_behind_a_full_pipe_reaches_the_child,
);
