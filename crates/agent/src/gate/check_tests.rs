use pilothouse_proto::AgentRequest;
use serde_json::{Value, json};

use super::*;
use crate::test_session::{Answers, NoTool, TestSession, is_probe, text_of};

/// A host that gives the same answer to every approval, and answers hooks by their id.
fn answers(approval: Value, hooks: Value) -> Answers {
    Box::new(move |request| match request {
        AgentRequest::CanUseTool(_) => match &approval {
            Value::Null => None,
            Value::String(error) => Some(Err(error.clone())),
            answer => Some(Ok(answer.clone())),
        },
        AgentRequest::HookCallback(call) => hooks.get(&call.callback_id).cloned().map(Ok),
        request if is_probe(request) => Some(Ok(json!({"behavior": "cancelled"}))),
        _ => None,
    })
}

fn gate() -> Gate {
    Gate::new(Hooks::default(), Arc::default())
}

async fn check(test: &TestSession, gate: &Gate, tool: &'static str, input: Value) -> Verdict {
    gate.check(&test.session, &test.call(tool, input), &NoTool::new(tool)).await
}

/// A verdict in a line: what a case is compared with.
fn short(verdict: &Verdict) -> String {
    let by = |meta: &Option<pilothouse_proto::PermissionDecisionMeta>| match meta {
        None => "-".to_owned(),
        Some(meta) => {
            let reason = meta.reason_type.as_deref().unwrap_or("-");
            format!("{} {} {reason}", meta.decision, meta.source)
        }
    };
    match verdict {
        Verdict::Run { decision, .. } => format!("run: {}", by(decision)),
        Verdict::Refuse { decision, non_execution_kind, .. } => {
            format!("refuse: {} / {}", by(decision), non_execution_kind.as_deref().unwrap_or("-"))
        }
        Verdict::Defer => "defer".to_owned(),
        Verdict::Interrupt => "interrupt".to_owned(),
    }
}

