//! Stopping a turn: by an interrupt, and by the token of one turn.

use std::time::{Duration, Instant};

use pilothouse::{CancellationToken, Error, query};

use crate::harness::{Bench, seen_by_cli, within};

const LIMIT: Duration = Duration::from_millis(400);

#[tokio::test]
async fn interrupt_of_a_stalled_cli_fails_within_its_own_limit() {
    let bench = Bench::new("stalled");
    let session = within(bench.options().interrupt_timeout(LIMIT).connect()).await.unwrap();
    let mut turn = session.send("go").await.unwrap();
    while !format!("{:?}", within(turn.next()).await).contains("half a") {}
    for all in [false, true] {
        let begun = Instant::now();
        let answered =
            if all { within(session.interrupt_all()).await } else { within(session.interrupt()).await };
        let Err(Error::Timeout { subtype, waited }) = answered else { panic!("{answered:?}") };
        assert_eq!((subtype.as_str(), waited), ("interrupt", LIMIT));
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn abort_of_a_stalled_turn_fails_the_turn_and_the_session_can_be_closed() {
    let bench = Bench::new("stalled");
    let session = within(bench.options().interrupt_timeout(LIMIT).connect()).await.unwrap();
    let token = CancellationToken::new();
    let turn = session.send("go").await.unwrap().abort_on(token.clone());
    let waiting = tokio::spawn(turn);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!waiting.is_finished());
    token.cancel();
    let failed = within(waiting).await.unwrap();
    assert!(matches!(failed, Err(Error::NotStopped { waited }) if waited == LIMIT), "{failed:?}");
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn abort_interrupts_a_cli_that_does_not_answer_a_withdrawal() {
    let bench = Bench::new("interrupt");
    let session = within(bench.options().interrupt_timeout(Duration::from_secs(4)).connect()).await.unwrap();
    let token = CancellationToken::new();
    let turn = session.send("go").await.unwrap().abort_on(token.clone());
    token.cancel();
    let Err(Error::Turn(failed)) = within(turn).await else { panic!("the turn was not stopped") };
    assert_eq!(failed.text(), "interrupted");
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn abort_of_a_queued_message_withdraws_it_and_spares_the_running_turn() {
    let bench = Bench::new("withdraw");
    let session = bench.connect().await;
    let first = session.send("one").await.unwrap();
    let token = CancellationToken::new();
    let second = session.send("two").await.unwrap().abort_on(token.clone());
    token.cancel();
    let error = within(second).await.unwrap_err();
    assert!(matches!(error, Error::Withdrawn) && error.was_stopped(), "{error}");
    assert_eq!(within(first).await.unwrap().text(), "one");
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_token_cancelled_after_its_turn_stops_no_other_turn() {
    let bench = Bench::new("requests");
    let session = bench.connect().await;
    let token = CancellationToken::new();
    let mut turn = session.send("go").await.unwrap().abort_on(token.clone());
    within(&mut turn).await.unwrap();
    token.cancel();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let asked = seen_by_cli(&within(session.send("go").await.unwrap()).await.unwrap());
    assert_eq!(asked, serde_json::json!(["initialize"]));
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn abort_of_a_query_that_is_still_starting_ends_its_cli() {
    let bench = Bench::new("silent");
    let token = CancellationToken::new();
    let waiting = tokio::spawn(query("go", bench.options()).abort_on(token.clone()));
    tokio::time::sleep(Duration::from_millis(100)).await;
    token.cancel();
    assert!(matches!(within(waiting).await.unwrap(), Err(Error::Withdrawn)));
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn abort_of_a_query_that_runs_stops_its_turn_and_ends_its_cli() {
    let bench = Bench::new("stalled");
    let token = CancellationToken::new();
    let options = bench.options().interrupt_timeout(LIMIT).exit_grace(LIMIT);
    let mut asked = query("go", options).abort_on(token.clone());
    while !format!("{:?}", within(asked.next()).await).contains("half a") {}
    token.cancel();
    assert!(matches!(within(asked).await, Err(Error::NotStopped { .. })));
    bench.no_process_is_left().await;
}
