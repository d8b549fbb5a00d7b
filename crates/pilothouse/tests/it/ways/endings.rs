//! Closing, dropping and aborting, at every point.

use std::time::Duration;

use pilothouse::proto::AgentFrame;
use pilothouse::{Event, PermissionRequest, query};
use tokio::sync::mpsc;

use super::stage::{self, Stage, closed, connected, ended, soon};
use super::ways;
use crate::harness::within;

ways!(
    close_twice_gives_the_same,
    close_by_eight_tasks_at_once_returns_for_all,
    close_that_is_given_up_can_be_repeated,
    close_while_a_turn_streams_ends_the_turn,
    close_of_a_busy_cli_delivers_what_it_still_says,
    end_of_input_then_close,
    end_of_input_twice_lets_the_cli_finish,
    a_session_dropped_while_a_turn_is_kept_lets_the_turn_finish,
    a_turn_dropped_in_the_middle_leaves_the_session_usable,
    everything_dropped_in_the_middle_of_a_turn,
    a_task_that_reads_a_turn_is_aborted,
    a_task_that_connects_is_aborted,
    a_task_that_panics_drops_its_session,
    a_warm_start_is_dropped,
    a_query_is_dropped_in_the_middle,
    a_query_is_dropped_before_it_begins,
    the_runtime_is_dropped_under_a_session,
    the_runtime_is_shut_down_in_the_background_under_a_session,
    a_session_is_dropped_outside_of_its_runtime,
    a_session_is_dropped_with_open_approvals,
    a_session_is_closed_with_open_approvals,
    a_hundred_sessions_are_dropped_at_once,
    a_send_after_the_end_says_why,
);

async fn close_twice_gives_the_same(stage: Stage) {
    let session = connected(stage.faulty("plain")).await;
    let first = soon(session.close()).await;
    let second = soon(session.close()).await;
    assert_eq!(first.cause, second.cause);
    assert_eq!(first.report.unwrap().exit, second.report.unwrap().exit);
}

async fn close_by_eight_tasks_at_once_returns_for_all(stage: Stage) {
    let session = connected(stage.faulty("stubborn")).await;
    let mut closing = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let session = session.clone();
        closing.spawn(async move { session.close().await });
    }
    let reports = soon(closing.join_all()).await;
    assert!(reports.iter().all(|closed| closed.report.is_some()));
}

async fn close_that_is_given_up_can_be_repeated(stage: Stage) {
    let session = connected(stage.faulty("stubborn")).await;
    assert!(tokio::time::timeout(Duration::from_millis(20), session.close()).await.is_err());
    closed(&session).await;
}

async fn close_while_a_turn_streams_ends_the_turn(stage: Stage) {
    let session =
        connected(stage.script("hello; read -r line; while :; do text more; sleep 0.01; done")).await;
    let mut turn = soon(session.send("go")).await.unwrap();
    soon(turn.next()).await.unwrap().unwrap();
    let reading = tokio::spawn(turn);
    closed(&session).await;
    ended(soon(reading).await.unwrap());
}

async fn close_of_a_busy_cli_delivers_what_it_still_says(stage: Stage) {
    let body = "hello; read -r line; while read -r line; do :; done; text last; result done";
    let session = connected(stage.script(body)).await;
    let turn = soon(session.send("go")).await.unwrap();
    soon(session.close()).await;
    assert_eq!(soon(turn).await.unwrap().text(), "done");
}

async fn end_of_input_then_close(stage: Stage) {
    let session = connected(stage.script("hello; while read -r line; do :; done; sleep 600")).await;
    session.end_input();
    closed(&session).await;
}

async fn end_of_input_twice_lets_the_cli_finish(stage: Stage) {
    let session = connected(stage.faulty("plain")).await;
    let turn = soon(session.send("go")).await.unwrap();
    session.end_input();
    session.end_input();
    assert_eq!(soon(turn).await.unwrap().text(), "hello");
    assert_eq!(soon(session.ended()).await.exit.and_then(|exit| exit.code()), Some(0));
}