fn message(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Refuse { message, .. } => message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_becomes_of_a_call_by_the_host_s_answer() {
    let cases = [
        (json!({"behavior": "allow"}), "run: accept user_temporary -", 0),
        (
            json!({"behavior": "allow", "decisionClassification": "user_permanent"}),
            "run: accept user_permanent -",
            0,
        ),
        (json!({"behavior": "deny", "message": "no"}), "refuse: reject user_reject - / permission-rule", 1),
        (json!({"behavior": "deny", "message": "no", "interrupt": true}), "interrupt", 1),
        (json!({"behavior": "deny"}), "refuse: reject config other / permission-rule", 1),
        (json!("it blew up"), "refuse: reject config other / permission-rule", 1),
    ];
    for (answer, expected, denials) in cases {
        let test = TestSession::new(&[], &[], answers(answer.clone(), json!({})));
        let verdict =
            check(&test, &gate(), "Bash", json!({"command": "touch f1", "description": "run it"})).await;
        assert_eq!(short(&verdict), expected, "{answer}");
        assert_eq!(test.session.take_denials().len(), denials, "{answer}");
    }
}

#[tokio::test]
async fn a_slow_disk_holds_up_neither_the_mode_nor_an_interrupt() {
    #[derive(Debug)]
    struct Slow;
    impl pilothouse_rules::Files for Slow {
        fn resolve(&self, _: &str) -> Option<String> {
            std::thread::sleep(std::time::Duration::from_secs(1));
            None
        }
    }
    let test = TestSession::new(&[], &[], answers(json!({"behavior": "allow"}), json!({})));
    test.session.rules(|engine| engine.change(|context| context.files = Arc::new(Slow)));
    let call = test.call("Bash", json!({"command": "cat k*"}));
    let (begun, gate, tool) = (std::time::Instant::now(), gate(), NoTool::new("Bash"));
    let meanwhile = async {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        test.session.set_mode(Mode::Plan);
        call.stop.cancel();
        begun.elapsed()
    };
    let (verdict, changed) = tokio::join!(gate.check(&test.session, &call, &tool), meanwhile);
    assert_eq!(short(&verdict), "interrupt");
    assert!(changed.as_millis() < 900, "the mode was changed after {changed:?}");
}

#[tokio::test]
async fn the_host_is_asked_in_full() {
    let test = TestSession::new(&[], &[], answers(json!({"behavior": "allow"}), json!({})));
    let input = json!({"command": "touch f1", "description": "run it"});
    check(&test, &gate(), "Bash", input.clone()).await;
    let asked = test.asked.lock().unwrap().first().cloned().expect("a question");
    let project = test.project().display().to_string();
    let expected = json!({
        "subtype": "can_use_tool", "tool_name": "Bash", "input": input,
        "permission_suggestions": [
            {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch f1 *"}], "behavior": "allow",
                "destination": "localSettings"},
            {"type": "addDirectories", "directories": [project], "destination": "session"},
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        ],
        "blocked_path": format!("{project}/f1"), "display_name": "Bash", "tool_use_id": "toolu_1",
        "description": "run it",
    });
    assert_eq!(asked, expected);
}

#[tokio::test]
async fn questions_say_why_they_are_asked() {
    let user_rules = json!({"permissions": {"ask": ["Bash(ls *)", "Bash(ls)"]}}).to_string();
    let files = [(".claude/settings.json", user_rules.as_str())];
    let cases = [
        (
            "Bash",
            json!({"command": "ls"}),
            json!({"decision_reason_type": "rule",
            "decision_reason_rule_source": "userSettings", "server_policy_ask_only": false, "description": "ls"}),
        ),
        (
            "Bash",
            json!({"command": "python3 x.py"}),
            json!({"decision_reason_type": "other",
            "description": "python3 x.py"}),
        ),
        (
            "Read",
            json!({"file_path": "/etc/hostname"}),
            json!({"decision_reason_type": "workingDir",
            "server_policy_ask_only": true, "description": "/etc/hostname"}),
        ),
        (
            "Write",
            json!({"file_path": "PROJECT/sub/x", "content": "x"}),
            json!({"server_policy_ask_only": true,
            "description": "sub/x"}),
        ),
        (
            "Write",
            json!({"file_path": "PROJECT/.bashrc", "content": "x"}),
            json!({
            "decision_reason_type": "safetyCheck", "classifier_approvable": true, "description": ".bashrc"}),
        ),
        ("WebSearch", json!({"query": "hello"}), json!({"description": "hello"})),
        ("AskUserQuestion", json!({"questions": []}), json!({"requires_user_interaction": true})),
    ];
    for (tool, input, expected) in cases {
        let test = TestSession::new(&[], &files, answers(json!({"behavior": "allow"}), json!({})));
        let project = test.project().display().to_string();
        let input: Value =
            serde_json::from_str(&input.to_string().replace("PROJECT", &project)).expect("json");
        check(&test, &gate(), tool, input.clone()).await;
        let asked = test.asked.lock().unwrap().first().cloned().expect("a question");
        let mut seen = asked.as_object().cloned().expect("an object");
        for field in [
            "subtype",
            "tool_name",
            "input",
            "permission_suggestions",
            "blocked_path",
            "display_name",
            "tool_use_id",
            "decision_reason",
        ] {
            seen.remove(field);
        }
        assert_eq!(Value::Object(seen), expected, "{tool} {input}");
    }
}

#[tokio::test]
async fn rules_modes_and_hooks_decide_without_the_host() {
    let deny = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
        "permissionDecisionReason": "r-deny"}});
    let allow = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}});
    let touch = json!({"command": "touch f1"});
    let bypass: &[&str] = &["--permission-mode", "bypassPermissions"];
    struct Case<'a> {
        flags: &'a [&'a str],
        hook: Value,
        tool: &'static str,
        input: Value,
        expected: &'a str,
        told: usize,
        denials: usize,
    }
    let case = |flags, hook: &Value, tool, input: &Value, expected, told, denials| Case {
        flags,
        hook: hook.clone(),
        tool,
        input: input.clone(),
        expected,
        told,
        denials,
    };
    let none = json!({});
    let cases = [
        case(&[], &none, "Bash", &json!({"command": "ls"}), "run: accept config subcommandResults", 0, 0),
        case(&["--allowed-tools", "Bash"], &none, "Bash", &touch, "run: accept config rule", 0, 0),
        case(bypass, &none, "Bash", &touch, "run: accept config mode", 0, 0),
        case(
            &["--permission-mode", "acceptEdits"],
            &none,
            "Write",
            &json!({"file_path": "f", "content": ""}),
            "run: accept config mode",
            0,
            0,
        ),
        case(&[], &none, "EnterPlanMode", &none, "run: accept config -", 0, 0),
        case(&[], &allow, "Bash", &touch, "run: accept hook hook", 0, 0),
        case(
            &[],
            &deny,
            "Bash",
            &json!({"command": "ls"}),
            "refuse: reject hook hook / permission-rule",
            0,
            1,
        ),
        case(bypass, &deny, "Bash", &touch, "refuse: reject hook hook / permission-rule", 0, 1),
        case(
            &["--disallowed-tools", "Bash(touch:*)"],
            &none,
            "Bash",
            &touch,
            "refuse: reject config subcommandResults / permission-rule",
            1,
            1,
        ),
        case(
            &["--disallowed-tools", "Bash(touch:*)"],
            &allow,
            "Bash",
            &touch,
            "refuse: reject config subcommandResults / permission-rule",
            0,
            1,
        ),
        case(
            &["--disallowed-tools", "Read(./a.txt)"],
            &none,
            "Read",
            &json!({"file_path": "a.txt"}),
            "refuse: reject config rule / -",
            0,
            1,
        ),
        case(
            &["--permission-mode", "dontAsk"],
            &none,
            "Bash",
            &touch,
            "refuse: reject config mode / permission-rule",
            1,
            1,
        ),
        case(
            &["--permission-prompts", "none"],
            &none,
            "Bash",
            &touch,
            "refuse: reject config - / user-rejected",
            1,
            1,
        ),
        case(&[], &none, "ExitPlanMode", &none, "refuse: - / -", 0, 0),
    ];
    for case in cases {
        let test =
            TestSession::new(case.flags, &[], answers(json!("nobody should ask"), json!({"h": case.hook})));
        let gate = gate();
        let matcher = json!([{"hookCallbackIds": ["h"]}]);
        gate.hooks().register(&json!({"PreToolUse": matcher})).expect("good hooks");
        let verdict = check(&test, &gate, case.tool, case.input.clone()).await;
        let at = format!("{:?} {} {} {}", case.flags, case.hook, case.tool, case.input);
        assert_eq!(short(&verdict), case.expected, "{at}");
        assert_eq!(test.session.take_denials().len(), case.denials, "{at}");
        let frames = test.frames().await;
        let told: Vec<&Value> =
            frames.iter().filter(|frame| frame["subtype"] == "permission_denied").collect();
        assert_eq!(told.len(), case.told, "{at}: {frames:?}");
    }
}

