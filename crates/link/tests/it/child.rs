use std::time::{Duration, Instant};

use pilothouse_link::{Connect, EndKind, Event, Host, Inbound, RequestError, SendError};
use pilothouse_proc::{Ladder, Step};
use pilothouse_proto::control::{Ack, Interrupt};

use crate::peer::{Marker, within};

fn quick() -> Ladder {
    Ladder {
        after_end_of_input: Duration::from_millis(300),
        after_term: Duration::from_millis(300),
        after_kill: Duration::from_secs(5),
    }
}

/// A shell that answers each request: the id is the fourth quoted string after `request_id`.
const ANSWER: &str = r#"answer() { id=${1#*\"request_id\":\"}; id=${id%%\"*};
    printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{}}}\n' "$id"; }; "#;

#[tokio::test]
async fn a_conversation_over_pipes() {
    let marker = Marker::new();
    let script = ANSWER.to_owned() + r#"while read -r line; do answer "$line"; done; echo '{"type":"bye"}'"#;
    let (handle, mut events) = Connect::<Host>::new().child(marker.shell(&script)).await.unwrap();
    for _ in 0..20 {
        within(handle.request(Interrupt::default())).await.unwrap();
    }
    let closed = within(handle.close()).await;
    assert_eq!(closed.cause.kind, EndKind::Closed);
    assert_eq!(closed.report.as_ref().unwrap().step, Step::EndOfInput);
    assert!(closed.report.unwrap().exit.unwrap().success());
    assert!(matches!(within(events.next()).await, Some(Event::Frame { frame, .. }) if frame.tag() == "bye"));
    assert!(within(events.next()).await.is_none());
    marker.assert_none_left();
}

#[tokio::test]
async fn a_child_that_dies_fails_what_is_open_with_its_last_words() {
    let marker = Marker::new();
    let script = "read -r line; echo 'cannot find my config' >&2; exit 3";
    let (handle, _events) = Connect::<Host>::new().child(marker.shell(script)).await.unwrap();
    let begun = Instant::now();
    let error = within(handle.request(Interrupt::default())).await.unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(2));
    let RequestError::Send(SendError::Ended(cause)) = &error else { panic!("{error}") };
    assert_eq!(cause.kind, EndKind::Exited);
    assert_eq!(cause.exit.unwrap().code(), Some(3));
    assert_eq!(cause.stderr_tail, "cannot find my config\n");
    assert_eq!(
        error.to_string(),
        "the program exited (exit status: 3); its stderr ends with: cannot find my config"
    );
    let closed = within(handle.close()).await;
    assert_eq!(closed.report.unwrap().step, Step::AlreadyExited);
    marker.assert_none_left();
}