async fn a_session_dropped_while_a_turn_is_kept_lets_the_turn_finish(stage: Stage) {
    let session = connected(stage.script("hello; read -r line; sleep 0.5; result done; read -r line")).await;
    let turn = soon(session.send("go")).await.unwrap();
    drop(session);
    assert_eq!(soon(turn).await.unwrap().text(), "done");
}

async fn a_turn_dropped_in_the_middle_leaves_the_session_usable(stage: Stage) {
    let session = connected(stage.faulty("flood").env("FAULTY_SIZE", "2000")).await;
    for _ in 0..5 {
        let mut turn = soon(session.send("go")).await.unwrap();
        soon(turn.next()).await.unwrap().unwrap();
        drop(turn);
    }
    soon(session.idle()).await.unwrap();
    let (events, result) = crate::harness::read(soon(session.send("go")).await.unwrap()).await;
    // What the CLI says behind a result may belong to the next turn, so only the deltas are counted.
    let is_delta = |event: &&Event| matches!(event.frame(), Some(AgentFrame::StreamEvent(_)));
    assert_eq!((events.iter().filter(is_delta).count(), result.unwrap().text()), (2000, "ok"));
    closed(&session).await;
}

async fn everything_dropped_in_the_middle_of_a_turn(stage: Stage) {
    for _ in 0..5 {
        let session = connected(stage.faulty("flood").env("FAULTY_SIZE", "5000")).await;
        let mut turn = soon(session.send("go")).await.unwrap();
        let events = session.events();
        soon(turn.next()).await.unwrap().unwrap();
        drop((turn, events, session));
    }
}

async fn a_task_that_reads_a_turn_is_aborted(stage: Stage) {
    let session = connected(stage.faulty("plain")).await;
    for pause in [0, 1, 5] {
        let turn = soon(session.send("go")).await.unwrap();
        let reading = tokio::spawn(turn);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        reading.abort();
        drop(reading.await);
    }
    soon(session.idle()).await.unwrap();
    assert_eq!(soon(soon(session.send("go")).await.unwrap()).await.unwrap().text(), "hello");
    closed(&session).await;
}

async fn a_task_that_connects_is_aborted(stage: Stage) {
    let options = stage.script("sleep 0.05; hello; read -r line");
    for pause in [0, 1, 3, 10, 30, 100] {
        let connecting = tokio::spawn(options.clone().connect());
        tokio::time::sleep(Duration::from_millis(pause)).await;
        connecting.abort();
        drop(connecting.await);
    }
}

async fn a_task_that_panics_drops_its_session(stage: Stage) {
    let session = connected(stage.faulty("plain")).await;
    let broken = tokio::spawn(async move {
        let _turn = session.send("go").await.unwrap();
        panic!("on purpose");
    });
    assert!(soon(broken).await.unwrap_err().is_panic());
}

async fn a_warm_start_is_dropped(stage: Stage) {
    let options = stage.script("sleep 0.02; hello; read -r line");
    for pause in [0, 5, 50] {
        let warm = options.clone().warm_up();
        tokio::time::sleep(Duration::from_millis(pause)).await;
        drop(warm);
    }
}

async fn a_query_is_dropped_in_the_middle(stage: Stage) {
    let mut asked = query("go", stage.faulty("flood").env("FAULTY_SIZE", "5000"));
    soon(asked.next()).await.unwrap().unwrap();
    drop(asked);
}

async fn a_query_is_dropped_before_it_begins(stage: Stage) {
    let mut asked = query("go", stage.script("while read -r line; do :; done"));
    assert!(tokio::time::timeout(Duration::from_millis(100), asked.next()).await.is_err());
    drop(asked);
    drop(query("go", stage.faulty("plain")));
}