#[tokio::test]
async fn updates_hold_at_once_and_are_written_where_they_belong() {
    let updates = json!([
        {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "npm:*"}], "behavior": "allow",
            "destination": "localSettings"},
        {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "rm:*"}], "behavior": "deny",
            "destination": "userSettings"},
        {"type": "bogus"},
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
    ]);
    let answer =
        json!({"behavior": "allow", "updatedInput": {"command": "touch f9"}, "updatedPermissions": updates});
    let test = TestSession::new(&[], &[], answers(answer, json!({})));
    let gate = gate();
    let verdict = check(&test, &gate, "Bash", json!({"command": "touch f1"})).await;
    let Verdict::Run { input, .. } = &verdict else { panic!("{verdict:?}") };
    assert_eq!(Value::from(input.clone()), json!({"command": "touch f9"}));
    let second = check(&test, &gate, "Bash", json!({"command": "npm test"})).await;
    assert_eq!(short(&second), "run: accept config subcommandResults");
    let third = check(&test, &gate, "Bash", json!({"command": "rm f1"})).await;
    assert!(message(&third).contains("rm f1"), "{third:?}");
    assert!(text_of(&test.project(), ".claude/settings.local.json").contains("Bash(npm:*)"));
    assert!(text_of(test.home.path(), ".claude/settings.json").contains("Bash(rm:*)"));
    let frames = test.frames().await;
    assert_eq!(frames[0]["subtype"], "status");
    assert_eq!(frames[0]["permissionMode"], "acceptEdits");
    assert_eq!(
        test.asked.lock().unwrap().iter().filter(|asked| asked["subtype"] == "can_use_tool").count(),
        1
    );
}

