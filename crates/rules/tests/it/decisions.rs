//! Hooks, classifiers, updates, and the account a decision gives of itself.

use std::sync::Arc;

use pilothouse_proto::PermissionUpdate;
use pilothouse_rules::{
    Behavior, Classifier, Classify, Context, Engine, Files, HookOpinion, Mode, Place, Source, Step, ToolCall,
    UpdateError, Verdict,
};
use serde_json::{Map, json};

fn context(rules: &[(Behavior, &str)]) -> Context {
    let mut context = Context::new("/home/user/project", "/home/user");
    for (behavior, rule) in rules {
        context.rules.add(Source::UserSettings, *behavior, rule);
    }
    context
}

fn write(path: &str) -> ToolCall {
    ToolCall::new("Write", Map::from_iter([("file_path".to_owned(), path.into())]))
}

struct HookCase {
    rules: &'static [(Behavior, &'static str)],
    mode: Mode,
    command: &'static str,
    hooks: &'static [Behavior],
    behavior: Behavior,
    step: Step,
}

#[test]
fn hooks_have_their_place_in_the_order() {
    use Behavior::{Allow, Ask, Deny};
    let ls = |hooks, behavior, step| HookCase {
        rules: &[],
        mode: Mode::Default,
        command: "ls",
        hooks,
        behavior,
        step,
    };
    let cases = [
        HookCase { command: "touch x", ..ls(&[Allow], Allow, Step::HookAllow) },
        ls(&[Deny], Deny, Step::HookDeny),
        HookCase { mode: Mode::BypassPermissions, ..ls(&[Deny], Deny, Step::HookDeny) },
        ls(&[Ask], Ask, Step::HookAsk),
        HookCase { mode: Mode::BypassPermissions, ..ls(&[Ask], Ask, Step::HookAsk) },
        HookCase { rules: &[(Allow, "Bash")], ..ls(&[Ask], Ask, Step::HookAsk) },
        HookCase { rules: &[(Deny, "Bash(rm:*)")], command: "rm x", ..ls(&[Allow], Deny, Step::DenyRule) },
        HookCase { rules: &[(Ask, "Bash(touch:*)")], command: "touch x", ..ls(&[Allow], Ask, Step::AskRule) },
        ls(&[Allow, Deny, Ask], Deny, Step::HookDeny),
        ls(&[Allow, Ask], Ask, Step::HookAsk),
        HookCase { mode: Mode::DontAsk, command: "touch x", ..ls(&[Ask], Deny, Step::Mode) },
    ];
    for HookCase { rules, mode, command, hooks, behavior, step } in cases {
        let mut context = context(rules);
        context.mode = mode;
        let hooks: Vec<_> = hooks.iter().map(|b| HookOpinion { behavior: *b, reason: None }).collect();
        let decision = Engine::new(context).decide_with_hooks(&ToolCall::bash(command), &hooks);
        assert_eq!((decision.behavior, decision.step), (behavior, step), "{command} {mode} {hooks:?}");
    }
}

#[derive(Debug)]
struct Says(Verdict);

impl Classify for Says {
    fn classify(&self, _call: &ToolCall) -> Verdict {
        self.0.clone()
    }
}

#[test]
fn classifiers_decide_what_is_left() {
    let verdicts = [
        (Verdict::Allow, Behavior::Allow),
        (Verdict::Deny("no".to_owned()), Behavior::Deny),
        (Verdict::Ask("unsure".to_owned()), Behavior::Ask),
    ];
    for (verdict, expected) in verdicts {
        for mode in [Mode::Auto, Mode::Plan] {
            let mut context = context(&[(Behavior::Deny, "Bash(rm:*)"), (Behavior::Allow, "Bash(npm:*)")]);
            context.mode = mode;
            context.classifier = Classifier::Answers(Arc::new(Says(verdict.clone())));
            let engine = Engine::new(context);
            assert_eq!(engine.decide(&ToolCall::bash("curl x")).behavior, expected, "{mode}");
            assert_eq!(engine.decide(&ToolCall::bash("rm x")).behavior, Behavior::Deny);
            assert_eq!(engine.decide(&ToolCall::bash("npm test")).behavior, Behavior::Allow);
            assert_eq!(engine.decide(&ToolCall::bash("ls")).behavior, Behavior::Allow);
        }
    }
}

#[test]
fn nobody_to_ask_means_deny() {
    let mut context = context(&[]);
    context.avoid_prompts = true;
    let engine = Engine::new(context);
    assert_eq!(engine.decide(&ToolCall::bash("touch x")).behavior, Behavior::Deny);
    assert_eq!(engine.decide(&ToolCall::bash("ls")).behavior, Behavior::Allow);
}

