use std::time::Duration;

use pilothouse_proto::AgentRequest;
use pilothouse_proto::hook::{ExitReason, SessionStartSource};
use pilothouse_rules::Behavior;
use serde_json::json;

use super::*;
use crate::hooks::ToolUse;
use crate::test_session::{Answers, TestSession, is_probe, text_of};

/// A host that answers each hook by its id.
fn answers(by_id: Value) -> Answers {
    Box::new(move |request| match request {
        AgentRequest::HookCallback(call) => match by_id.get(&call.callback_id) {
            Some(Value::String(error)) => Some(Err(error.clone())),
            Some(Value::Null) | None => None,
            Some(output) => Some(Ok(output.clone())),
        },
        request if is_probe(request) => Some(Ok(json!({"behavior": "cancelled"}))),
        _ => None,
    })
}

fn bash(command: &str) -> ToolUse {
    let input = json!({"command": command}).as_object().cloned().expect("an object");
    ToolUse { id: "toolu_1".into(), name: "Bash".to_owned(), input, ..ToolUse::default() }
}

async fn pre_tool_use(test: &TestSession, hooks: &Hooks) -> Report {
    let scene = test.session.scene(None);
    hooks.fire(&test.session, &scene, Occasion::pre_tool_use(&scene, &bash("touch f1"))).await
}

fn with_settings(hooks: Value) -> Vec<(&'static str, String)> {
    vec![(".claude/settings.json", json!({ "hooks": hooks }).to_string())]
}

fn session_with(hooks: Value, flags: &[&str]) -> (TestSession, Hooks) {
    let files = with_settings(hooks);
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let test = TestSession::new(flags, &files, answers(json!({})));
    let hooks = Hooks::default();
    assert_eq!(hooks.load(&test.session.settings().hooks()), Vec::new());
    (test, hooks)
}

#[tokio::test]
async fn callbacks_are_all_told_and_their_opinions_gathered() {
    let test = TestSession::new(
        &[],
        &[],
        answers(json!({
            "a": {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask",
                "permissionDecisionReason": "r-ask"}},
            "b": {"decision": "block", "reason": "legacy"},
            "c": {"async": true, "decision": "block"},
            "d": {"continue": false, "stopReason": "halt", "systemMessage": "hello"},
            "e": {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "ls"},
                "additionalContext": "CONTEXT"}},
            "f": {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "not for this event"}},
        })),
    );
    let hooks = Hooks::default();
    hooks
        .register(&json!({
            "PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["a", "b", "c", "d"]},
                {"matcher": null, "hookCallbackIds": ["e", "f"]}, {"matcher": "Read", "hookCallbackIds": ["x"]}],
            "Banana": [{"hookCallbackIds": ["y"]}],
        }))
        .expect("good hooks");
    let report = pre_tool_use(&test, &hooks).await;
    assert_eq!(report.told, 6);
    let opinions: Vec<_> =
        report.opinions.iter().map(|o| (o.behavior, o.reason.clone().unwrap_or_default())).collect();
    assert_eq!(opinions, [(Behavior::Ask, "r-ask".to_owned()), (Behavior::Deny, "legacy".to_owned())]);
    assert_eq!(report.stop.as_deref(), Some("halt"));
    assert_eq!(report.contexts, ["CONTEXT"]);
    assert_eq!(report.failure, Some(Failure::Failed), "one answered for another event");
    assert_eq!(Value::from(report.updated_input.expect("an input")), json!({"command": "ls"}));
    let frames = test.frames().await;
    let said = json!({"type": "system", "subtype": "informational", "content": "PreToolUse:Bash says: hello",
        "level": "notice"});
    assert_eq!(frames, [said]);
    let asked = test.asked.lock().unwrap();
    let first = asked.first().expect("a request");
    assert_eq!(first["callback_id"], "a");
    assert_eq!(first["tool_use_id"], "toolu_1");
    assert_eq!(first["input"]["hook_event_name"], "PreToolUse");
    assert_eq!(first["input"]["permission_mode"], "default");
    assert_eq!(first["input"]["tool_input"], json!({"command": "touch f1"}));
}

