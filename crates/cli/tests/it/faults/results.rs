//! Results that are late, missing or one too many.

use super::rig::{Rig, read, within};

#[tokio::test]
async fn an_api_that_recovers_is_a_good_result() {
    let rig = Rig::new("api-errors");
    let played = rig.play(rig.options()).await;
    assert_eq!(played.result.text(), "here I am");
    assert!(played.result.failure().is_none());
    // The answer that broke off is asked for again without a word.
    assert_eq!(played.lines("system", "api_retry").len(), 3);
}

#[tokio::test]
async fn a_result_that_comes_twice_ends_one_turn() {
    let rig = Rig::new("duplicate-result");
    let session = rig.connect().await;
    let first = within(within(session.send("one")).await.unwrap()).await.unwrap();
    let second = within(within(session.send("two")).await.unwrap()).await.unwrap();
    assert_eq!((first.text(), second.text()), ("counted twice", "counted twice"));
    assert_ne!(first.uuid, second.uuid, "the second turn has a result of its own");
    within(session.close()).await;
    rig.no_process_is_left().await;
}

#[tokio::test]
async fn a_turn_without_a_result_does_not_stay_open() {
    let rig = Rig::new("missing-result");
    let session = rig.connect().await;
    let (events, result) = read(within(session.send("one")).await.unwrap()).await;
    assert!(!events.is_empty());
    assert!(result.is_err(), "{result:?}");
    let second = within(within(session.send("two")).await.unwrap()).await.unwrap();
    assert_eq!(second.text(), "no result will come of this");
    within(session.close()).await;
    rig.no_process_is_left().await;
}

#[tokio::test]
async fn a_stall_is_waited_for() {
    let rig = Rig::new("stall-in-mid-turn");
    assert_eq!(rig.play(rig.options()).await.result.text(), "give me a moment");
}
