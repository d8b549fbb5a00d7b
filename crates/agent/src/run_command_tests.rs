use pilothouse_proto::AgentFrame;
use serde_json::json;

use super::*;
use crate::test_session::{TestSession, is_probe};

fn session() -> TestSession {
    let answers = Box::new(|request: &pilothouse_proto::AgentRequest| {
        Some(Ok(match is_probe(request) {
            true => json!({"behavior": "cancelled"}),
            false => json!({"behavior": "allow"}),
        }))
    });
    TestSession::new(&[], &[], answers)
}

async fn run(test: &TestSession, input: Value, meanwhile: impl Future<Output = ()>) -> Ran {
    let tool = RunCommand::new(test.session.background(), true, CommandLimits::default());
    let call = test.call("Bash", input);
    let (ran, ()) = tokio::join!(tool.run(&call, &test.session), meanwhile);
    ran
}

fn short(frames: &[Value]) -> Vec<String> {
    frames.iter().map(|frame| frame["subtype"].as_str().unwrap_or_default().to_owned()).collect()
}

fn values(frames: &[AgentFrame]) -> Vec<Value> {
    frames.iter().map(|frame| serde_json::to_value(frame).expect("json")).collect()
}

/// Waits until a task has begun, and gives its id.
async fn begun(test: &TestSession) -> String {
    loop {
        let frames = test.frames().await;
        if let Some(started) = frames.iter().find(|frame| frame["subtype"] == "task_started") {
            return started["task_id"].as_str().expect("an id").to_owned();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_command_is_a_task_from_the_third_second_on() {
    let test = session();
    run(&test, json!({"command": "sleep 0.1"}), async {}).await;
    assert_eq!(test.frames().await.len(), 0, "a short one is not spoken of");
    for (command, status) in [("sleep 3.3", "completed"), ("sleep 3.3; exit 3", "failed")] {
        let test = session();
        let ran = run(&test, json!({"command": command, "description": "run it"}), async {}).await;
        let frames = test.frames().await;
        assert_eq!(short(&frames), ["task_started"]);
        assert_eq!(frames[0]["is_backgrounded"], false);
        assert_eq!(frames[0]["description"], "run it");
        let before = values(&ran.before);
        assert_eq!(short(&before), ["task_notification"]);
        assert_eq!((&before[0]["status"], &before[0]["output_file"]), (&json!(status), &json!("")));
        assert!(!test.session.to_background(None), "nothing is left");
    }
}

#[tokio::test]
async fn a_command_that_takes_long_can_go_on_in_the_background() {
    let test = session();
    let ran = run(&test, json!({"command": "sleep 29"}), async {
        begun(&test).await;
        assert!(test.session.to_background(None));
    })
    .await;
    let Outcome::Done(done) = &ran.outcome else { panic!("{:?}", ran.outcome) };
    let frames = test.frames().await;
    assert_eq!(short(&frames), ["task_started", "background_tasks_changed", "task_updated"]);
    assert_eq!(frames[2]["patch"], json!({"is_backgrounded": true}));
    assert_eq!(done.structured["backgroundTaskId"], frames[0]["task_id"]);
    assert!(ran.before.is_empty());
    assert_eq!(test.session.background().tasks().len(), 1);
    assert!(test.session.has_background_work());
    test.session.end_background_work();
    let frames = test.frames().await;
    assert_eq!(short(&frames)[3..], ["task_updated", "task_notification", "background_tasks_changed"]);
    assert_eq!(frames[4]["status"], "stopped");
}

#[tokio::test]
async fn a_command_whose_time_is_up_is_told_to_go_on() {
    let test = session();
    let ran = run(&test, json!({"command": ": ; sleep 29", "timeout": 3500}), async {}).await;
    assert!(matches!(ran.outcome, Outcome::Done(_)), "{:?}", ran.outcome);
    let told = short(&test.frames().await);
    assert_eq!(told, ["task_started", "background_tasks_changed", "task_updated"]);
}

#[tokio::test]
async fn one_that_begins_by_waiting_is_ended_when_its_time_is_up() {
    for command in ["sleep 9", "  sleep 9 && echo x", "sleep 9; echo x"] {
        let test = session();
        let ran = run(&test, json!({"command": command, "timeout": 200}), async {}).await;
        let Outcome::Failed { message, .. } = &ran.outcome else { panic!("{command}: {:?}", ran.outcome) };
        assert!(message.starts_with("Exit code 143\n"), "{command}: {message}");
        assert!(!test.session.has_background_work(), "{command}");
    }
    for command in ["/bin/sleep 9", "X=1 sleep 9", "sleepy() { sleep 9; }; sleepy"] {
        let test = session();
        let ran = run(&test, json!({"command": command, "timeout": 200}), async {}).await;
        assert!(matches!(ran.outcome, Outcome::Done(_)), "{command}: {:?}", ran.outcome);
        test.session.end_background_work();
    }
}

#[tokio::test]
async fn a_host_can_end_what_a_call_waits_for() {
    let test = session();
    let ran = run(&test, json!({"command": "echo so far; sleep 30"}), async {
        let id = begun(&test).await;
        assert!(!test.session.end_in_foreground("nobody"));
        assert!(test.session.end_in_foreground(&id));
    })
    .await;
    let Outcome::Failed { message, .. } = &ran.outcome else { panic!("{:?}", ran.outcome) };
    assert!(message.ends_with("[killed]"), "{message}");
    assert!(ran.before.is_empty(), "the host has heard of it");
    let frames = test.frames().await;
    assert_eq!(short(&frames), ["task_started", "task_updated", "task_notification"]);
    assert_eq!(frames[1]["patch"]["status"], "killed");
}

#[tokio::test]
async fn where_background_work_is_switched_off_time_is_the_end() {
    let test = session();
    let tool = RunCommand::new(test.session.background(), false, CommandLimits::default());
    assert_eq!(tool.input_schema()["properties"].get("run_in_background"), None);
    let call = test.call("Bash", json!({"command": "echo so far; sleep 30", "timeout": 300}));
    let ran = tool.run(&call, &test.session).await;
    let Outcome::Failed { message, .. } = &ran.outcome else { panic!("{:?}", ran.outcome) };
    assert!(message.starts_with("Exit code 143\n") && message.ends_with("\nso far"), "{message}");
    assert_eq!(test.frames().await.len(), 0);
}