#[tokio::test]
async fn a_callback_that_fails_counts_as_no_answer_unless_it_must_not_fail() {
    for (on_failure, failure) in
        [(json!(null), None), (json!("continue"), None), (json!("block"), Some(Failure::Failed))]
    {
        let test = TestSession::new(&[], &[], answers(json!({"a": "it blew up"})));
        let hooks = Hooks::default();
        let matcher = json!({"hookCallbackIds": ["a"], "onFailure": on_failure});
        hooks.register(&json!({"PreToolUse": [matcher]})).expect("good hooks");
        let report = pre_tool_use(&test, &hooks).await;
        assert_eq!((report.opinions.len(), report.failure), (0, failure), "{on_failure}");
        let frames = test.frames().await;
        assert_eq!(frames.len(), 1);
        assert_eq!(frames[0]["tag"], "hook_callback_failed");
        assert_eq!(frames[0]["level"], "warning");
    }
}

#[tokio::test]
async fn an_answer_with_nothing_in_it_is_a_failure() {
    let nothing = Box::new(|request: &AgentRequest| {
        Some(Ok(if is_probe(request) { json!({"behavior": "cancelled"}) } else { Value::Null }))
    });
    let test = TestSession::new(&[], &[], nothing);
    let hooks = Hooks::default();
    hooks.register(&json!({"PreToolUse": [{"hookCallbackIds": ["a"]}]})).expect("good hooks");
    let report = pre_tool_use(&test, &hooks).await;
    assert_eq!((report.opinions.len(), report.failure), (0, None));
    assert_eq!(test.frames().await[0]["tag"], "hook_callback_failed");
}

#[tokio::test]
async fn a_hook_puts_a_call_off_unless_another_is_against_it() {
    let defers =
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer"}});
    for (other, denied) in [(json!({}), false), (json!({"decision": "block", "reason": "no"}), true)] {
        let test = TestSession::new(&[], &[], answers(json!({"a": defers, "b": other})));
        let hooks = Hooks::default();
        hooks.register(&json!({"PreToolUse": [{"hookCallbackIds": ["a", "b"]}]})).expect("good hooks");
        let report = pre_tool_use(&test, &hooks).await;
        assert_eq!((report.deferred, report.denies()), (true, denied));
    }
}

#[tokio::test]
async fn a_callback_without_an_answer_is_withdrawn_when_its_time_is_up() {
    let test = TestSession::new(&[], &[], answers(json!({"a": null})));
    let hooks = Hooks::default();
    hooks
        .register(&json!({"PreToolUse": [{"hookCallbackIds": ["a"], "timeout": 0.05}]}))
        .expect("good hooks");
    let report = pre_tool_use(&test, &hooks).await;
    assert_eq!(report.failure, Some(Failure::TimedOut));
    assert_eq!(test.withdrawn().await, 1);
}

#[tokio::test]
async fn registering_anew_replaces_the_hooks_and_ends_the_wait() {
    let test = TestSession::new(&[], &[], answers(json!({"a": null, "b": {}})));
    let hooks = Hooks::default();
    hooks.register(&json!({"PreToolUse": [{"hookCallbackIds": ["a"]}]})).expect("good hooks");
    let again = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        hooks.register(&json!({"PreToolUse": [{"hookCallbackIds": ["b"]}]})).expect("good hooks");
    };
    let (report, ()) = tokio::join!(pre_tool_use(&test, &hooks), again);
    assert_eq!(report.failure, Some(Failure::Replaced));
    assert_eq!(pre_tool_use(&test, &hooks).await.failure, None);
    let asked = test.asked.lock().unwrap();
    let ids: Vec<&Value> = asked.iter().map(|asked| &asked["callback_id"]).collect();
    assert_eq!(ids, ["a", "b"]);
}

#[test]
fn registrations_that_are_none_are_refused() {
    let hooks = Hooks::default();
    for bad in [
        json!([]),
        json!({"PreToolUse": {}}),
        json!({"PreToolUse": [{"hook_callback_ids": ["a"]}]}),
        json!({"PreToolUse": [{"hookCallbackIds": "a"}]}),
        json!({"PreToolUse": [{"hookCallbackIds": [1]}]}),
        json!({"PreToolUse": [{"hookCallbackIds": ["a"], "matcher": 3}]}),
    ] {
        assert_eq!(hooks.register(&bad), Err(RegistrationError), "{bad}");
    }
    assert_eq!(hooks.register(&Value::Null), Ok(()));
}

