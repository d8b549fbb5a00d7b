//! Sessions that outlive their process.

use std::sync::Arc;

use pilothouse::session_store::InMemoryStore;
use pilothouse_testkit::Turn;

use super::stage::{Stage, ask};

#[tokio::test]
async fn resume_goes_on_under_the_same_id() {
    let Some(stage) = Stage::open([Turn::text("a first answer"), Turn::text("a second answer")]) else {
        return;
    };
    let session = stage.connect(stage.options()).await.expect("connect");
    let first = ask(&session, "a first question").await.session_id.clone();
    session.close().await;
    let session = stage.connect(stage.options().resume(first.to_string())).await.expect("connect");
    let second = ask(&session, "a second question").await;
    assert_eq!(second.session_id, first);
    assert_history(&stage, &["a first question", "a first answer", "a second question"]);
    stage.close(session).await;
}

#[tokio::test]
async fn fork_leaves_the_first_session_as_it_was() {
    let Some(stage) =
        Stage::open([Turn::text("a first answer"), Turn::text("forked"), Turn::text("resumed")])
    else {
        return;
    };
    let session = stage.connect(stage.options()).await.expect("connect");
    let first = ask(&session, "a first question").await.session_id.clone();
    session.close().await;
    let fork =
        stage.connect(stage.options().resume(first.to_string()).fork_session()).await.expect("connect");
    let second = ask(&fork, "in the fork").await;
    assert_ne!(second.session_id, first);
    assert_history(&stage, &["a first question", "in the fork"]);
    fork.close().await;
    let session = stage.connect(stage.options().resume(first.to_string())).await.expect("connect");
    ask(&session, "in the original").await;
    let history = stage.api.main_calls()[2].conversation();
    assert!(history.contains("a first question") && !history.contains("in the fork"), "{history}");
    stage.close(session).await;
}

#[tokio::test]
async fn continue_takes_the_newest_session_of_the_project() {
    let Some(stage) = Stage::open([Turn::text("old"), Turn::text("newest"), Turn::text("on")]) else {
        return;
    };
    for question in ["the older one", "the newest one"] {
        let session = stage.connect(stage.options()).await.expect("connect");
        ask(&session, question).await;
        session.close().await;
    }
    let session = stage.connect(stage.options().continue_latest()).await.expect("connect");
    ask(&session, "and now").await;
    assert_history(&stage, &["the newest one", "and now"]);
    assert!(!stage.api.main_calls()[2].conversation().contains("the older one"));
    stage.close(session).await;
}

#[tokio::test]
async fn a_session_that_does_not_exist_is_an_error_that_says_so() {
    let Some(stage) = Stage::open([]) else { return };
    let missing = "11111111-1111-4111-8111-111111111111";
    let error = match stage.connect(stage.options().resume(missing)).await {
        Ok(_) => panic!("there was nothing to resume"),
        Err(error) => error.to_string(),
    };
    assert!(error.contains(missing), "{error}");
    assert!(stage.api.calls().is_empty());
    stage.nothing_left().await;
}

fn assert_history(stage: &Stage, wanted: &[&str]) {
    let calls = stage.api.main_calls();
    let history = calls.last().expect("a call").conversation();
    for said in wanted {
        assert!(history.contains(said), "{said} is missing in {history}");
    }
}

#[tokio::test]
async fn a_session_comes_back_from_a_store_when_its_files_are_gone() {
    let Some(stage) = Stage::open_process([Turn::text("a first answer"), Turn::text("a second answer")])
    else {
        return;
    };
    let store = Arc::new(InMemoryStore::default());
    let options = || stage.options().session_store(store.clone());
    let session = stage.connect(options()).await.expect("connect");
    let first = ask(&session, "a first question").await.session_id.clone();
    session.close().await;
    assert_eq!(store.keys().len(), 1, "{:?}", store.keys());
    std::fs::remove_dir_all(stage.sandbox.config().join("projects")).expect("the CLI's own transcripts");
    let session = stage.connect(options().resume(first.to_string())).await.expect("connect");
    let second = ask(&session, "a second question").await;
    assert_eq!(second.session_id, first);
    assert_history(&stage, &["a first question", "a first answer", "a second question"]);
    stage.close(session).await;
}
