//! A turn that failed is an error that keeps its result, whichever way it is awaited.

use std::error::Error as _;

use futures_util::future::join_all;
use futures_util::{FutureExt, StreamExt as _};
use pilothouse::proto::message::ResultSubtype;
use pilothouse::{Error, Session, SpawnError, query};
use serde_json::{Value, json};

use crate::harness::{Bench, within};

fn result(subtype: &str, is_error: bool, more: Value) -> Value {
    let mut frame = json!({
        "type": "result", "subtype": subtype, "is_error": is_error, "total_cost_usd": 0.25,
    });
    frame.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    frame
}

/// What the CLI says at the end of a turn, and what the error says; none for a turn that went well.
fn cases() -> Vec<(Value, Option<&'static str>)> {
    let errors = |text: &str| json!({"errors": [text]});
    vec![
        (result("success", false, json!({"result": "fine"})), None),
        (
            result("success", true, json!({"result": "Not logged in · Please run /login"})),
            Some("the CLI is not logged in: run `claude` and use /login, or set ANTHROPIC_API_KEY"),
        ),
        (
            result("error_max_turns", true, errors("Reached maximum number of turns (1)")),
            Some(
                "the turn stopped at the limit of `Options::max_turns`: Reached maximum number of turns (1)",
            ),
        ),
        (
            result("error_max_budget_usd", true, errors("Reached maximum budget ($1)")),
            Some("the turn stopped at the limit of `Options::max_budget_usd`: Reached maximum budget ($1)"),
        ),
        (
            result("error_max_structured_output_retries", true, errors("tried 5 times")),
            Some("the model gave no value that fits the schema: tried 5 times"),
        ),
        (
            result("success", true, json!({"result": "API Error: 500", "api_error_status": 500})),
            Some("the turn failed: API Error: 500"),
        ),
        (
            result("error_during_execution", true, json!({"terminal_reason": "aborted_tools"})),
            Some("the turn was interrupted"),
        ),
        (
            result("error_during_execution", false, json!({})),
            Some("the turn failed (error_during_execution)"),
        ),
        (result("error_of_tomorrow", false, json!({})), Some("the turn failed (error_of_tomorrow)")),
    ]
}

#[tokio::test]
async fn a_failed_turn_is_an_error_that_keeps_its_result() {
    let bench = Bench::new("as_told");
    for (frame, expected) in cases() {
        let session = bench.connect().await;
        let mut turn = session.send(json!([frame]).to_string()).await.unwrap();
        let awaited = within(&mut turn).await;
        let either_way = within(turn.result()).await.unwrap();
        assert_eq!(either_way.subtype.as_str(), frame["subtype"]);
        match (awaited, expected) {
            (Ok(result), None) => assert_eq!(result.text(), "fine"),
            (Err(Error::Turn(failed)), Some(text)) => {
                assert!(failed.to_string().starts_with(text), "{failed}");
                assert_eq!(failed.subtype().as_str(), frame["subtype"]);
                assert_eq!(failed.cost_usd(), 0.25);
                assert_eq!(failed.session_id(), either_way.session_id.as_str());
                assert_eq!(*failed.result(), either_way);
            }
            (awaited, expected) => panic!("{awaited:?}, not {expected:?}"),
        }
        within(session.close()).await;
    }
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_failed_query_is_an_error_and_its_cli_has_ended() {
    let bench = Bench::new("as_told");
    for (frame, expected) in cases() {
        let prompt = json!([frame]).to_string();
        let awaited = within(query(prompt.as_str(), bench.options())).await;
        bench.no_process_is_left().await;
        assert_eq!(
            awaited.as_ref().err().map(|error| matches!(error, Error::Turn(_))),
            expected.map(|_| true)
        );
        let either_way = within(query(prompt.as_str(), bench.options()).result()).await.unwrap();
        bench.no_process_is_left().await;
        assert_eq!(either_way.failure().is_some(), expected.is_some(), "{frame}");
    }
}

#[tokio::test]
async fn turns_and_queries_are_futures_that_join_and_streams_that_are_read() {
    let bench = Bench::new("plain");
    let session = bench.connect().await;
    let first = session.send("one").await.unwrap();
    let second = session.send("two").await.unwrap();
    let texts =
        within(join_all([first, second])).await.into_iter().map(|result| result.unwrap().text().to_owned());
    assert_eq!(texts.collect::<Vec<_>>(), ["hello", "hello"]);
    let events = within(session.send("three").await.unwrap().collect::<Vec<_>>()).await;
    // The state that the CLI declares behind a result may be read with the next turn.
    let tags = events.iter().map(|event| event.as_ref().unwrap().frame().unwrap().tag());
    assert_eq!(tags.filter(|tag| *tag != "system").collect::<Vec<_>>(), ["assistant", "result"]);
    let mapped = FutureExt::map(session.send("four").await.unwrap(), |result| result.is_ok());
    assert!(within(mapped).await);
    within(session.close()).await;
    let queries = within(join_all((0..2).map(|_| query("go", bench.options())))).await;
    assert!(queries.iter().all(|result| result.as_ref().is_ok_and(|result| result.text() == "hello")));
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_turn_gives_its_result_each_time_it_is_awaited() {
    let bench = Bench::new("plain");
    let mut asked = query("go", bench.options());
    while let Some(event) = within(asked.next()).await {
        event.unwrap();
    }
    for _ in 0..2 {
        assert_eq!(within(&mut asked).await.unwrap().text(), "hello");
    }
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_live_turn_keeps_the_session_and_its_cli() {
    let bench = Bench::new("plain");
    let session: Session = bench.connect().await;
    let turn = session.send("go").await.unwrap();
    drop(session);
    let mut turn = turn;
    assert_eq!(within(&mut turn).await.unwrap().text(), "hello");
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert!(bench.is_running(), "the turn is still there");
    drop(turn);
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_spawn_error_is_the_source_and_can_be_told_apart() {
    let bench = Bench::new("plain");
    let error = within(bench.options().cwd("/no/such/directory").connect()).await.unwrap_err();
    let source = error.source().unwrap().downcast_ref::<SpawnError>();
    assert!(
        matches!(source, Some(SpawnError::BadDirectory { cwd }) if cwd.ends_with("directory")),
        "{error}"
    );
}

#[test]
fn values_of_options_are_parsed_and_a_wrong_one_is_told_with_the_right_ones() {
    use pilothouse::{
        McpModeOverride, PermissionMode, PermissionPrompts, PreviewFormat, Priority, SettingSource,
    };
    assert_eq!("acceptEdits".parse(), Ok(PermissionMode::AcceptEdits));
    assert_eq!("auto".parse(), Ok(McpModeOverride::Auto));
    assert_eq!("later".parse::<Priority>().map(|priority| priority.to_string()), Ok("later".to_owned()));
    assert_eq!("local".parse(), Ok(SettingSource::Local));
    assert_eq!("none".parse(), Ok(PermissionPrompts::None));
    assert_eq!("html".parse(), Ok(PreviewFormat::Html));
    assert_eq!("error_max_turns".parse(), Ok(ResultSubtype::ErrorMaxTurns));
    let error = "accept".parse::<PermissionMode>().unwrap_err().to_string();
    assert_eq!(error, "`accept` is not one of default, acceptEdits, bypassPermissions, plan, dontAsk, auto");
    let error = "global".parse::<SettingSource>().unwrap_err().to_string();
    assert_eq!(error, "`global` is not one of user, project, local");
}