#[tokio::test]
async fn commands_get_the_occasion_on_stdin_and_answer_by_exit_code_text_or_json() {
    let output =
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}});
    let cases = [
        ("exit 0".to_owned(), None),
        ("echo plain text".to_owned(), None),
        ("echo not today >&2; exit 2".to_owned(), Some((Behavior::Deny, "not today"))),
        ("echo broken >&2; exit 1".to_owned(), None),
        (format!("echo '{output}'"), Some((Behavior::Allow, ""))),
        ("echo '{\"continue\": 7}'".to_owned(), None),
        ("grep -q '\"tool_name\":\"Bash\"' || exit 2".to_owned(), None),
        ("test -d \"$CLAUDE_PROJECT_DIR\" || exit 2".to_owned(), None),
    ];
    for (command, expected) in cases {
        let (test, hooks) = session_with(
            json!({"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}),
            &[],
        );
        let report = pre_tool_use(&test, &hooks).await;
        assert_eq!(report.told, 1, "{command}");
        let opinion = report.opinions.first().map(|o| (o.behavior, o.reason.clone().unwrap_or_default()));
        match (opinion, expected) {
            (None, None) => {}
            (Some((behavior, reason)), Some((wanted, part))) => {
                assert_eq!(behavior, wanted, "{command}");
                assert!(reason.contains(part), "{command}: {reason}");
            }
            (opinion, expected) => panic!("{command}: {opinion:?}, not {expected:?}"),
        }
    }
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_and_ignored() {
    let (test, hooks) = session_with(
        json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "sleep 60; exit 2", "timeout": 0.2}]}]}),
        &[],
    );
    let begun = std::time::Instant::now();
    let report = pre_tool_use(&test, &hooks).await;
    assert!(report.opinions.is_empty());
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn a_command_that_does_not_run_says_so_and_blocks_if_it_fails_closed() {
    for (command, closed, failure, said) in [
        ("no-such-program-here", json!(false), None, "could not be run"),
        ("no-such-program-here", json!(true), Some(Failure::Failed), "could not be run"),
        ("kill -9 $$", json!(true), Some(Failure::Failed), "did not run to its end"),
        ("sleep 60", json!(true), Some(Failure::Failed), "did not end in time"),
        ("exit 1", json!("yes"), Some(Failure::Failed), ""),
        ("exit 0", json!(true), None, ""),
    ] {
        let hook = json!({"type": "command", "command": command, "timeout": 1, "failClosed": closed});
        let (test, hooks) = session_with(json!({"PreToolUse": [{"hooks": [hook]}]}), &[]);
        assert_eq!(pre_tool_use(&test, &hooks).await.failure, failure, "{command} {closed}");
        let told: String = test.frames().await.iter().map(|frame| frame.to_string()).collect();
        assert_eq!(told.contains("hook_no_verdict"), !said.is_empty(), "{command}: {told}");
        assert!(told.contains(said), "{command}: {told}");
    }
}

#[tokio::test]
async fn a_hook_that_cannot_be_read_blocks_if_it_fails_closed() {
    for (matcher, kind, failure) in [
        ("(", "command", Some(Failure::Failed)),
        ("Bash", "oracle", Some(Failure::Failed)),
        ("Read", "oracle", None),
    ] {
        let hook = json!({"type": kind, "command": "exit 0", "failClosed": true});
        let files = with_settings(json!({"PreToolUse": [{"matcher": matcher, "hooks": [hook]}]}));
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let test = TestSession::new(&[], &files, answers(json!({})));
        let hooks = Hooks::default();
        assert_eq!(hooks.load(&test.session.settings().hooks()).len(), 1, "{matcher} {kind}");
        assert_eq!(pre_tool_use(&test, &hooks).await.failure, failure, "{matcher} {kind}");
    }
}

