//! Control requests: many, given up, never answered, answered twice.

use std::time::Duration;

use pilothouse::{Error, Session};
use tokio::task::JoinSet;

use super::stage::{Stage, closed, connected, ended, soon};
use super::ways;

ways!(
    requests_127_at_once_are_answered_and_close_returns,
    requests_128_at_once_are_answered_and_close_returns,
    requests_129_at_once_are_answered_and_close_returns,
    requests_256_at_once_are_answered_and_close_returns,
    requests_1000_at_once_are_answered_and_close_returns,
    requests_256_at_once_are_answered_and_a_drop_leaves_no_process,
    requests_256_polled_by_one_task_are_answered_and_close_returns,
    requests_256_are_open_when_the_session_is_closed,
    requests_256_are_open_when_the_session_is_dropped,
    requests_256_are_open_when_the_cli_dies,
    requests_256_are_given_up_and_the_next_one_is_answered,
    a_request_to_a_silent_cli_times_out,
    an_interrupt_of_a_stopped_cli_times_out,
    a_reply_that_comes_twice_is_no_harm,
    a_reply_to_nobody_is_no_harm,
    a_reply_that_makes_no_sense_fails_that_request_only,
    requests_alternate_with_turns,
);

/// A CLI that shakes hands and then reads without a word.
const SILENT: &str = "hello; while read -r line; do :; done";

fn ask(session: &Session, count: usize) -> JoinSet<Result<(), Error>> {
    let mut asked = JoinSet::new();
    for _ in 0..count {
        let session = session.clone();
        asked.spawn(async move { session.set_color("red").await.map(drop) });
    }
    asked
}

async fn all_answered(session: &Session, count: usize) {
    let answers = soon(ask(session, count).join_all()).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), count);
}

async fn burst(stage: Stage, count: usize) {
    let session = connected(stage.faulty("plain")).await;
    all_answered(&session, count).await;
    closed(&session).await;
}

async fn requests_127_at_once_are_answered_and_close_returns(stage: Stage) {
    burst(stage, 127).await;
}

async fn requests_128_at_once_are_answered_and_close_returns(stage: Stage) {
    burst(stage, 128).await;
}

async fn requests_129_at_once_are_answered_and_close_returns(stage: Stage) {
    burst(stage, 129).await;
}

async fn requests_256_at_once_are_answered_and_close_returns(stage: Stage) {
    burst(stage, 256).await;
}

async fn requests_1000_at_once_are_answered_and_close_returns(stage: Stage) {
    burst(stage, 1000).await;
}

async fn requests_256_at_once_are_answered_and_a_drop_leaves_no_process(stage: Stage) {
    let session = connected(stage.faulty("plain")).await;
    all_answered(&session, 256).await;
    drop(session);
}

/// `join_all` without tasks: one waker for all of them.
async fn requests_256_polled_by_one_task_are_answered_and_close_returns(stage: Stage) {
    let session = connected(stage.faulty("plain")).await;
    let mut open: Vec<_> = (0..256).map(|_| Box::pin(session.set_color("red"))).collect();
    let all = std::future::poll_fn(|cx| {
        open.retain_mut(|request| match request.as_mut().poll(cx) {
            std::task::Poll::Ready(answer) => {
                answer.unwrap();
                false
            }
            std::task::Poll::Pending => true,
        });
        if open.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    });
    soon(all).await;
    drop(open);
    closed(&session).await;
}

async fn all_end(asked: JoinSet<Result<(), Error>>) {
    let answers = soon(asked.join_all()).await;
    assert_eq!(answers.len(), 256);
    answers.into_iter().for_each(|answer| drop(ended(answer)));
}

async fn requests_256_are_open_when_the_session_is_closed(stage: Stage) {
    let session = connected(stage.script(SILENT)).await;
    let asked = ask(&session, 256);
    tokio::time::sleep(Duration::from_millis(50)).await;
    soon(session.close()).await;
    all_end(asked).await;
}

