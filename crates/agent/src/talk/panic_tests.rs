//! A panic inside a tool, a subagent or a turn ends in an answer: nobody waits for a task that is gone.

use std::time::Duration;

use pilothouse_tools::Input;
use serde_json::json;

use super::*;
use crate::stop::StopSignal;
use crate::test_session::{TestSession, is_probe};
use crate::tool::{Ran, Working};

/// How long a turn may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where a tool panics.
#[derive(Clone, Copy, Debug)]
enum At {
    /// Before there is a future.
    Call,
    /// In its future, after a pause.
    Work,
    /// When it is asked which files it touches.
    Touches,
}

struct Panics(At);

impl AgentTool for Panics {
    fn name(&self) -> &str {
        "Panics"
    }

    fn description(&self) -> String {
        String::new()
    }

    fn input_schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn runs_in_parallel(&self, _: &Input) -> bool {
        true
    }

    fn touches(&self, _: &Input, _: &Session) -> Vec<std::path::PathBuf> {
        if matches!(self.0, At::Touches) {
            panic!("out of order");
        }
        Vec::new()
    }

    fn run<'a>(&'a self, _: &'a ToolCall, _: &'a Arc<Session>) -> Working<'a> {
        if matches!(self.0, At::Call) {
            panic!("out of order");
        }
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            out_of_order()
        })
    }
}

fn out_of_order() -> Ran {
    panic!("out of order")
}

fn session() -> TestSession {
    let answers = Box::new(|request: &pilothouse_proto::AgentRequest| {
        let behavior = if is_probe(request) { "cancelled" } else { "allow" };
        Some(Ok(json!({"behavior": behavior})))
    });
    TestSession::new(&[], &[], answers)
}

fn call(name: &str, id: &str, input: Value) -> ContentBlock {
    let block = json!({"type": "tool_use", "id": id, "name": name, "input": input});
    pilothouse_proto::decode(block.to_string().as_bytes()).expect("a block")
}

/// A conversation of its own in the session.
fn talk(test: &TestSession, tools: Vec<Arc<dyn AgentTool>>) -> Talk {
    test.session.history().add_user(vec![ContentBlock::text("go")]);
    Talk {
        session: test.session.clone(),
        history: test.session.history().clone(),
        voice: Voice::main(&test.session, Vec::new()),
        prompts: Vec::new(),
        echoes: Vec::new(),
        tools,
        limits: Limits { rounds: None, structured: false },
        stop: StopSignal::default(),
        request: Box::new(|| Request::new("a-model")),
    }
}

#[tokio::test]
async fn a_tool_that_panics_gives_an_error_result_and_the_turn_goes_on() {
    for at in [At::Call, At::Work, At::Touches] {
        let test = session();
        let calls = vec![call("Panics", "toolu_1", json!({})), call("Panics", "toolu_2", json!({}))];
        test.will_answer(vec![calls, vec![ContentBlock::text("went on")]]);
        let said = tokio::time::timeout(PATIENCE, talk(&test, vec![Arc::new(Panics(at))]).run()).await;
        let said = said.unwrap_or_else(|_| panic!("the turn hangs: {at:?}"));
        assert_eq!((said.end, said.text.as_str()), (End::Completed, "went on"), "{at:?}");
        let frames = test.frames().await;
        let results: Vec<&Value> = frames
            .iter()
            .filter(|frame| frame["type"] == "user")
            .map(|frame| &frame["message"]["content"][0])
            .collect();
        assert_eq!(results.len(), 2, "{at:?}: {frames:?}");
        for result in results {
            assert_eq!(result["is_error"], true, "{at:?}");
            let text = result["content"].as_str().unwrap_or_default();
            assert!(text.contains("Panics") && text.contains("out of order"), "{at:?}: {text}");
        }
        let asked = test.model.asked.lock().unwrap();
        let history = serde_json::to_string(&asked[1].messages).expect("json");
        assert_eq!(history.matches("tool_result").count(), 2, "{at:?}: {history}");
    }
}

#[tokio::test]
async fn an_interrupt_while_a_tool_panics_ends_the_turn() {
    let test = session();
    test.will_answer(vec![vec![call("Panics", "toolu_1", json!({}))]]);
    let talk = talk(&test, vec![Arc::new(Panics(At::Work))]);
    let stop = talk.stop.clone();
    stop.fire(crate::machine::Stop::Interrupt);
    stop.tell();
    let said = tokio::time::timeout(PATIENCE, talk.run()).await.expect("the turn ends");
    assert!(matches!(said.end, End::AbortedStreaming | End::AbortedTools), "{:?}", said.end);
}

#[tokio::test]
async fn a_subagent_that_panics_is_a_failed_call() {
    let test = session();
    let input = json!({"description": "d", "prompt": "p", "run_in_background": false});
    test.will_answer(vec![vec![call("Agent", "toolu_1", input)]]);
    test.model.will_panic();
    test.will_say(&["went on"]);
    let tools: Vec<Arc<dyn AgentTool>> = vec![Arc::new(crate::subagents::Agent)];
    let said = tokio::time::timeout(PATIENCE, talk(&test, tools).run()).await.expect("the turn ends");
    assert_eq!(said.text, "went on");
    let frames = test.frames().await;
    let failed = frames.iter().find(|frame| frame["message"]["content"][0]["type"] == "tool_result");
    assert_eq!(failed.expect("a result")["message"]["content"][0]["is_error"], true);
    let over = frames.iter().find(|frame| frame["subtype"] == "task_notification").expect("its end is told");
    assert_eq!(over["status"], "failed");
}

#[tokio::test]
async fn a_subagent_in_the_background_that_panics_is_told_as_failed() {
    let test = session();
    let mut prompts = test.session.take_own_prompts().expect("the prompts of the session");
    test.model.will_panic();
    let input = json!({"description": "d", "prompt": "p"});
    let call = test.call("Agent", input);
    crate::subagents::Agent.run(&call, &test.session).await;
    let prompt = tokio::time::timeout(PATIENCE, prompts.recv()).await.expect("in time").expect("a prompt");
    assert!(prompt.frame.text().contains("<status>failed</status>"), "{:?}", prompt.frame.text());
}