#[tokio::test]
async fn an_interrupt_withdraws_the_question() {
    let test = TestSession::new(&[], &[], answers(json!(null), json!({})));
    let call = test.call("Bash", json!({"command": "touch f1"}));
    let gate = gate();
    let interrupt = async {
        while test.asked.lock().unwrap().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        call.stop.cancel();
    };
    let tool = NoTool::new("Bash");
    let (verdict, ()) = tokio::join!(gate.check(&test.session, &call, &tool), interrupt);
    assert_eq!(verdict, Verdict::Interrupt);
    assert_eq!(test.session.take_denials().len(), 1);
    assert_eq!(test.withdrawn().await, 1);
}

#[tokio::test]
async fn the_end_of_the_host_s_input_is_no_answer() {
    let test = TestSession::new(&[], &[], answers(json!(null), json!({})));
    let call = test.call("Bash", json!({"command": "touch f1"}));
    let gate = gate();
    let end = async {
        while test.asked.lock().unwrap().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        test.end_input();
    };
    let tool = NoTool::new("Bash");
    let (verdict, ()) = tokio::join!(gate.check(&test.session, &call, &tool), end);
    assert!(message(&verdict).starts_with("Tool permission request failed: "), "{verdict:?}");
}

#[tokio::test]
async fn hooks_may_answer_in_the_host_s_stead() {
    let decision = |decision: Value| json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}});
    let cases = [
        (json!(null), decision(json!({"behavior": "allow"})), "run: accept hook hook", 1),
        (
            json!(null),
            decision(json!({"behavior": "deny", "message": "no"})),
            "refuse: reject hook hook / permission-rule",
            1,
        ),
        (json!(null), decision(json!({"behavior": "deny", "interrupt": true})), "interrupt", 1),
        (json!({"behavior": "allow"}), json!({}), "run: accept user_temporary -", 0),
    ];
    for (host, hook, expected, withdrawn) in cases {
        let test = TestSession::new(&[], &[], answers(host, json!({"h": hook})));
        let gate = gate();
        gate.hooks()
            .register(&json!({"PermissionRequest": [{"hookCallbackIds": ["h"]}]}))
            .expect("good hooks");
        let verdict = check(&test, &gate, "Bash", json!({"command": "touch f1"})).await;
        assert_eq!(short(&verdict), expected, "{hook}");
        assert_eq!(test.withdrawn().await, withdrawn, "{hook}");
        let asked = test.asked.lock().unwrap();
        let hook = asked.iter().find(|asked| asked["subtype"] == "hook_callback").expect("the hook was told");
        assert_eq!(hook["input"]["permission_suggestions"].as_array().map(Vec::len), Some(3));
    }
}

