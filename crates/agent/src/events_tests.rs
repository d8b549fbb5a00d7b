use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pilothouse_link::{Connect, Event, Host, Inbound, Transport};
use pilothouse_proto::control::{Initialize, RegisterRepoRoot, SetModel, UpdateSettings};
use pilothouse_proto::{AgentFrame, AgentRequest, ContentBlock, Extra, HookEvent, HostFrame, User};
use serde_json::{Map, Value, json};

use crate::agent::{Agent, Options};
use crate::launch::{Command, Environment};
use crate::test_session::Scripted;

fn call(name: &str, input: Value) -> Vec<ContentBlock> {
    let block = json!({"type": "tool_use", "id": format!("toolu_{name}"), "name": name, "input": input});
    vec![pilothouse_proto::decode(block.to_string().as_bytes()).expect("a block")]
}

/// Plays a whole session whose host registers for every event, and sees which of them it hears of.
#[tokio::test]
async fn every_event_that_can_occur_is_told() {
    let home = tempfile::tempdir().expect("a directory");
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join("sub")).expect("directories");
    std::fs::create_dir_all(project.join(".claude/commands")).expect("directories");
    std::fs::write(project.join(".claude/commands/hi.md"), "Say hi.").expect("a command");
    std::fs::write(project.join("CLAUDE.md"), "Be brief.").expect("a memory file");
    let line = "--output-format stream-json --input-format stream-json --verbose --permission-prompt-tool stdio \
                --disallowed-tools Bash(rm:*) --tools Bash,Read,Agent,TaskCreate,TaskUpdate";
    let env: Environment =
        [("HOME", home.path().display().to_string()), ("PATH", std::env::var("PATH").unwrap_or_default())]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
    let Ok(Command::Run(launch)) = Command::read(line.split_whitespace(), &project, env) else { panic!() };
    let model: Arc<Scripted> = Arc::default();
    model.will_answer(vec![
        call("Bash", json!({"command": "cd sub"})),
        call("Bash", json!({"command": "ls nowhere"})),
        call("Bash", json!({"command": "rm x"})),
        call("Bash", json!({"command": "touch y"})),
        call("TaskCreate", json!({"subject": "s", "description": "d"})),
        call("TaskUpdate", json!({"taskId": "1", "status": "completed"})),
        call("Agent", json!({"description": "d", "prompt": "p", "run_in_background": false})),
        vec![ContentBlock::text("the report")],
        vec![ContentBlock::text("done")],
        vec![ContentBlock::text("hi")],
        vec![ContentBlock::text("<summary>a summary</summary>")],
    ]);
    let (here, there) = Transport::memory();
    let agent = Agent::start(*launch, there, model, Options::default());
    let heard: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let hears = heard.clone();
    let serve = move |inbound: Inbound<Host>| match &inbound.request {
        AgentRequest::HookCallback(callback) => {
            hears.lock().unwrap().insert(callback.callback_id.clone());
            inbound.responder.success(&json!({}));
        }
        _ => inbound.responder.success(&json!({"behavior": "allow"})),
    };
    let (host, mut events) = Connect::<Host>::new().serve(serve).over(here);
    let matchers = |event: &&str| {
        let matcher = pilothouse_proto::hook::HookCallbackMatcher {
            hook_callback_ids: vec![(*event).to_owned()],
            ..Default::default()
        };
        (HookEvent::from(*event), vec![matcher])
    };
    let hooks = HookEvent::KNOWN.iter().map(matchers).collect();
    let initialize = Initialize { hooks: Some(hooks).into(), ..Initialize::default() };
    host.request(initialize).await.expect("an answer");
    for prompt in ["go", "/hi", "/compact", "/clear"] {
        host.send(&HostFrame::User(Box::new(User::prompt(prompt)))).await.expect("sent");
        let result = async {
            while let Some(event) = events.next().await {
                if let Event::Frame { frame: AgentFrame::Result(_), .. } = event {
                    return;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(60), result).await.expect("a result in time");
    }
    host.request(SetModel { model: Some("haiku".to_owned()).into(), ..SetModel::default() })
        .await
        .expect("set");
    let settings = Map::from_iter([("effortLevel".to_owned(), json!("low"))]);
    let update = UpdateSettings { source: "userSettings".into(), settings, extra: Extra::new() };
    host.request(update).await.expect("written");
    let wanted = RegisterRepoRoot { directory: "sub".to_owned(), ..RegisterRepoRoot::default() };
    host.request(wanted).await.expect("registered");
    let are_told = || {
        let heard = heard.lock().unwrap();
        heard.contains("ConfigChange") && heard.contains("DirectoryAdded")
    };
    let told = async {
        while !are_told() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), told)
        .await
        .expect("nobody waits for these hooks, but they are told");
    host.end_input();
    assert_eq!(agent.finished().await.code, 0);
    let expected: BTreeSet<String> = [
        "ConfigChange",
        "CwdChanged",
        "DirectoryAdded",
        "InstructionsLoaded",
        "MessageDisplay",
        "PermissionRequest",
        "PostCompact",
        "PostModelSwitch",
        "PostToolBatch",
        "PostToolUse",
        "PostToolUseFailure",
        "PreCompact",
        "PreModelSwitch",
        "PreToolUse",
        "SessionEnd",
        "SessionStart",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "TaskCompleted",
        "TaskCreated",
        "UserPromptExpansion",
        "UserPromptSubmit",
    ]
    .map(str::to_owned)
    .into();
    assert_eq!(*heard.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_failed_turn_is_told() {
    let answers = Box::new(|_: &AgentRequest| Some(Ok(json!({}))));
    let test = crate::test_session::TestSession::new(&[], &[], answers);
    test.session.hooks().register(&json!({"StopFailure": [{"hookCallbackIds": ["h"]}]})).expect("good hooks");
    test.session.tell_of_failure("rate_limit".into(), "too much").await;
    let asked = test.asked.lock().unwrap();
    assert_eq!(asked[0]["input"]["hook_event_name"], "StopFailure");
    assert_eq!(
        (&asked[0]["input"]["error"], &asked[0]["input"]["error_details"]),
        (&json!("rate_limit"), &json!("too much"))
    );
}