/// A descendant in another session holds the pipes open; the end is noticed all the same.
#[tokio::test]
async fn a_descendant_that_holds_the_pipe_delays_the_end_only_a_little() {
    let marker = Marker::new();
    let script = "setsid sleep 3 & echo '{\"type\":\"last\"}'; exit 4";
    let (handle, mut events) = Connect::<Host>::new().child(marker.shell(script)).await.unwrap();
    let begun = Instant::now();
    assert!(matches!(within(events.next()).await, Some(Event::Frame { .. })));
    assert!(within(events.next()).await.is_none());
    assert_eq!(within(handle.ended()).await.exit.unwrap().code(), Some(4));
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn a_child_that_closes_its_output_is_ended() {
    let marker = Marker::new();
    let script = "exec >&-; trap '' TERM; sleep 1000";
    let (handle, mut events) =
        Connect::<Host>::new().ladder(quick()).child(marker.shell(script)).await.unwrap();
    assert!(within(events.next()).await.is_none());
    assert_eq!(within(handle.ended()).await.kind, EndKind::EndOfStream);
    assert_eq!(within(handle.closed()).await.report.unwrap().step, Step::Kill);
    marker.assert_none_left();
}

#[tokio::test]
async fn closing_a_stubborn_tree_takes_the_whole_ladder() {
    let marker = Marker::new();
    let script =
        "trap '' TERM; (trap '' TERM; sleep 1000) & echo '{\"type\":\"ready\"}'; while :; do sleep 1; done";
    let (handle, mut events) =
        Connect::<Host>::new().ladder(quick()).child(marker.shell(script)).await.unwrap();
    within(events.next()).await.unwrap();
    let begun = Instant::now();
    let (one, two) = within(async { tokio::join!(handle.close(), handle.close()) }).await;
    assert_eq!(one.report.unwrap().step, Step::Kill);
    assert_eq!(two.report.unwrap().step, Step::Kill);
    assert!(begun.elapsed() < Duration::from_secs(3));
    marker.assert_none_left();
}

#[tokio::test]
async fn dropping_everything_leaves_no_process() {
    let marker = Marker::new();
    let script = "trap '' TERM; sleep 1000 & while :; do sleep 1; done";
    let (handle, events) = Connect::<Host>::new().ladder(quick()).child(marker.shell(script)).await.unwrap();
    drop((handle, events));
    within(async {
        while !marker.alive().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

#[test]
fn a_runtime_that_ends_leaves_no_process() {
    let marker = Marker::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let script = "trap '' TERM; sleep 1000 & while :; do sleep 1; done";
    let connection = runtime.block_on(Connect::<Host>::new().child(marker.shell(script))).unwrap();
    drop(runtime);
    marker.assert_none_left();
    drop(connection);
}

#[tokio::test]
async fn a_line_of_64_mib_is_delivered() {
    let marker = Marker::new();
    let script = r#"printf '{"type":"huge","text":"'; head -c 67108864 /dev/zero | tr '\0' h; echo '"}';
        echo '{"type":"next"}'"#;
    let (_handle, mut events) = Connect::<Host>::new().child(marker.shell(script)).await.unwrap();
    let Some(Event::Frame { raw, frame }) = within(events.next()).await else { panic!("not delivered") };
    assert_eq!(frame.tag(), "huge");
    assert!(raw.len() > 64 << 20);
    assert!(matches!(within(events.next()).await, Some(Event::Frame { frame, .. }) if frame.tag() == "next"));
    marker.assert_none_left();
}

/// Both pipes are full at once: replies the child does not read yet, and requests we have not read yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_large_replies_over_full_pipes() {
    let marker = Marker::new();
    let script = r#"i=0; while [ $i -lt 200 ]; do i=$((i+1));
        printf '{"type":"control_request","request_id":"%s","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}\n' $i;
        done; sleep 0.3; i=0; while [ $i -lt 200 ]; do read -r line; i=$((i+1));
        case "$line" in *'"type":"control_response"'*'"end":true'*) ;; *) echo '{"type":"broken"}';; esac; done;
        echo '{"type":"all"}'"#;
    let connect = Connect::<Host>::new().serve(|inbound: Inbound<Host>| {
        tokio::spawn(async move {
            let n: u64 = inbound.id().as_str().parse().unwrap();
            tokio::time::sleep(Duration::from_millis((n * 7919) % 40)).await;
            inbound.responder.success(&serde_json::json!({"filler": "f".repeat(3000), "end": true}));
        });
    });
    let (_handle, mut events) = connect.child(marker.shell(script)).await.unwrap();
    assert!(matches!(within(events.next()).await, Some(Event::Frame { frame, .. }) if frame.tag() == "all"));
}

#[tokio::test]
async fn a_flood_on_stderr_does_not_stop_the_conversation() {
    let marker = Marker::new();
    let script = ANSWER.to_owned()
        + r#"head -c 2000000 /dev/zero | tr '\0' e >&2; read -r line; answer "$line"; read -r line"#;
    let (handle, _events) = Connect::<Host>::new().child(marker.shell(&script)).await.unwrap();
    within(handle.request(Interrupt::default())).await.unwrap();
    let tail = within(handle.close()).await.report.unwrap().stderr_tail;
    assert_eq!(tail.len(), 64 * 1024);
}

#[tokio::test]
async fn a_child_that_closes_its_input_is_reported_as_such() {
    let marker = Marker::new();
    let script = "exec <&-; echo '{\"type\":\"deaf\"}'; sleep 1000";
    let (handle, mut events) =
        Connect::<Host>::new().ladder(quick()).child(marker.shell(script)).await.unwrap();
    within(events.next()).await.unwrap();
    let error = within(async {
        loop {
            if let Err(error) = handle.request(Interrupt::default()).await {
                return error;
            }
        }
    })
    .await;
    assert!(matches!(error, RequestError::Send(SendError::InputClosed(_))), "{error}");
    within(handle.close()).await;
    marker.assert_none_left();
}

#[tokio::test]
async fn answers_are_served_while_our_own_request_waits() {
    let marker = Marker::new();
    let script = ANSWER.to_owned()
        + r#"read -r mine; printf '{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"B","input":{}}}\n';
        read -r theirs; answer "$mine"; read -r end"#;
    let connect =
        Connect::<Host>::new().serve(|inbound: Inbound<Host>| inbound.responder.success(&Ack::default()));
    let (handle, _events) = connect.child(marker.shell(&script)).await.unwrap();
    within(handle.request(Interrupt::default())).await.unwrap();
    within(handle.close()).await;
    marker.assert_none_left();
}

/// The child is long gone when its last lines are asked for.
#[tokio::test]
async fn a_slow_reader_gets_the_last_lines_of_a_child_that_has_exited() {
    let marker = Marker::new();
    let script = format!(r#"yes '{{"type":"x","text":"{}"}}' | head -n 20000; exit 5"#, "t".repeat(200));
    let (handle, mut events) = Connect::<Host>::new().child(marker.shell(&script)).await.unwrap();
    let mut count = 0;
    while within(events.next()).await.is_some() {
        count += 1;
        if count % 200 == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    assert_eq!(count, 20_000);
    assert_eq!(handle.try_ended().unwrap().exit.unwrap().code(), Some(5));
}

#[tokio::test]
async fn the_end_of_stderr_can_be_seen_while_the_child_runs() {
    let marker = Marker::new();
    let script = "echo starting >&2; echo '{\"type\":\"ready\"}'; read -r line";
    let (handle, mut events) = Connect::<Host>::new().child(marker.shell(script)).await.unwrap();
    within(events.next()).await.unwrap();
    within(async {
        while handle.stderr_tail() != "starting\n" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert_eq!(marker.alive(), [handle.pid().unwrap()]);
    within(handle.close()).await;
}

#[tokio::test]
async fn a_child_that_never_stops_writing_is_ended_all_the_same() {
    // One stops for its reader, the other only for the last signal.
    let stubborn = "trap '' TERM PIPE; while :; do echo '{\"type\":\"x\"}' 2>/dev/null; done";
    for script in ["exec yes '{\"type\":\"x\"}'", stubborn] {
        let marker = Marker::new();
        let (handle, mut events) =
            Connect::<Host>::new().ladder(quick()).child(marker.shell(script)).await.unwrap();
        within(events.next()).await.unwrap();
        within(handle.close()).await;
        marker.assert_none_left();
    }
}