#[tokio::test]
async fn hooks_of_one_event_run_beside_each_other_and_equal_commands_once() {
    let slow = json!({"type": "command", "command": "sleep 0.6; echo x >> \"$CLAUDE_PROJECT_DIR/ran\""});
    let other = json!({"type": "command", "command": "sleep 0.6; echo y >> \"$CLAUDE_PROJECT_DIR/ran\""});
    let (test, hooks) = session_with(
        json!({"PreToolUse": [{"hooks": [slow, other]}, {"matcher": "Bash", "hooks": [slow]}]}),
        &[],
    );
    let begun = std::time::Instant::now();
    assert_eq!(pre_tool_use(&test, &hooks).await.told, 2);
    assert!(begun.elapsed() < Duration::from_millis(1150), "{:?}", begun.elapsed());
    assert_eq!(text_of(&test.project(), "ran").len(), 4);
}

#[tokio::test]
async fn conditions_and_detached_commands() {
    let mark = |letter: &str| format!("echo {letter} >> \"$CLAUDE_PROJECT_DIR/ran\"");
    let (test, hooks) = session_with(
        json!({"PreToolUse": [{"hooks": [
            {"type": "command", "command": mark("a"), "if": "Bash(touch *)"},
            {"type": "command", "command": mark("b"), "if": "Bash(git *)"},
            {"type": "command", "command": mark("c")},
            {"type": "command", "command": format!("sleep 0.3; {}", mark("d")), "async": true},
        ]}]}),
        &[],
    );
    assert_eq!(pre_tool_use(&test, &hooks).await.told, 2);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let mut ran: Vec<char> = text_of(&test.project(), "ran").chars().filter(|c| *c != '\n').collect();
    ran.sort_unstable();
    assert_eq!(ran, ['a', 'c', 'd']);
}

#[tokio::test]
async fn what_hooks_say_is_kept_in_a_file_when_it_is_long() {
    let written = json!({"SessionStart": [{"hooks": [
        {"type": "command", "command": "head -c 9000 /dev/zero | tr '\\0' a"},
        {"type": "command", "command": "head -c 20000000 /dev/zero | tr '\\0' b"},
    ]}]});
    let (test, hooks) = session_with(written, &[]);
    let scene = test.session.scene(None);
    let start = Occasion::session_start(&scene, SessionStartSource::Startup, None);
    let contexts = hooks.fire(&test.session, &scene, start).await.contexts;
    assert_eq!(contexts[0].len(), 9_000);
    assert!(
        contexts[1].starts_with("<persisted-output>\nOutput too large (16MB). Full output saved to: "),
        "{}",
        contexts[1]
    );
    assert!(contexts[1].len() < 3_000);
    let path = contexts[1].lines().nth(1).unwrap().rsplit(' ').next().unwrap();
    let kept = std::fs::read_to_string(path).unwrap();
    assert!(kept.ends_with("(the hook printed more, which was not kept)"), "{}", kept.len());
}

#[tokio::test]
async fn session_start_is_always_shown_and_other_hooks_when_asked_for() {
    let written = json!({
        "SessionStart": [{"hooks": [{"type": "command", "command": "echo start-context"}]}],
        "PreToolUse": [{"hooks": [{"type": "command", "command": "echo hookout"}]}],
    });
    for (flags, shown) in [(&[][..], 2), (&["--include-hook-events"][..], 4)] {
        let (test, hooks) = session_with(written.clone(), flags);
        let scene = test.session.scene(None);
        let start = Occasion::session_start(&scene, SessionStartSource::Startup, None);
        let report = hooks.fire(&test.session, &scene, start).await;
        assert_eq!(report.contexts, ["start-context\n"]);
        assert!(pre_tool_use(&test, &hooks).await.contexts.is_empty());
        let frames = test.frames().await;
        assert_eq!(frames.len(), shown, "{frames:?}");
        let started = json!({"type": "system", "subtype": "hook_started", "hook_name": "SessionStart:startup",
            "hook_event": "SessionStart"});
        assert_eq!(frames[0], started);
        let response = json!({"type": "system", "subtype": "hook_response", "hook_name": "SessionStart:startup",
            "hook_event": "SessionStart", "output": "start-context\n", "stdout": "start-context\n", "stderr": "",
            "exit_code": 0, "outcome": "success"});
        assert_eq!(frames[1], response);
    }
}