#[test]
fn a_decision_names_rule_place_step_and_part() {
    let mut context = context(&[(Behavior::Allow, "Bash(git:*)")]);
    let place = Place { file: "/home/user/.claude/settings.json".into(), line: 7 };
    context.rules.add_at(Source::UserSettings, Behavior::Deny, "Bash(rm:*)", place.clone());
    let decision = Engine::new(context).decide(&ToolCall::bash("git status && rm -rf build"));
    assert_eq!(decision.behavior, Behavior::Deny);
    assert_eq!(decision.step, Step::DenyRule);
    assert_eq!(decision.rule.as_ref().and_then(|rule| rule.place.clone()), Some(place));
    let parts: Vec<_> =
        decision.subcommands.iter().map(|part| (part.command.as_str(), part.behavior)).collect();
    assert_eq!(parts, [("git status", Behavior::Allow), ("rm -rf build", Behavior::Deny)]);
    assert!(decision.reason.contains("settings.json:7"), "{}", decision.reason);
    assert_eq!(
        decision.to_allow,
        ["remove the rule deny Bash(rm:*) (userSettings, /home/user/.claude/settings.json:7)"]
    );
}

#[test]
fn every_part_of_a_compound_has_its_verdict() {
    use Behavior::{Allow, Ask, Deny};
    let engine =
        Engine::new(context(&[(Allow, "Bash(git:*)"), (Deny, "Bash(rm:*)"), (Ask, "Bash(git push:*)")]));
    for (command, expected) in [
        ("git add x; rm y | foo", &[("git add x", Allow), ("rm y", Deny), ("foo", Ask)][..]),
        ("git add x && echo $(rm y) || ls", &[("git add x", Allow), ("echo $(rm y)", Deny), ("ls", Allow)]),
        ("git push && ls | (rm z)", &[("git push", Ask), ("ls", Allow), ("(rm z)", Deny)]),
        ("git add x && echo $(date)", &[("git add x", Allow), ("echo $(date)", Ask)]),
        ("git add x; if a; then rm b; fi", &[("git add x", Allow), ("a", Ask), ("rm b", Deny)]),
        ("echo $(rm y)", &[("rm y", Deny)]),
        ("echo $(date)", &[]),
    ] {
        let decision = engine.decide(&ToolCall::bash(command));
        let parts: Vec<_> =
            decision.subcommands.iter().map(|part| (part.command.as_str(), part.behavior)).collect();
        assert_eq!(parts, expected, "{command}");
    }
}

#[test]
fn a_question_says_what_would_change_it() {
    let engine = Engine::new(context(&[]));
    let decision = engine.decide(&ToolCall::bash("npm test"));
    assert_eq!(decision.to_allow, ["add the allow rule `Bash(npm test *)`"]);
    assert_eq!(decision.to_deny, ["add the deny rule `Bash(npm:*)`"]);
    let decision = engine.decide(&write("/home/user/other/x"));
    assert_eq!(
        decision.to_allow,
        ["switch to the mode acceptEdits", "add the working directory /home/user/other"]
    );
}

#[test]
fn links_are_followed_where_the_caller_can_look() {
    #[derive(Debug)]
    struct Linked;
    impl Files for Linked {
        fn resolve(&self, path: &str) -> Option<String> {
            path.strip_prefix("/home/user/project/link").map(|rest| format!("/etc{rest}"))
        }
    }
    let mut context = context(&[(Behavior::Deny, "Read(//etc/shadow)")]);
    context.mode = Mode::AcceptEdits;
    context.files = Arc::new(Linked);
    let engine = Engine::new(context);
    for (command, expected) in [
        ("cat link/passwd", Behavior::Ask),
        ("cat link/shadow", Behavior::Deny),
        ("touch link/x", Behavior::Ask),
        ("echo x > link/x", Behavior::Ask),
        ("touch x", Behavior::Allow),
    ] {
        assert_eq!(engine.decide(&ToolCall::bash(command)).behavior, expected, "{command}");
    }
    assert_eq!(engine.decide(&write("/home/user/project/link/x")).behavior, Behavior::Ask);
}

