use std::sync::Arc;

use pilothouse_proto::control::{GetSessionCost, SetModel, SetPermissionMode};
use pilothouse_proto::message::{ResultSubtype, TerminalReason};
use pilothouse_proto::system::Init;
use pilothouse_proto::{AgentFrame, PermissionMode, System};
use pilothouse_testkit::Turn;
use serde_json::json;

use crate::rig::Rig;

fn init(frames: &[AgentFrame]) -> &Init {
    let found = frames.iter().find_map(|frame| match frame {
        AgentFrame::System(System::Init(init)) => Some(&**init),
        _ => None,
    });
    found.expect("a turn begins with init")
}

#[tokio::test]
async fn a_turn_with_a_tool_runs_it_and_counts_it() {
    let write = |rig: &Rig| rig.sandbox.project().join("made.txt");
    let mut rig = Rig::new(&[], vec![]);
    let path = write(&rig);
    rig.api.push(Turn::tool("Write", json!({"file_path": path, "content": "made by the agent"})));
    rig.api.push(Turn::text("done"));
    rig.say("write it").await;
    let (frames, result) = rig.turn().await;
    assert_eq!(init(&frames).model, "claude-opus-5-5");
    assert_eq!(result.result.as_ref().map(String::as_str), Some("done"));
    assert_eq!(result.num_turns.as_ref(), Some(&2));
    assert_eq!(std::fs::read_to_string(path).unwrap(), "made by the agent");
    assert!(
        rig.host.request(GetSessionCost::default()).await.unwrap().text.as_ref().unwrap().contains("opus")
    );
    assert_eq!(rig.finish().await.code, 0);
}

#[tokio::test]
async fn a_change_holds_for_the_prompt_that_was_sent_after_it() {
    let mut rig = Rig::new(&[], vec![Turn::text("one"), Turn::text("two")]);
    for (mode, model, resolved) in
        [("acceptEdits", "haiku", "claude-haiku-5-5"), ("plan", "sonnet", "claude-sonnet-5-5")]
    {
        // Nothing is awaited in between: the prompt follows the requests in one breath.
        let set = SetPermissionMode { mode: PermissionMode::from(mode), extra: Default::default() };
        let mode_set = tokio::spawn({
            let host = rig.host.clone();
            async move { host.request(set).await }
        });
        tokio::task::yield_now().await;
        let model_set = tokio::spawn({
            let host = rig.host.clone();
            async move { host.request(SetModel { model: model.into(), ..SetModel::default() }).await }
        });
        tokio::task::yield_now().await;
        rig.say("go").await;
        let (frames, _) = rig.turn().await;
        assert_eq!(init(&frames).permission_mode.as_ref(), Some(&PermissionMode::from(mode)));
        assert_eq!(init(&frames).model, resolved);
        mode_set.await.unwrap().unwrap();
        model_set.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn structured_output_is_held_to_its_schema() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}"#;
    let bad = Turn::tool("StructuredOutput", json!({"a": "no number"}));
    let good = Turn::tool("StructuredOutput", json!({"a": 1}));
    let mut rig = Rig::new(&["--json-schema", schema], vec![bad, good]);
    rig.say("go").await;
    let (_, result) = rig.turn().await;
    assert_eq!(result.structured_output.as_deref(), Some(&json!({"a": 1})));
    assert_eq!(result.terminal_reason.as_ref(), Some(&TerminalReason::Completed));
}

#[tokio::test]
async fn structured_output_that_never_fits_is_an_error() {
    let schema = r#"{"type":"object","required":["a"]}"#;
    let bad = Turn::tool("StructuredOutput", json!({"b": 1})).times(5);
    let mut rig = Rig::new(&["--json-schema", schema], vec![bad]);
    rig.say("go").await;
    let (_, result) = rig.turn().await;
    assert_eq!(result.subtype, ResultSubtype::ErrorMaxStructuredOutputRetries);
    assert_eq!(rig.finish().await.code, 1);
}

#[tokio::test]
async fn a_session_goes_on_in_another_process() {
    let mut first = Rig::new(&[], vec![Turn::text("the word is heron")]);
    first.ask("what is the word?").await;
    let sandbox = first.sandbox.clone();
    assert_eq!(first.finish().await.code, 0);
    let mut second = Rig::in_home(Arc::clone(&sandbox), &["--continue"], vec![Turn::text("as I said")]);
    assert_eq!(second.ask("say it again").await, "as I said");
    let body = second.asked().last().unwrap().to_string();
    assert!(body.contains("the word is heron") && body.contains("what is the word?"), "{body}");
    let mut third = Rig::in_home(sandbox, &["--resume", "33333333-3333-4333-8333-333333333333"], vec![]);
    let (_, result) = third.turn().await;
    assert_eq!(result.subtype, ResultSubtype::ErrorDuringExecution);
    assert_eq!(third.finish().await.code, 1);
}

#[tokio::test]
async fn a_line_that_is_no_json_ends_the_process() {
    let rig = Rig::new(&[], vec![]);
    rig.host.send_raw("this is not json").await.unwrap();
    assert_eq!(rig.finish().await.code, 1);
}
