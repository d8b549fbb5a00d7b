use std::time::Duration;

use pilothouse_proto::ContentBlock;
use serde_json::json;

use super::*;
use crate::test_session::{TestSession, is_probe};

const FILES: [(&str, &str); 1] = [(
    "project/.claude/agents/helper.md",
    "---\nname: helper\ndescription: helps\ntools: Read, Bash\nmodel: haiku\n---\nYou help.\n",
)];

fn session(flags: &[&str]) -> TestSession {
    let answers = Box::new(|request: &pilothouse_proto::AgentRequest| {
        let answer = match request {
            request if is_probe(request) => json!({"behavior": "cancelled"}),
            pilothouse_proto::AgentRequest::HookCallback(_) => {
                json!({"hookSpecificOutput": {"hookEventName": "SubagentStart", "additionalContext": "FROM A HOOK"}})
            }
            _ => json!({"behavior": "allow"}),
        };
        Some(Ok(answer))
    });
    TestSession::new(flags, &FILES, answers)
}

fn task(more: Value) -> Value {
    let mut input = json!({"description": "sub job", "prompt": "do it"});
    for (name, value) in more.as_object().into_iter().flatten() {
        input[name] = value.clone();
    }
    input
}

/// Frames in a word each; those of the subagent are marked.
fn short(frames: &[Value]) -> Vec<String> {
    let word = |frame: &Value| {
        let kind = frame["subtype"].as_str().or(frame["type"].as_str()).unwrap_or_default();
        let sub = if frame["parent_tool_use_id"].is_string() { "^" } else { "" };
        let block = frame["message"]["content"][0]["type"].as_str().map(|block| format!("[{block}]"));
        format!("{kind}{sub}{}", block.unwrap_or_default())
    };
    frames.iter().map(word).collect()
}

fn call_of(name: &str, input: Value) -> Vec<ContentBlock> {
    let block = json!({"type": "tool_use", "id": "toolu_9", "name": name, "input": input});
    vec![pilothouse_proto::decode(block.to_string().as_bytes()).expect("a block")]
}

#[tokio::test]
async fn in_the_foreground_the_report_is_the_result() {
    for (flags, words) in [(&[][..], false), (&["--forward-subagent-text"][..], true)] {
        let test = session(flags);
        test.will_answer(vec![
            call_of("Bash", json!({"command": "echo s1"})),
            vec![ContentBlock::text("found it")],
        ]);
        let input = task(json!({"run_in_background": false}));
        let ran = Agent.run(&test.call("Agent", input), &test.session).await;
        let Outcome::Done(done) = &ran.outcome else { panic!("{:?}", ran.outcome) };
        assert_eq!(done.content, json!([{"type": "text", "text": "found it"}]));
        assert_eq!(done.structured["status"], "completed");
        assert_eq!(done.structured["totalToolUseCount"], 1);
        let mut expected = vec![
            "task_started",
            "user^[text]",
            "task_progress",
            "assistant^[tool_use]",
            "user^[tool_result]",
        ];
        expected.extend(words.then_some("assistant^[text]"));
        expected.extend(["task_updated", "task_notification"]);
        let frames = test.frames().await;
        assert_eq!(short(&frames), expected);
        assert_eq!(frames[0]["is_backgrounded"], false);
        assert_eq!(frames[1]["parent_tool_use_id"], "toolu_1");
        assert_eq!(frames[1]["agent_id"], frames[0]["task_id"]);
        assert_eq!(frames[2]["description"], "Running echo s1");
        assert_eq!(frames[4].get("tool_use_result"), None);
    }
}

#[tokio::test]
async fn an_agent_without_turns_left_reports_how_far_it_came() {
    let few = json!({"few": {"description": "d", "prompt": "p", "maxTurns": 2}}).to_string();
    let test = session(&["--agents", &few]);
    test.will_answer(vec![
        call_of("Bash", json!({"command": "echo s1"})),
        call_of("Bash", json!({"command": "echo s2"})),
        vec![ContentBlock::text("nobody hears this")],
    ]);
    let input = task(json!({"run_in_background": false, "subagent_type": "few"}));
    let ran = Agent.run(&test.call("Agent", input), &test.session).await;
    let Outcome::Done(done) = &ran.outcome else { panic!("{:?}", ran.outcome) };
    let report = done.content[0]["text"].as_str().expect("a text");
    assert!(report.contains("2 turns") && report.contains("reported nothing"), "{report}");
    assert_eq!(done.structured["status"], "completed");
    assert_eq!(done.structured["totalToolUseCount"], 2);
}

