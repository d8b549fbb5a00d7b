//! Approvals: who was asked, what ran, what was kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pilothouse::PermissionRequest;
use pilothouse::proto::{
    Extra, PermissionBehavior, PermissionRuleValue, PermissionUpdate, PermissionUpdateDestination,
    RulesUpdate, TerminalReason,
};
use pilothouse_testkit::Turn;
use serde_json::json;
use tokio::sync::mpsc;

use super::stage::{Stage, ask, bash, object};

#[tokio::test]
async fn an_allowed_call_runs() {
    let Some(stage) = Stage::open([bash("touch made"), Turn::text("done")]) else { return };
    let options = stage.options().on_permission(async |request: PermissionRequest| {
        assert_eq!(request.tool_name, "Bash");
        assert_eq!(request.input["command"], "touch made");
        request.allow()
    });
    let session = stage.connect(options).await.expect("connect");
    let result = ask(&session, "go").await;
    assert_eq!(result.text(), "done");
    assert!(stage.has("made"));
    stage.close(session).await;
}

#[tokio::test]
async fn a_changed_input_runs_instead() {
    let Some(stage) = Stage::open([bash("touch asked"), Turn::text("done")]) else { return };
    let options = stage.options().on_permission(async |request: PermissionRequest| {
        request.allow_with(object(json!({"command": "touch changed"})))
    });
    let session = stage.connect(options).await.expect("connect");
    ask(&session, "go").await;
    assert!(stage.has("changed"));
    assert!(!stage.has("asked"));
    stage.close(session).await;
}

#[tokio::test]
async fn a_denied_call_does_not_run_and_the_model_is_told_why() {
    let Some(stage) = Stage::open([bash("touch made"), Turn::text("understood")]) else { return };
    let options =
        stage.options().on_permission(async |request: PermissionRequest| request.deny("not on a Sunday"));
    let session = stage.connect(options).await.expect("connect");
    let result = ask(&session, "go").await;
    assert_eq!(result.text(), "understood");
    assert!(!stage.has("made"));
    assert!(stage.last_tool_result().contains("not on a Sunday"));
    stage.close(session).await;
}

#[tokio::test]
async fn deny_and_stop_ends_the_turn_and_the_next_one_works() {
    let Some(stage) = Stage::open([bash("touch made"), Turn::text("next answer")]) else { return };
    let options =
        stage.options().on_permission(async |request: PermissionRequest| request.deny_and_stop("stop"));
    let session = stage.connect(options).await.expect("connect");
    let result = ask(&session, "go").await;
    assert!(result.failure().is_some());
    assert_eq!(result.terminal_reason.as_ref(), Some(&TerminalReason::AbortedTools));
    assert_eq!(stage.api.main_calls().len(), 1, "the model was not asked again");
    assert!(!stage.has("made"));
    assert_eq!(ask(&session, "next").await.text(), "next answer");
    stage.close(session).await;
}

#[tokio::test]
async fn always_is_kept_where_it_was_asked_to_be() {
    use PermissionUpdateDestination::{LocalSettings, ProjectSettings, Session, UserSettings};
    // How often the user is asked about two calls that one rule covers. The project is not trusted, so the CLI keeps a
    // rule in the project's file and does not follow it.
    for (destination, questions) in
        [(Session, 1), (LocalSettings, 1), (ProjectSettings, 2), (UserSettings, 1)]
    {
        let script = [bash("touch first"), bash("touch second"), Turn::text("done")];
        let Some(stage) = Stage::open(script) else { return };
        let asked = Arc::new(AtomicUsize::new(0));
        let (count, kept) = (Arc::clone(&asked), destination.clone());
        let options = stage.options().on_permission(move |request: PermissionRequest| {
            count.fetch_add(1, Ordering::SeqCst);
            let update = PermissionUpdate::AddRules(RulesUpdate {
                rules: vec![PermissionRuleValue::with_content("Bash", "touch:*")],
                behavior: PermissionBehavior::Allow,
                destination: kept.clone().into(),
                extra: Extra::new(),
            });
            async move { request.allow_always(update) }
        });
        let session = stage.connect(options).await.expect("connect");
        ask(&session, "go").await;
        assert_eq!(asked.load(Ordering::SeqCst), questions, "{destination:?}");
        assert!(stage.has("first") && stage.has("second"), "{destination:?}");
        let files = [
            (LocalSettings, stage.sandbox.project().join(".claude/settings.local.json")),
            (ProjectSettings, stage.sandbox.project().join(".claude/settings.json")),
            (UserSettings, stage.sandbox.config().join("settings.json")),
        ];
        for (owner, path) in files {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(
                text.contains("Bash(touch"),
                owner == destination,
                "{destination:?}: {}",
                path.display()
            );
        }
        stage.close(session).await;
    }
}