/// Starts a session on a runtime of its own, on a thread of its own, with 32 requests that wait for a reply.
async fn elsewhere(
    stage: &Stage,
    end: impl FnOnce(tokio::runtime::Runtime) + Send + 'static,
) -> pilothouse::Session {
    let options = stage.script("hello; while read -r line; do :; done; sleep 600");
    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let runtime = stage::multi_thread();
        let session = runtime.block_on(connected(options));
        for _ in 0..32 {
            let session = session.clone();
            runtime.spawn(async move { session.set_color("red").await.map(drop) });
        }
        sender.send(session).ok();
        std::thread::sleep(Duration::from_millis(200));
        end(runtime);
    });
    within(receiver).await.unwrap()
}

async fn is_over(session: pilothouse::Session) {
    // Waits on this runtime for what ended with the other one.
    ended(soon(session.set_color("red")).await);
    soon(session.ended()).await;
    soon(session.close()).await;
}

async fn the_runtime_is_dropped_under_a_session(stage: Stage) {
    let session = elsewhere(&stage, drop).await;
    let turn = soon(session.send("go")).await.unwrap();
    ended(soon(turn).await);
    is_over(session).await;
}

async fn the_runtime_is_shut_down_in_the_background_under_a_session(stage: Stage) {
    let session = elsewhere(&stage, tokio::runtime::Runtime::shutdown_background).await;
    let mut events = session.events();
    assert!(soon(events.next()).await.is_none());
    is_over(session).await;
}

async fn a_session_is_dropped_outside_of_its_runtime(stage: Stage) {
    let session = connected(stage.faulty("plain")).await;
    let turn = soon(session.send("go")).await.unwrap();
    soon(tokio::task::spawn_blocking(|| std::thread::spawn(|| drop((session, turn))).join()))
        .await
        .unwrap()
        .unwrap();
}

async fn a_session_is_dropped_with_open_approvals(stage: Stage) {
    let (desk, mut approvals) = mpsc::unbounded_channel();
    let options = stage.faulty("many_permissions").env("FAULTY_SIZE", "50").on_permission(
        move |request: PermissionRequest| {
            let desk = desk.clone();
            async move { drop(desk.send(request)) }
        },
    );
    let session = connected(options).await;
    let turn = soon(session.send("go")).await.unwrap();
    let mut open = Vec::new();
    while open.len() < 50 {
        open.push(soon(approvals.recv()).await.unwrap());
    }
    drop((session, turn));
    for request in open {
        soon(request.cancelled().cancelled()).await;
        request.allow();
    }
}

async fn a_session_is_closed_with_open_approvals(stage: Stage) {
    let (fired, mut heard) = mpsc::unbounded_channel();
    let options = stage.faulty("many_permissions").env("FAULTY_SIZE", "50").on_permission(
        move |request: PermissionRequest| {
            let fired = fired.clone();
            async move {
                request.cancelled().cancelled().await;
                let _ = fired.send(());
                std::future::pending::<()>().await;
            }
        },
    );
    let session = connected(options).await;
    let turn = soon(session.send("go")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    closed(&session).await;
    for _ in 0..50 {
        soon(heard.recv()).await.unwrap();
    }
    drop(turn);
}

async fn a_hundred_sessions_are_dropped_at_once(stage: Stage) {
    let mut connecting = tokio::task::JoinSet::new();
    for _ in 0..100 {
        connecting.spawn(stage.faulty("plain").connect());
    }
    let sessions = within(connecting.join_all()).await;
    assert!(sessions.iter().all(Result::is_ok));
    drop(sessions);
}

async fn a_send_after_the_end_says_why(stage: Stage) {
    let session = connected(stage.script("hello; echo tired >&2; exit 5")).await;
    soon(session.ended()).await;
    let cause = ended(soon(session.send("go")).await.map(drop));
    assert!(cause.stderr_tail.contains("tired"));
    assert_eq!(cause.exit.and_then(|exit| exit.code()), Some(5));
    ended(soon(session.idle()).await);
    ended(soon(session.interrupt()).await);
    assert!(soon(session.events().next()).await.is_none());
    assert!(soon(session.own_turns().next()).await.is_none());
}