#[tokio::test]
async fn what_hooks_say_goes_along_with_the_verdict() {
    let hook = json!({"continue": false, "stopReason": "halt", "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "updatedInput": {"command": "touch f2"}, "additionalContext": "C"}});
    let test = TestSession::new(&[], &[], answers(json!({"behavior": "allow"}), json!({"h": hook})));
    let gate = gate();
    gate.hooks().register(&json!({"PreToolUse": [{"hookCallbackIds": ["h"]}]})).expect("good hooks");
    let verdict = check(&test, &gate, "Bash", json!({"command": "touch f1"})).await;
    let Verdict::Run { input, then_stop, contexts, .. } = verdict else { panic!("{verdict:?}") };
    assert_eq!(Value::from(input), json!({"command": "touch f2"}));
    assert_eq!((then_stop.as_deref(), contexts), (Some("halt"), vec!["C".to_owned()]));
    let asked = test.asked.lock().unwrap();
    let question = asked.iter().find(|asked| asked["subtype"] == "can_use_tool").expect("a question");
    assert_eq!(question["input"], json!({"command": "touch f2"}));
}

#[tokio::test]
async fn what_no_check_can_judge_is_refused_and_told_to_hooks() {
    let flags = ["--permission-mode", "auto", "--disallowed-tools", "Bash(rm:*)"];
    let test = TestSession::new(&flags, &[], answers(json!(null), json!({"h": {}})));
    let gate = gate();
    gate.hooks().register(&json!({"PermissionDenied": [{"hookCallbackIds": ["h"]}]})).expect("good hooks");
    for command in ["rm f1", "curl http://127.0.0.1:9/", "touch f1", "curl http://127.0.0.1:10/"] {
        check(&test, &gate, "Bash", json!({"command": command})).await;
    }
    let asked = test.asked.lock().unwrap().clone();
    // What a rule denies is no news to a hook, and edits in the project need no judge.
    let commands: Vec<&Value> = asked.iter().map(|asked| &asked["input"]["tool_input"]["command"]).collect();
    assert_eq!(commands, ["curl http://127.0.0.1:9/", "curl http://127.0.0.1:10/"]);
    assert_eq!(asked[0]["input"]["hook_event_name"], "PermissionDenied");
    let told = test.frames().await.into_iter().filter(|frame| frame["tag"] == "auto_mode_no_server_check");
    assert_eq!(told.count(), 1, "the user is told once");
    assert!(!test.session.is_beyond_judging());
}

#[tokio::test]
async fn plan_mode_is_entered_and_left_and_its_file_may_be_written() {
    use crate::plan::{EnterPlanMode, ExitPlanMode};
    let test =
        TestSession::new(&[], &[], answers(json!({"behavior": "allow", "updatedInput": {}}), json!({})));
    let plan: Arc<Plan> = Arc::default();
    let gate = Gate::new(Hooks::default(), plan.clone());
    let session = &test.session;
    EnterPlanMode(plan.clone()).run(&test.call("EnterPlanMode", json!({})), session).await;
    let file = plan.file(session);
    let write = json!({"file_path": file, "content": "1. do it"});
    assert_eq!(short(&check(&test, &gate, "Write", write).await), "run: accept config mode");
    std::fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
    std::fs::write(&file, "1. do it").expect("a plan");
    let other = json!({"file_path": test.project().join("x.txt"), "content": "x"});
    assert_eq!(short(&check(&test, &gate, "Write", other).await), "run: accept user_temporary -");
    let exit = test.call("ExitPlanMode", json!({"plan": "ignored"}));
    assert_eq!(
        short(&gate.check(session, &exit, &ExitPlanMode(plan.clone())).await),
        "run: accept user_temporary -"
    );
    let ran = ExitPlanMode(plan).run(&exit, session).await;
    let pilothouse_tools::Outcome::Done(done) = ran.outcome else { panic!("{:?}", ran.outcome) };
    assert_eq!(done.structured["plan"], "1. do it");
    let modes: Vec<Value> = test.frames().await.iter().map(|frame| frame["permissionMode"].clone()).collect();
    assert_eq!(modes, ["plan", "default"]);
    let asked = test.asked.lock().unwrap();
    let exit = asked.iter().find(|asked| asked["tool_name"] == "ExitPlanMode").expect("a question");
    assert_eq!((&exit["input"], &exit["requires_user_interaction"]), (&json!({}), &json!(true)));
}

#[tokio::test]
async fn what_a_server_s_policy_wants_asked_is_asked_whatever_lets_it_run() {
    for (flags, asked) in [
        (&["--allowed-tools", "mcp__calc__add"][..], true),
        (&["--dangerously-skip-permissions"], true),
        (&["--permission-mode", "dontAsk", "--allowed-tools", "mcp__calc__add"], false),
        (&["--disallowed-tools", "mcp__calc__add"], false),
    ] {
        let test = TestSession::new(flags, &[], answers(json!({"behavior": "allow"}), json!({})));
        let tool = NoTool::always_asked("mcp__calc__add");
        let verdict = gate().check(&test.session, &test.call("mcp__calc__add", json!({})), &tool).await;
        assert_eq!(matches!(verdict, Verdict::Run { .. }), asked, "{flags:?}: {verdict:?}");
        let questions = test.asked.lock().unwrap().clone();
        assert_eq!(questions.len(), usize::from(asked), "{flags:?}");
        for question in questions {
            assert_eq!(question["decision_reason_type"], "rule");
            assert_eq!(question["decision_reason_rule_source"], "mcpServerPolicy");
            assert_eq!(question["server_policy_ask_only"], true);
            assert_eq!(question.get("permission_suggestions"), None);
        }
    }
}
