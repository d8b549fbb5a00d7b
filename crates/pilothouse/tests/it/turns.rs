//! Sends and results are not one to one: what each handle sees of it.

use pilothouse::proto::AgentFrame;
use pilothouse::{Error, Event, Prompt};

use crate::harness::{Bench, read, within};

fn results(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event.frame(), Some(AgentFrame::Result(_)))).count()
}

#[tokio::test]
async fn merged_sends_end_with_the_turn_that_took_them() {
    let bench = Bench::new("merge");
    let session = bench.connect().await;
    let first = session.send("one").await.unwrap();
    let second = session.send("two").await.unwrap();
    let third = session.send("three").await.unwrap();
    let third = tokio::spawn(read(third));
    let (events, result) = read(first).await;
    assert_eq!((result.unwrap().text(), results(&events)), ("one", 1));
    let (events, result) = read(second).await;
    assert_eq!((result.unwrap().text(), results(&events)), ("two", 1));
    let (events, result) = within(third).await.unwrap();
    assert_eq!((result.unwrap().text(), results(&events)), ("two", 1));
    within(session.idle()).await.unwrap();
    assert_eq!(session.usage().turns, 2);
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_send_that_an_older_cli_swallowed_ends_when_the_run_is_quiet() {
    let bench = Bench::new("inject");
    let session = bench.connect().await;
    let first = session.send("one").await.unwrap();
    let second = session.send("two").await.unwrap();
    assert_eq!(within(first).await.unwrap().text(), "both");
    assert_eq!(within(second).await.unwrap().text(), "both");
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn turns_of_the_cli_itself_arrive_as_turns() {
    let bench = Bench::new("self_started");
    let session = bench.connect().await;
    let mut own = session.own_turns();
    let mut also = session.own_turns();
    let asked = within(session.send("go").await.unwrap()).await.unwrap();
    assert_eq!(asked.text(), "asked");
    let (events, result) = read(within(own.next()).await.unwrap()).await;
    assert_eq!((result.unwrap().text(), results(&events)), ("by myself", 1));
    within(session.idle()).await.unwrap();
    let (same, result) = read(within(also.next()).await.unwrap()).await;
    assert_eq!((result.unwrap().text(), same.len()), ("by myself", events.len()));
    within(session.close()).await;
    assert!(within(own.next()).await.is_none());
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn all_events_go_by_beside_the_turns() {
    let bench = Bench::new("self_started");
    let session = bench.connect().await;
    let mut all = session.events();
    let (events, _) = read(session.send("go").await.unwrap()).await;
    assert_eq!(results(&events), 1);
    let mut seen = Vec::new();
    while results(&seen) < 2 {
        seen.push(within(all.next()).await.unwrap());
    }
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn handles_in_one_task_do_not_starve_each_other() {
    let bench = Bench::new("merge");
    let session = bench.connect().await;
    let first = session.send("one").await.unwrap();
    let second = session.send("two").await.unwrap();
    let third = session.send("three").await.unwrap();
    let joined = async { tokio::join!(third, first, second) };
    let (third, first, second) = within(joined).await;
    let texts = [first, second, third].map(|result| result.unwrap().text().to_owned());
    assert_eq!(texts, ["one", "two", "two"]);
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_dropped_turn_does_not_stop_the_next() {
    let bench = Bench::new("plain");
    let session = bench.connect().await;
    drop(session.send("one").await.unwrap());
    drop(session.send("two").await.unwrap());
    assert_eq!(within(session.send("three").await.unwrap()).await.unwrap().text(), "hello");
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn no_turn_stays_open_when_the_session_is_closed() {
    let bench = Bench::new("merge");
    let session = bench.connect().await;
    let waiting = session.send("one").await.unwrap();
    within(session.close()).await;
    let Err(Error::Ended(_)) = within(waiting).await else { panic!("the turn ended well") };
    let Err(Error::Ended(_)) = within(session.idle()).await else { panic!("a closed session became idle") };
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_message_that_is_taken_back_ends_its_turn() {
    let bench = Bench::new("withdraw");
    let session = bench.connect().await;
    let first = session.send("one").await.unwrap();
    let prompt = Prompt::new("two");
    let uuid = prompt.uuid().to_owned();
    let second = session.send(prompt).await.unwrap();
    assert!(within(session.cancel_message(uuid)).await.unwrap());
    assert!(matches!(within(second).await, Err(Error::Withdrawn)));
    assert_eq!(within(first).await.unwrap().text(), "one");
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_run_that_goes_idle_without_a_result_ends_its_turn() {
    let bench = Bench::new("no_result");
    let session = bench.connect().await;
    let (events, result) = read(session.send("go").await.unwrap()).await;
    assert_eq!(events.len(), 3);
    assert!(matches!(result, Err(Error::NoResult(_))));
    within(session.idle()).await.unwrap();
    within(session.close()).await;
    bench.no_process_is_left().await;
}