#[tokio::test]
async fn the_clis_own_suggestion_can_be_taken() {
    let Some(stage) = Stage::open([bash("python3 -c pass"), bash("python3 -c pass"), Turn::text("done")])
    else {
        return;
    };
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let options = stage.options().on_permission(move |request: PermissionRequest| {
        count.fetch_add(1, Ordering::SeqCst);
        let suggestion = request.suggestions().first().cloned().expect("a suggestion");
        async move { request.allow_always(suggestion) }
    });
    let session = stage.connect(options).await.expect("connect");
    ask(&session, "go").await;
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    stage.close(session).await;
}

#[tokio::test]
async fn an_approval_can_be_answered_later_and_elsewhere() {
    let Some(stage) = Stage::open([bash("touch made"), Turn::text("done")]) else { return };
    let (sender, mut waiting) = mpsc::unbounded_channel::<PermissionRequest>();
    let options = stage.options().on_permission(move |request: PermissionRequest| {
        let _ = sender.send(request);
        async {}
    });
    let session = stage.connect(options).await.expect("connect");
    let turn = session.send("go").await.expect("sent");
    let request = waiting.recv().await.expect("a request");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!stage.has("made"), "nothing runs before the answer");
    request.allow();
    assert_eq!(turn.await.expect("a result").text(), "done");
    assert!(stage.has("made"));
    stage.close(session).await;
}

#[tokio::test]
async fn without_a_handler_nothing_is_asked_and_nothing_runs() {
    let Some(stage) = Stage::open([bash("touch made"), Turn::text("as you wish")]) else { return };
    let session = stage.connect(stage.options()).await.expect("connect");
    let result = ask(&session, "go").await;
    assert_eq!(result.text(), "as you wish");
    assert!(!stage.has("made"));
    assert!(stage.last_tool_result().contains("is_error"));
    stage.close(session).await;
}

#[tokio::test]
async fn questions_are_answered_with_one_choice_or_several() {
    // (several may be chosen, the choices, what the model is told)
    let cases: [(bool, &[&str], &str); 3] = [
        (false, &["React"], r#"=\"React\""#),
        (true, &["React", "Vue"], "React, Vue"),
        (false, &["Elm, of course"], "Elm, of course"),
    ];
    for (multi_select, choices, told) in cases {
        let question = json!({
            "question": "Which library?", "header": "Library", "multiSelect": multi_select,
            "options": [{"label": "React", "description": "r"}, {"label": "Vue", "description": "v"}],
        });
        let script = [Turn::tool("AskUserQuestion", json!({"questions": [question]})), Turn::text("noted")];
        let Some(stage) = Stage::open(script) else { return };
        let options = stage.options().on_permission(async move |request: PermissionRequest| {
            request.answer("Which library?", choices.to_vec()).allow();
        });
        let session = stage.connect(options).await.expect("connect");
        assert_eq!(ask(&session, "ask").await.text(), "noted");
        assert!(stage.last_tool_result().contains(told), "{told}: {}", stage.last_tool_result());
        stage.close(session).await;
    }
}