#[tokio::test]
async fn a_task_without_words_is_handed_on_as_it_is() {
    let test = session(&[]);
    test.will_say(&["nothing to do"]);
    let input = json!({"description": "", "prompt": "", "run_in_background": false});
    let ran = Agent.run(&test.call("Agent", input), &test.session).await;
    let Outcome::Done(done) = &ran.outcome else { panic!("{:?}", ran.outcome) };
    assert_eq!(done.structured["prompt"], "");
    let frames = test.frames().await;
    assert_eq!(frames[1]["message"]["content"][0]["text"], "(no content)");
}

#[tokio::test]
async fn in_the_background_the_end_is_told_later_and_becomes_a_prompt() {
    let test = session(&[]);
    test.will_say(&["found it"]);
    let mut prompts = test.session.take_own_prompts().expect("the prompts of the session");
    let ran = Agent.run(&test.call("Task", task(json!({}))), &test.session).await;
    let Outcome::Done(done) = &ran.outcome else { panic!("{:?}", ran.outcome) };
    assert_eq!(done.structured["status"], "async_launched");
    let prompt = tokio::time::timeout(Duration::from_secs(10), prompts.recv())
        .await
        .expect("in time")
        .expect("a prompt");
    assert!(prompt.frame.text().contains("<status>completed</status>"), "{:?}", prompt.frame.text());
    let frames = test.frames().await;
    let expected = [
        "background_tasks_changed",
        "task_started",
        "assistant^[text]",
        "task_updated",
        "task_notification",
        "background_tasks_changed",
    ];
    assert_eq!(short(&frames), expected);
    assert_eq!(frames[4]["summary"], "found it");
    let file = frames[4]["output_file"].as_str().expect("a file");
    assert_eq!(std::fs::read_to_string(file).expect("the report"), "found it");
    assert_eq!(frames[5]["tasks"], json!([]));
}

