//! What the CLI sees of each way to answer an approval.

use pilothouse::{Options, PermissionRequest};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::harness::{Bench, seen_by_cli, within};

/// The payload that the CLI gets when its approval is answered this way.
async fn answered(fault: &'static str, answer: impl Fn(PermissionRequest) + Send + Sync + 'static) -> Value {
    let bench = Bench::new(fault);
    let answer = std::sync::Arc::new(answer);
    let options = bench.options().on_permission(move |request| {
        let answer = std::sync::Arc::clone(&answer);
        async move { answer(request) }
    });
    let (_, result) = bench.ask(options).await;
    let seen = seen_by_cli(&result);
    assert_eq!(seen["subtype"], "success");
    seen["response"].clone()
}

/// How the host answers, and what the CLI gets.
type Row = (&'static str, fn(PermissionRequest), Value);

#[tokio::test]
async fn each_answer_is_what_the_cli_takes() {
    let rule = |destination: &str| {
        json!([{"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch *"}], "behavior": "allow",
            "destination": destination}])
    };
    let input = json!({"command": "touch x"});
    let rows: Vec<Row> = vec![
        ("allow", |request| request.allow(), json!({"behavior": "allow", "updatedInput": input})),
        (
            "allow_with",
            |request| request.allow_with(json!({"command": "ls"}).as_object().cloned().unwrap()),
            json!({"behavior": "allow", "updatedInput": {"command": "ls"}}),
        ),
        (
            "allow_always",
            |request| {
                let suggestion = request.suggestions()[0].clone();
                request.allow_always(suggestion);
            },
            json!({"behavior": "allow", "updatedInput": input, "updatedPermissions": rule("localSettings"),
                "decisionClassification": "user_permanent"}),
        ),
        (
            "allow_for_session",
            |request| request.allow_for_session(),
            json!({"behavior": "allow", "updatedInput": input, "updatedPermissions": rule("session"),
                "decisionClassification": "user_temporary"}),
        ),
        ("deny", |request| request.deny("not now"), json!({"behavior": "deny", "message": "not now"})),
        (
            "deny_and_stop",
            |request| request.deny_and_stop("stop it"),
            json!({"behavior": "deny", "message": "stop it", "interrupt": true}),
        ),
    ];
    for (name, answer, expected) in rows {
        assert_eq!(answered("permission", answer).await, expected, "{name}");
    }
}

#[tokio::test]
async fn a_dropped_or_panicking_decision_denies() {
    let rows: [fn(PermissionRequest); 2] = [drop, |_request| panic!("the handler breaks on purpose")];
    for answer in rows {
        assert_eq!(answered("permission", answer).await["behavior"], "deny");
    }
}

#[tokio::test]
async fn a_decision_can_be_made_elsewhere_and_later() {
    let bench = Bench::new("permission");
    let (desk, mut approvals) = mpsc::unbounded_channel();
    let options = bench.options().on_permission(move |request: PermissionRequest| {
        let desk = desk.clone();
        async move { drop(desk.send(request)) }
    });
    let session = within(options.connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    let request = within(approvals.recv()).await.unwrap();
    // The session goes on while the approval is open.
    within(session.mcp_status()).await.unwrap();
    request.deny("after a while");
    assert_eq!(seen_by_cli(&within(turn).await.unwrap())["response"]["message"], "after a while");
    within(session.close()).await;
    bench.no_process_is_left().await;
}

#[tokio::test]
async fn questions_are_answered_by_label_by_labels_and_in_own_words() {
    let payload = answered("question", |request| {
        let questions = request.questions();
        assert_eq!(questions.iter().map(|q| q.multi_select).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(questions[0].options[1].label, "B");
        request
            .answer("Which?", "B")
            .answer("Which ones?", ["A", "B"])
            .answer("Why?", "because".to_owned())
            .allow();
    });
    let payload = payload.await;
    let expected = json!({"Which?": "B", "Which ones?": "A, B", "Why?": "because"});
    assert_eq!(payload["updatedInput"]["answers"], expected);
    assert_eq!(payload["updatedInput"]["questions"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn without_a_handler_the_cli_is_told_so() {
    let bench = Bench::new("permission");
    let (_, result) = bench.ask(bench.options()).await;
    assert_eq!(seen_by_cli(&result)["subtype"], "error");
    assert!(!Options::new().to_argv().unwrap().iter().any(|argument| argument == "--permission-prompt-tool"));
}

#[tokio::test]
async fn two_hundred_at_once_are_answered_out_of_order() {
    let bench = Bench::new("many_permissions");
    let (desk, mut approvals) = mpsc::unbounded_channel();
    let options =
        bench.options().env("FAULTY_SIZE", "200").on_permission(move |request: PermissionRequest| {
            let desk = desk.clone();
            async move { drop(desk.send(request)) }
        });
    tokio::spawn(async move {
        let mut open = Vec::new();
        while open.len() < 200 {
            open.extend(approvals.recv().await);
        }
        open.into_iter().rev().for_each(PermissionRequest::allow);
    });
    let (_, result) = bench.ask(options).await;
    assert_eq!(result.text(), "200 right answers");
}

#[tokio::test]
async fn a_consumer_that_reads_nothing_does_not_stop_approvals() {
    let bench = Bench::new("unread");
    let (asked, heard) = tokio::sync::oneshot::channel();
    let asked = std::sync::Mutex::new(Some(asked));
    let options =
        bench.options().env("FAULTY_SIZE", "20000").on_permission(move |request: PermissionRequest| {
            let asked = asked.lock().unwrap().take();
            async move {
                request.allow();
                if let Some(asked) = asked {
                    let _ = asked.send(());
                }
            }
        });
    let session = within(options.connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    // Twenty megabytes of events stand before the approval, and nobody reads them.
    within(heard).await.unwrap();
    within(session.mcp_status()).await.unwrap();
    let (events, result) = crate::harness::read(turn).await;
    assert_eq!((events.len(), result.unwrap().text()), (20_002, "success"));
    within(session.close()).await;
    bench.no_process_is_left().await;
}
