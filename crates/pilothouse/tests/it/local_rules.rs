//! Rules of the host's own, before anybody is asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pilothouse::rules::{Behavior, Context, Source, ToolCall};
use pilothouse::{LocalRules, PermissionRequest};

use crate::harness::{Bench, seen_by_cli};

/// The CLI asks about `touch x`. Which rules there are, what it is told, and how often a person was asked.
#[tokio::test]
async fn only_what_is_left_to_ask_is_passed_on() {
    for (rules, told, asked) in [
        (vec![(Behavior::Allow, "Bash(touch *)")], "allow", 0),
        (vec![(Behavior::Deny, "Bash(touch *)")], "deny", 0),
        (vec![(Behavior::Allow, "Bash"), (Behavior::Ask, "Bash(touch *)")], "deny", 1),
        (vec![(Behavior::Allow, "Bash(git *)")], "deny", 1),
        (vec![], "deny", 1),
    ] {
        let bench = Bench::new("permission");
        let mut context = Context::new("/home/me/project", "/home/me");
        for (behavior, rule) in &rules {
            context.rules.add(Source::Session, *behavior, rule);
        }
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let rules_handler = LocalRules::new(context, move |request: PermissionRequest| {
            counted.fetch_add(1, Ordering::Relaxed);
            async move { request.deny("a person said no") }
        });
        let (_, result) = bench.ask(bench.options().on_permission(rules_handler)).await;
        let seen = seen_by_cli(&result);
        assert_eq!(seen["response"]["behavior"], told, "{rules:?}");
        assert_eq!(count.load(Ordering::Relaxed), asked, "{rules:?}");
    }
}

#[test]
fn links_and_patterns_are_judged_by_what_they_lead_to() {
    let bench = Bench::new("permission");
    let project = bench.project();
    std::fs::write(project.join("secret"), "s").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", project.join("out")).unwrap();
    let mut context = Context::new(project.to_str().unwrap(), "/home/me");
    context.rules.add(Source::Session, Behavior::Deny, "Read(secret)");
    let rules = LocalRules::new(context, async |request: PermissionRequest| request.deny("nobody is here"));
    let judged = |command: &str| {
        let input = serde_json::json!({ "command": command });
        rules.judge(&ToolCall::new("Bash", input.as_object().cloned().unwrap())).behavior
    };
    assert_eq!(judged("cat sec*"), Behavior::Deny);
    assert_eq!(judged("cat out"), Behavior::Ask);
    assert_eq!(judged("cat o*"), Behavior::Ask);
}
