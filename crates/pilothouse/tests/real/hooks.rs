//! Hooks: their opinion is what happens, and failing is an opinion too.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pilothouse::proto::HookOutput;
use pilothouse::{HookCall, HookEvent, Matcher, PermissionMode, PermissionRequest};
use pilothouse_testkit::Turn;
use serde_json::json;

use super::stage::{Stage, ask, bash, object};

/// What a `PreToolUse` hook says about `touch made`, and what comes of it.
struct Case {
    name: &'static str,
    answer: fn(&HookCall) -> HookOutput,
    /// How often the permission handler, which allows everything, is asked.
    asked: usize,
    /// The file that is there afterwards.
    made: Option<&'static str>,
    /// What the model is told.
    told: &'static str,
}

#[tokio::test]
async fn a_pre_tool_use_hook_decides() {
    let another_input = |call: &HookCall| call.allow_with(object(json!({"command": "touch hooked"})));
    let cases = [
        Case { name: "allow", answer: HookCall::allow, asked: 0, made: Some("made"), told: "" },
        Case {
            name: "deny",
            answer: |call| call.deny("not like this"),
            asked: 0,
            made: None,
            told: "not like this",
        },
        Case { name: "ask", answer: |call| call.ask("have a look"), asked: 1, made: Some("made"), told: "" },
        Case { name: "no opinion", answer: HookCall::pass, asked: 1, made: Some("made"), told: "" },
        Case { name: "another input", answer: another_input, asked: 0, made: Some("hooked"), told: "" },
    ];
    for Case { name, answer, asked, made, told } in cases {
        let Some(stage) = Stage::open([bash("touch made"), Turn::text("done")]) else { return };
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let options = stage
            .options()
            .hook(HookEvent::PreToolUse, Matcher::tool("Bash"), move |call: HookCall| {
                std::future::ready(answer(&call))
            })
            .on_permission(move |request: PermissionRequest| {
                counted.fetch_add(1, Ordering::SeqCst);
                async move { request.allow() }
            });
        let session = stage.connect(options).await.expect("connect");
        ask(&session, "go").await;
        assert_eq!(count.load(Ordering::SeqCst), asked, "{name}");
        for file in ["made", "hooked"] {
            assert_eq!(stage.has(file), made == Some(file), "{name}: {file}");
        }
        assert!(stage.last_tool_result().contains(told), "{name}: {}", stage.last_tool_result());
        stage.close(session).await;
    }
}

#[tokio::test]
async fn a_hook_that_hangs_or_panics_blocks_the_call() {
    for name in ["hangs", "panics"] {
        let Some(stage) = Stage::open([bash("touch made"), Turn::text("done")]) else { return };
        let matcher = Matcher::tool("Bash").timeout(Duration::from_secs(2));
        let options = stage.options().permission_mode(PermissionMode::AcceptEdits).hook(
            HookEvent::PreToolUse,
            matcher,
            move |_: HookCall| async move {
                match name {
                    "hangs" => std::future::pending().await,
                    _ => panic!("on purpose"),
                }
            },
        );
        let session = stage.connect(options).await.expect("connect");
        assert_eq!(ask(&session, "go").await.text(), "done", "{name}");
        assert!(!stage.has("made"), "{name}");
        assert!(stage.last_tool_result().contains(r#""is_error":true"#), "{name}");
        stage.close(session).await;
    }
}

#[tokio::test]
async fn a_stop_hook_makes_the_turn_go_on() {
    let Some(stage) = Stage::open([Turn::text("done"), Turn::text("really done")]) else { return };
    let stops = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&stops);
    let options = stage.options().hook(HookEvent::Stop, Matcher::all(), move |call: HookCall| {
        let first = count.fetch_add(1, Ordering::SeqCst) == 0;
        async move { if first { call.block("one more thing") } else { call.pass() } }
    });
    let session = stage.connect(options).await.expect("connect");
    assert_eq!(ask(&session, "go").await.text(), "really done");
    assert_eq!(stops.load(Ordering::SeqCst), 2);
    assert!(stage.api.main_calls()[1].conversation().contains("one more thing"));
    stage.close(session).await;
}

#[tokio::test]
async fn a_prompt_hook_adds_context_for_the_model() {
    let Some(stage) = Stage::open([Turn::text("done")]) else { return };
    let options =
        stage.options().hook(HookEvent::UserPromptSubmit, Matcher::all(), async |call: HookCall| {
            call.add_context("the tide is rising")
        });
    let session = stage.connect(options).await.expect("connect");
    ask(&session, "go").await;
    assert!(stage.api.main_calls()[0].conversation().contains("the tide is rising"));
    stage.close(session).await;
}

#[tokio::test]
async fn a_post_tool_use_hook_sees_what_the_tool_gave() {
    let Some(stage) = Stage::open([bash("echo a-word-to-find"), Turn::text("done")]) else { return };
    let (sender, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let options =
        stage.options().hook(HookEvent::PostToolUse, Matcher::tool("Bash"), move |call: HookCall| {
            let _ = sender.send(serde_json::to_string(call.input()).expect("JSON"));
            async move { call.add_context("and a footnote") }
        });
    let session = stage.connect(options).await.expect("connect");
    ask(&session, "go").await;
    assert!(seen.recv().await.expect("the hook ran").contains("a-word-to-find"));
    assert!(stage.api.main_calls()[1].conversation().contains("and a footnote"));
    stage.close(session).await;
}