#[tokio::test]
async fn other_events_are_blocked_by_the_same_answers() {
    let test =
        TestSession::new(&[], &[], answers(json!({"a": {"decision": "block", "reason": "no prompts"}})));
    let hooks = Hooks::default();
    let all = json!([{"hookCallbackIds": ["a"]}]);
    hooks
        .register(
            &json!({"UserPromptSubmit": all, "SessionEnd": [{"matcher": "clear", "hookCallbackIds": ["a"]}]}),
        )
        .expect("good");
    let scene = test.session.scene(None);
    let prompt = Occasion::user_prompt_submit(&scene, "go".to_owned());
    assert_eq!(hooks.fire(&test.session, &scene, prompt).await.block.as_deref(), Some("no prompts"));
    let end = |reason| hooks.fire(&test.session, &scene, Occasion::session_end(&scene, reason));
    assert_eq!(end(ExitReason::Clear).await.told, 1);
    assert_eq!(end(ExitReason::Logout).await.told, 0);
}

#[test]
fn kinds_that_do_not_run_here_are_reported() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = json!({"hooks": {"Stop": [
        {"hooks": [{"type": "prompt", "prompt": "?"}, {"type": "command"}, {"type": "command", "command": "true"}]},
        {"matcher": "(", "hooks": [{"type": "command", "command": "true"}]},
    ]}});
    let locations = pilothouse_settings::Locations::new(dir.path(), dir.path().join("project"));
    let flag = Some(pilothouse_settings::FlagSettings::Json(text.to_string()));
    let options = pilothouse_settings::LoadOptions { flag, ..Default::default() };
    let (settings, _) = pilothouse_settings::Settings::load(&locations, &options);
    let hooks = Hooks::default();
    let problems: Vec<String> = hooks.load(&settings.hooks()).iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[0].contains("`prompt` do not run here"), "{problems:?}");
    assert!(problems[1].contains("needs `command`"), "{problems:?}");
    assert!(problems[2].contains("no regular expression"), "{problems:?}");
}

/// A server that answers one request with a status and a body, and gives what it was sent.
async fn server(status: &'static str, body: String) -> (String, tokio::task::JoinHandle<String>) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
    let task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let mut sent = Vec::new();
        // The body of a hook's request ends with the object.
        while !sent.ends_with(b"}") {
            let mut chunk = [0_u8; 4096];
            let read = stream.read(&mut chunk).await.expect("a request");
            sent.extend_from_slice(&chunk[..read]);
        }
        let answer =
            format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
        stream.write_all(answer.as_bytes()).await.expect("an answer");
        String::from_utf8_lossy(&sent).into_owned()
    });
    (url, task)
}

#[tokio::test]
async fn urls_get_the_occasion_posted_and_answer_in_json() {
    let deny = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
        "permissionDecisionReason": "the server says no"}});
    let cases = [
        ("200 OK", deny.to_string(), Some(Behavior::Deny)),
        ("200 OK", "{}".to_owned(), None),
        ("200 OK", "fine".to_owned(), None),
        ("500 Broken", deny.to_string(), None),
    ];
    for (status, body, expected) in cases {
        let (url, sent) = server(status, body.clone()).await;
        let hook = json!({"type": "http", "url": url, "headers": {"x-home": "at ${HOME}", "x-path": "$PATH"},
            "allowedEnvVars": ["HOME"]});
        let (test, hooks) = session_with(json!({"PreToolUse": [{"hooks": [hook]}]}), &[]);
        let report = pre_tool_use(&test, &hooks).await;
        assert_eq!(report.opinions.first().map(|opinion| opinion.behavior), expected, "{status} {body}");
        let sent = sent.await.expect("the server ran");
        assert!(
            sent.starts_with("POST /hook") && sent.contains("\"hook_event_name\":\"PreToolUse\""),
            "{sent}"
        );
        assert!(sent.contains("x-path: $PATH") && !sent.contains("${HOME}"), "{sent}");
    }
}