#[tokio::test]
async fn an_agent_has_its_own_prompt_model_tools_and_transcript() {
    let test =
        session(&["--agents", r#"{"mine": {"description": "d", "prompt": "BE MINE", "tools": ["Read"]}}"#]);
    let hook = json!({"SubagentStart": [{"matcher": "helper", "hookCallbackIds": ["h"]}]});
    test.session.hooks().register(&hook).expect("good hooks");
    for (kind, system, model, tools, contexts) in [
        ("helper", "You help.", "claude-haiku", Some(&["Bash", "Read"][..]), 1),
        ("mine", "BE MINE", "claude-", Some(&["Read"][..]), 0),
        ("general-purpose", "You are a subagent", "claude-", None, 0),
    ] {
        test.will_say(&["done"]);
        let input = task(json!({"run_in_background": false, "subagent_type": kind}));
        let ran = Agent.run(&test.call("Agent", input), &test.session).await;
        assert!(matches!(ran.outcome, Outcome::Done(_)), "{:?}", ran.outcome);
        let asked = test.model.asked.lock().unwrap().pop().expect("a request");
        assert!(asked.system[0].text.starts_with(system), "{kind}: {}", asked.system[0].text);
        assert!(asked.model.starts_with(model), "{kind}: {}", asked.model);
        let offered: Vec<&str> = asked.tools.iter().map(|tool| tool.name()).collect();
        if let Some(tools) = tools {
            assert_eq!(offered, tools, "{kind}");
        }
        assert_eq!(offered.contains(&"Agent"), tools.is_none(), "{kind}: {offered:?}");
        assert!(!offered.contains(&"AskUserQuestion"), "{offered:?}");
        assert_eq!(asked.messages.len(), 1);
        assert_eq!(asked.messages[0].content.blocks().len(), 1 + contexts, "{kind}");
    }
    let general = Kind::find(&test.session, GENERAL).expect("our own");
    assert!(general.may_use("Agent", 1) && !general.may_use("Agent", super::super::kind::DEEPEST));
    let folder = test.session.transcript_path().with_extension("").join("subagents");
    let files = std::fs::read_dir(&folder).expect("transcripts").filter_map(Result::ok);
    let names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(names.iter().filter(|name| name.ends_with(".jsonl")).count(), 3, "{names:?}");
    assert_eq!(names.iter().filter(|name| name.ends_with(".meta.json")).count(), 3, "{names:?}");
}

#[tokio::test]
async fn what_cannot_be_started_is_said() {
    let test = session(&[]);
    for (input, part) in [
        (
            task(json!({"subagent_type": "nobody"})),
            "there is no agent of the type nobody; the types are: helper, ",
        ),
        (json!({"description": "x"}), "`prompt` must say"),
        (json!({"description": "x", "prompt": 7}), "`prompt` must say"),
        (task(json!({"subagent_type": ""})), "there is no agent of the type ;"),
    ] {
        let ran = Agent.run(&test.call("Agent", input.clone()), &test.session).await;
        let Outcome::Failed { message, misuse: true } = ran.outcome else { panic!("{:?}", ran.outcome) };
        assert!(message.contains(part), "{input}: {message}");
    }
}

#[tokio::test]
async fn stopping_ends_it_and_its_end_is_told_after_the_result() {
    let test = session(&[]);
    let call = test.call("Agent", task(json!({"run_in_background": false})));
    let stop = async {
        while test.model.asked.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        call.stop.cancel();
    };
    let (ran, ()) = tokio::join!(Agent.run(&call, &test.session), stop);
    assert!(matches!(ran.outcome, Outcome::Stopped { .. }), "{:?}", ran.outcome);
    let after: Vec<Value> =
        ran.after.iter().map(|frame| serde_json::to_value(frame).expect("json")).collect();
    assert_eq!(short(&after), ["task_updated", "task_notification"]);
    assert_eq!((&after[0]["patch"]["status"], &after[1]["status"]), (&json!("killed"), &json!("stopped")));
    assert_eq!(short(&test.frames().await), ["task_started", "user^[text]"]);
}

#[tokio::test]
async fn a_background_agent_can_be_stopped_by_its_id() {
    let test = session(&[]);
    let mut prompts = test.session.take_own_prompts().expect("the prompts of the session");
    let ran = Agent.run(&test.call("Agent", task(json!({}))), &test.session).await;
    let Outcome::Done(done) = &ran.outcome else { panic!("{:?}", ran.outcome) };
    let id = done.structured["agentId"].as_str().expect("an id").to_owned();
    assert!(!test.session.running_agents().stop("nobody", Silence::ForGood));
    assert!(test.session.running_agents().stop(&id, Silence::ButForTheModel));
    let prompt = tokio::time::timeout(Duration::from_secs(10), prompts.recv())
        .await
        .expect("in time")
        .expect("a prompt");
    assert!(prompt.frame.text().contains("<status>stopped</status>"), "{:?}", prompt.frame.text());
    assert!(!test.session.running_agents().stop(&id, Silence::ButForTheModel));
}

#[tokio::test]
async fn one_that_a_call_waits_for_can_go_on_in_the_background() {
    let test = session(&[]);
    let mut prompts = test.session.take_own_prompts().expect("the prompts of the session");
    test.will_answer(vec![
        call_of("Bash", json!({"command": "sleep 0.5"})),
        vec![ContentBlock::text("found it")],
    ]);
    let call = test.call("Agent", task(json!({"run_in_background": false})));
    assert!(!test.session.to_background(None), "nothing is there to let go");
    let let_go = async {
        while test.model.asked.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(!test.session.to_background(Some("toolu_other")));
        assert!(test.session.to_background(Some(call.id.as_str())));
        assert!(!test.session.to_background(None), "it has gone");
    };
    let (ran, ()) = tokio::join!(Agent.run(&call, &test.session), let_go);
    let Outcome::Done(done) = &ran.outcome else { panic!("{:?}", ran.outcome) };
    assert_eq!(done.structured["status"], "async_launched");
    // An interrupt of the turn that it began in is none of its business any more.
    call.stop.cancel();
    let prompt = tokio::time::timeout(Duration::from_secs(10), prompts.recv()).await.expect("in time");
    assert!(prompt.expect("a prompt").frame.text().contains("found it"));
    let frames = test.frames().await;
    let moved = frames.iter().find(|frame| frame["patch"]["is_backgrounded"] == true).expect("told");
    assert_eq!(moved["task_id"], done.structured["agentId"]);
    let words: Vec<String> = short(&frames);
    assert_eq!(
        words[words.len() - 4..],
        ["assistant^[text]", "task_updated", "task_notification", "background_tasks_changed"]
    );
    assert_eq!(words.iter().filter(|word| *word == "background_tasks_changed").count(), 2, "{words:?}");
}

#[tokio::test]
async fn an_interrupt_takes_background_agents_along_and_leaves_no_prompt() {
    let test = session(&[]);
    let mut prompts = test.session.take_own_prompts().expect("the prompts of the session");
    Agent.run(&test.call("Agent", task(json!({}))), &test.session).await;
    assert!(test.session.has_background_agents());
    test.session.stop_background_agents();
    let frames = test.frames().await;
    let words = short(&frames);
    let told = words.iter().position(|word| word == "task_updated").expect("told");
    assert_eq!(words[told..told + 3], ["task_updated", "task_notification", "background_tasks_changed"]);
    assert_eq!(frames[told]["patch"]["status"], "killed");
    assert!(!test.session.has_background_agents());
    assert!(tokio::time::timeout(Duration::from_millis(300), prompts.recv()).await.is_err(), "no prompt");
}

#[tokio::test]
async fn what_an_agent_leaves_in_the_background_ends_with_it() {
    let test = session(&[]);
    test.will_answer(vec![
        call_of("Bash", json!({"command": "sleep 30", "run_in_background": true})),
        vec![ContentBlock::text("found it")],
    ]);
    let input = task(json!({"run_in_background": false, "subagent_type": "helper"}));
    Agent.run(&test.call("Agent", input), &test.session).await;
    let frames = test.frames().await;
    let started = frames.iter().find(|frame| frame["task_type"] == "local_bash").expect("a command");
    assert_eq!(started["owned_by_subagent"], true);
    let ends: Vec<&Value> = frames.iter().filter(|frame| frame["subtype"] == "task_notification").collect();
    assert_eq!(ends[0]["task_id"], started["task_id"], "the command ends first");
    assert_eq!(ends[0]["status"], "stopped");
    assert_eq!(ends[1]["status"], "completed");
}

/// As the real CLI 2.1.326 resolves the same lists over the same session.
#[tokio::test]
async fn an_agent_that_lists_search_tools_gets_them_unless_it_has_bash() {
    let agents = json!({
        "analyzer": {"description": "d", "prompt": "p", "tools": ["Read", "Grep", "Glob"]},
        "rule": {"description": "d", "prompt": "p", "tools": ["Grep(x)", "Read"]},
        "with_bash": {"description": "d", "prompt": "p", "tools": ["Read", "Grep", "Glob", "Bash"]},
        "bash_taken": {"description": "d", "prompt": "p", "tools": ["Read", "Grep", "Bash"], "disallowedTools": ["Bash"]},
        "grep_taken": {"description": "d", "prompt": "p", "tools": ["Grep", "Glob", "Read"], "disallowedTools": ["Grep"]},
        "unknown": {"description": "d", "prompt": "p", "tools": ["Read", "Bogus"]},
        "todo": {"description": "d", "prompt": "p", "tools": ["Read", "TodoWrite", "TaskList"]},
        "unlisted": {"description": "d", "prompt": "p", "disallowedTools": ["Bash"]},
        "star": {"description": "d", "prompt": "p", "tools": ["*", "Grep"]},
        "empty": {"description": "d", "prompt": "p", "tools": []},
    })
    .to_string();
    let cases: [(&str, &str, &[&str]); 12] = [
        ("", "analyzer", &["Glob", "Grep", "Read"]),
        ("", "rule", &["Grep", "Read"]),
        ("", "with_bash", &["Bash", "Read"]),
        ("", "bash_taken", &["Grep", "Read"]),
        ("", "grep_taken", &["Glob", "Read"]),
        ("", "unknown", &["Read"]),
        ("", "todo", &["Read"]),
        ("", "empty", &[]),
        ("--tools=Agent,Read", "analyzer", &["Glob", "Grep", "Read"]),
        ("--tools=Agent,Read", "with_bash", &["Glob", "Grep", "Read"]),
        ("--tools=Agent,Read,Grep,Glob,Bash", "with_bash", &["Bash", "Glob", "Grep", "Read"]),
        ("--disallowedTools=Grep", "analyzer", &["Glob", "Read"]),
    ];
    for (flag, kind, tools) in cases {
        let flags: Vec<&str> =
            ["--agents", &agents, flag].into_iter().filter(|flag| !flag.is_empty()).collect();
        let test = session(&flags);
        assert_eq!(offered(&test, kind).await, tools, "{kind} {flag}");
    }
    let test = session(&["--agents", &agents]);
    for kind in ["unlisted", "star"] {
        let offered = offered(&test, kind).await;
        assert!(!offered.iter().any(|tool| tool == "Grep" || tool == "Glob"), "{kind}: {offered:?}");
    }
}

/// The names of the tools that a subagent's request offers.
async fn offered(test: &TestSession, kind: &str) -> Vec<String> {
    test.will_say(&["done"]);
    let input = task(json!({"run_in_background": false, "subagent_type": kind}));
    let ran = Agent.run(&test.call("Agent", input), &test.session).await;
    assert!(matches!(ran.outcome, Outcome::Done(_)), "{kind}: {:?}", ran.outcome);
    let asked = test.model.asked.lock().unwrap().pop().expect("a request");
    let mut names: Vec<String> = asked.tools.iter().map(|tool| tool.name().to_owned()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn an_agent_whose_list_names_no_tool_there_is_is_refused() {
    let agents = json!({"lost": {"description": "d", "prompt": "p", "tools": ["Bogus", "read"]}}).to_string();
    let test = session(&["--agents", &agents]);
    for background in [true, false] {
        let input = task(json!({"run_in_background": background, "subagent_type": "lost"}));
        let ran = Agent.run(&test.call("Agent", input), &test.session).await;
        let Outcome::Failed { message, misuse: false } = &ran.outcome else { panic!("{:?}", ran.outcome) };
        assert!(message.contains("lost") && message.contains("Bogus, read"), "{message}");
    }
    assert_eq!(test.model.asked.lock().unwrap().len(), 0);
}
