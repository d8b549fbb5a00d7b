//! What the CLI sees of each way a hook can end.

use std::time::{Duration, Instant};

use pilothouse::{HookCall, HookEvent, Matcher, OnFailure};
use serde_json::{Value, json};

use crate::harness::{Bench, seen_by_cli, within};

/// The reply to a `PreToolUse` callback of this hook; it must be a success whatever the hook does.
async fn answered(matcher: Matcher, handler: impl pilothouse::HookHandler) -> Value {
    answered_in("hook", matcher, handler).await
}

async fn answered_in(
    scenario: &'static str,
    matcher: Matcher,
    handler: impl pilothouse::HookHandler,
) -> Value {
    let bench = Bench::new(scenario);
    let options = bench.options().hook(HookEvent::PreToolUse, matcher, handler);
    let (_, result) = bench.ask(options).await;
    let seen = seen_by_cli(&result);
    assert_eq!(seen["subtype"], "success", "a control error counts as no opinion");
    seen["response"].clone()
}

fn decision(decision: &str, reason: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision,
        "permissionDecisionReason": reason}})
}

/// What the hook says, and what the CLI gets.
type Row = (fn(&HookCall) -> pilothouse::proto::HookOutput, Value);

#[tokio::test]
async fn each_output_is_what_the_cli_takes() {
    let rows: Vec<Row> = vec![
        (HookCall::pass, json!({})),
        (|call| call.deny("no"), decision("deny", "no")),
        (|call| call.ask("sure?"), decision("ask", "sure?")),
        (
            |call| call.allow_with(json!({"command": "ls"}).as_object().cloned().unwrap()),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
                "updatedInput": {"command": "ls"}}}),
        ),
        (|call| call.block("why"), json!({"decision": "block", "reason": "why"})),
        (|call| call.stop("enough"), json!({"continue": false, "stopReason": "enough"})),
        (|call| call.tell_user("hi"), json!({"systemMessage": "hi"})),
        (
            |call| call.add_context("know this"),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "know this"}}),
        ),
    ];
    for (output, expected) in rows {
        let seen = answered(Matcher::tool("Bash"), move |call: HookCall| async move {
            assert_eq!(
                (call.event(), call.tool_use_id.as_ref().unwrap().as_str()),
                ("PreToolUse", "toolu_1")
            );
            assert_eq!(call.pre_tool_use().unwrap().tool_name, "Bash");
            output(&call)
        });
        assert_eq!(seen.await, expected);
    }
}

#[tokio::test]
async fn a_hook_that_panics_denies() {
    let seen = answered(Matcher::all(), |_: HookCall| async { panic!("the hook breaks on purpose") }).await;
    assert_eq!(seen["hookSpecificOutput"]["permissionDecision"], "deny");
}

#[tokio::test]
async fn a_call_that_cannot_be_read_denies() {
    let looks = async |call: HookCall| {
        assert_eq!(call.event(), "PreToolUse");
        assert!(call.input().tag().is_empty() && call.pre_tool_use().is_none());
        call.allow()
    };
    let seen = answered_in("unreadable_hook", Matcher::all(), looks).await;
    assert_eq!(seen["hookSpecificOutput"]["permissionDecision"], "deny");
    let may_fail = Matcher::all().on_failure(OnFailure::Continue);
    assert_eq!(answered_in("unreadable_hook", may_fail, looks).await, json!({}));
}

#[tokio::test]
async fn a_hook_that_does_not_look_decides_about_what_cannot_be_read_as_well() {
    let seen = answered_in("unreadable_hook", Matcher::all(), async |call: HookCall| call.ask("why?")).await;
    assert_eq!(seen["hookSpecificOutput"]["permissionDecision"], "ask");
}

#[tokio::test]
async fn a_hook_that_takes_too_long_denies_before_the_cli_gives_up() {
    let limit = Duration::from_millis(800);
    let begun = Instant::now();
    let slow = |call: HookCall| async move {
        tokio::time::sleep(Duration::from_secs(600)).await;
        call.pass()
    };
    let seen = answered(Matcher::all().timeout(limit), slow).await;
    assert_eq!(seen["hookSpecificOutput"]["permissionDecision"], "deny");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_hook_that_may_fail_has_no_opinion_then() {
    let matcher = Matcher::all().on_failure(OnFailure::Continue);
    let seen = answered(matcher, |_: HookCall| async { panic!("the hook breaks on purpose") }).await;
    assert_eq!(seen, json!({}));
}

#[tokio::test]
async fn registration_says_what_a_failure_means() {
    let bench = Bench::new("initialize_request");
    let pass = async |call: HookCall| call.pass();
    let matcher = Matcher::tool("Bash").timeout(Duration::from_millis(1500));
    let options = bench.options().hook(HookEvent::PreToolUse, matcher, pass);
    let session = within(options.connect()).await.unwrap();
    let request = seen_by_cli(&within(session.send("go").await.unwrap()).await.unwrap());
    let expected =
        json!([{"matcher": "Bash", "hookCallbackIds": ["hook_0"], "timeout": 1.5, "onFailure": "block"}]);
    assert_eq!(request["hooks"]["PreToolUse"], expected);
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn a_cli_that_ignores_hooks_is_refused() {
    let bench = Bench::new("plain");
    let options = bench.options().env("FAULTY_IGNORES_HOOKS", "1");
    within(options.clone().connect()).await.unwrap().close().await;
    let hooked = options.hook(HookEvent::PreToolUse, Matcher::all(), async |call: HookCall| call.pass());
    let error = within(hooked.connect()).await.unwrap_err();
    assert!(matches!(error, pilothouse::Error::HooksIgnored), "{error}");
    bench.no_process_is_left().await;
}