#[test]
fn updates_change_the_context() {
    let mut engine = Engine::new(context(&[]));
    let mut apply = |update: serde_json::Value| {
        let update: PermissionUpdate = serde_json::from_value(update).expect("an update");
        engine.apply(&update).map(|()| engine.context().to_json())
    };
    let rules = json!([{"toolName": "Bash", "ruleContent": "npm *"}, {"toolName": "WebSearch"}]);
    let state =
        apply(json!({"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"}));
    assert_eq!(state.expect("applied")["alwaysAllowRules"]["session"], json!(["Bash(npm *)", "WebSearch"]));
    let gone = json!([{"toolName": "WebSearch"}]);
    let state =
        apply(json!({"type": "removeRules", "rules": gone, "behavior": "allow", "destination": "session"}));
    assert_eq!(state.expect("applied")["alwaysAllowRules"]["session"], json!(["Bash(npm *)"]));
    let only = json!([{"toolName": "Read"}]);
    let state =
        apply(json!({"type": "replaceRules", "rules": only, "behavior": "allow", "destination": "session"}));
    assert_eq!(state.expect("applied")["alwaysAllowRules"]["session"], json!(["Read"]));
    let state = apply(json!({"type": "addDirectories", "directories": ["../lib"], "destination": "session"}));
    let directories = state.expect("applied")["additionalWorkingDirectories"].clone();
    assert_eq!(directories, json!({"/home/user/lib": {"path": "/home/user/lib", "source": "session"}}));
    let state = apply(
        json!({"type": "removeDirectories", "directories": ["/home/user/lib"], "destination": "session"}),
    );
    assert_eq!(state.expect("applied")["additionalWorkingDirectories"], json!({}));
    let state = apply(json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"}));
    assert_eq!(state.expect("applied")["mode"], "acceptEdits");
    let refused = apply(json!({"type": "setMode", "mode": "bypassPermissions", "destination": "session"}));
    assert_eq!(refused, Err(UpdateError::BypassNotAvailable));
    let refused = apply(json!({"type": "addRules", "rules": [], "behavior": "allow", "destination": "moon"}));
    assert!(matches!(refused, Err(UpdateError::Destination(_))), "{refused:?}");
}

#[test]
fn modes_have_their_other_names() {
    for (name, mode) in [("manual", Mode::Default), ("delegate", Mode::Default), ("plan", Mode::Plan)] {
        assert_eq!(name.parse::<Mode>(), Ok(mode));
    }
    assert!("bogus".parse::<Mode>().is_err());
}

/// Which of a session's variables the shell obeys is known only after it has run.
#[test]
fn what_sets_variables_is_asked_about_until_the_shell_has_run() {
    let mut engine = Engine::new(context(&[(Behavior::Allow, "Bash(make)")]));
    let commands = ["X=1", "X=1; ls", "for i in 1 2; do ls; done", "X=$(ls); make"];
    for command in commands {
        let decision = engine.decide(&ToolCall::bash(command));
        assert_eq!(decision.behavior, Behavior::Ask, "{command}");
        // An empty list where nothing but variables would change, none at all where commands would run.
        assert_eq!(decision.suggestions.is_some(), command == "X=1", "{command}");
    }
    engine.shell_runs();
    for command in commands {
        assert_eq!(engine.decide(&ToolCall::bash(command)).behavior, Behavior::Allow, "{command}");
    }
    // Those that steer programs are asked about for ever.
    for command in ["PATH=.", "GIT_DIR=x; git status", "LD_PRELOAD=x; ls", "PATH=$(pwd); ls"] {
        assert_eq!(engine.decide(&ToolCall::bash(command)).behavior, Behavior::Ask, "{command}");
    }
}

#[test]
fn harmless_work_in_the_background_is_asked_about_and_rules_only_loosen_that() {
    use Behavior::{Allow, Ask};
    for (rules, command, expected) in [
        (&[][..], "ls &", Ask),
        (&[(Allow, "Bash")], "ls &", Ask),
        (&[(Allow, "Bash")], "for i in 1; do ls; done &", Ask),
        (&[(Allow, "Bash")], "make &", Allow),
        (&[(Allow, "Bash(make)")], "make &", Ask),
        (&[(Allow, "Bash"), (Allow, "Bash(make)")], "make &", Allow),
    ] {
        let mut engine = Engine::new(context(rules));
        engine.shell_runs();
        assert_eq!(engine.decide(&ToolCall::bash(command)).behavior, expected, "{rules:?} {command}");
    }
}

#[test]
fn reasons_say_what_a_command_would_do() {
    let engine = Engine::new(context(&[]));
    for (command, part) in [
        ("sort -o /etc/x y", "it changes /etc/x"),
        ("sort --output=/etc/x y", "it changes /etc/x"),
        ("sed 's/a/id/e' y", "it may run a program or change /home/user/project/y"),
        ("cat 0< /etc/x", "it reads /etc/x, outside"),
        ("cat < a*", "which file `a*` names is only known when it runs"),
        ("diff a --unified /etc/x", "it reads /etc/x, outside"),
    ] {
        let decision = engine.decide(&ToolCall::bash(command));
        assert_eq!(decision.behavior, Behavior::Ask, "{command}");
        assert!(decision.reason.contains(part), "{command}: {}", decision.reason);
    }
    assert_eq!(engine.decide(&ToolCall::bash("cat 0< y")).behavior, Behavior::Allow);
}