/// A request holds its session, so nothing ends before they are given up.
async fn requests_256_are_open_when_the_session_is_dropped(stage: Stage) {
    let session = connected(stage.script(SILENT)).await;
    let mut asked = ask(&session, 256);
    drop(session);
    tokio::time::sleep(Duration::from_millis(50)).await;
    soon(asked.shutdown()).await;
}

async fn requests_256_are_open_when_the_cli_dies(stage: Stage) {
    let body = "hello; i=0; while [ $i -lt 256 ]; do read -r line; i=$((i+1)); done; exit 3";
    let session = connected(stage.script(body)).await;
    all_end(ask(&session, 256)).await;
    assert_eq!(soon(session.ended()).await.exit.and_then(|exit| exit.code()), Some(3));
}

async fn requests_256_are_given_up_and_the_next_one_is_answered(stage: Stage) {
    let session = connected(stage.faulty("plain")).await;
    for _ in 0..256 {
        tokio::select! {
            biased;
            answer = session.set_color("red") => answer.unwrap(),
            () = tokio::task::yield_now() => {}
        }
    }
    soon(session.set_color("red")).await.unwrap();
    all_answered(&session, 256).await;
    closed(&session).await;
}

async fn a_request_to_a_silent_cli_times_out(stage: Stage) {
    let session = connected(stage.script(SILENT).request_timeout(Duration::from_millis(200))).await;
    assert!(matches!(soon(session.set_color("red")).await, Err(Error::Timeout { .. })));
    assert!(session.try_ended().is_none(), "a timeout is not the end");
    closed(&session).await;
}

async fn an_interrupt_of_a_stopped_cli_times_out(stage: Stage) {
    let body = "hello; read -r line; text begun; kill -STOP $$; sleep 600";
    let session = connected(stage.script(body).interrupt_timeout(Duration::from_millis(300))).await;
    let mut turn = session.send("go").await.unwrap();
    soon(turn.next()).await.unwrap().unwrap();
    assert!(matches!(soon(session.interrupt()).await, Err(Error::Timeout { .. })));
    closed(&session).await;
    while let Some(event) = soon(turn.next()).await {
        if let Err(error) = event {
            assert!(matches!(error, Error::Ended(_)), "{error}");
        }
    }
}

async fn a_reply_that_comes_twice_is_no_harm(stage: Stage) {
    let body = "hello; while read -r line; do reply '{}'; reply '{}'; done";
    let session = connected(stage.script(body)).await;
    for _ in 0..20 {
        soon(session.set_color("red")).await.unwrap();
    }
    closed(&session).await;
}

async fn a_reply_to_nobody_is_no_harm(stage: Stage) {
    let stray =
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"x","response":{}}}"#;
    let body = format!("echo '{stray}'; hello; while read -r line; do echo '{stray}'; reply '{{}}'; done");
    let session = connected(stage.script(&body)).await;
    soon(session.set_color("red")).await.unwrap();
    closed(&session).await;
}

async fn a_reply_that_makes_no_sense_fails_that_request_only(stage: Stage) {
    let body = "hello; read -r line; reply 7; while read -r line; do reply '{\"mcpServers\":[]}'; done";
    let session = connected(stage.script(body)).await;
    assert!(matches!(soon(session.mcp_status()).await, Err(Error::Answer { .. })));
    soon(session.mcp_status()).await.unwrap();
    closed(&session).await;
}

async fn requests_alternate_with_turns(stage: Stage) {
    let session = connected(stage.faulty("plain")).await;
    for _ in 0..20 {
        let turn = session.send("go").await.unwrap();
        let asked = ask(&session, 20);
        assert_eq!(soon(turn).await.unwrap().text(), "hello");
        assert!(soon(asked.join_all()).await.iter().all(Result::is_ok));
    }
    closed(&session).await;
}
