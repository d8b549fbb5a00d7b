//! A client that speaks only the original protocol has a whole conversation.

use pilothouse_bridge::auth::{Scope, Scopes};
use serde_json::{Value, json};

use crate::harness::Place;

/// The messages that such a client knows; `session_list` and `recent_sessions` are the replies that the original
/// description does not name.
const KNOWN: [&str; 12] = [
    "system",
    "assistant",
    "tool_result",
    "result",
    "error",
    "status",
    "history",
    "permission_request",
    "stream_delta",
    "thinking_delta",
    "session_list",
    "recent_sessions",
];

#[tokio::test]
async fn a_whole_conversation() {
    let place = Place::new("tour");
    let hub = place.hub().await;
    let mut phone = place.original(&hub, "phone");
    phone.say(json!({"type": "start", "projectPath": place.project(), "permissionMode": "default"})).await;
    let created = phone.until("system").await;
    assert_eq!(created["subtype"], "session_created");
    let session = created["sessionId"].clone();

    phone.say(json!({"type": "input", "text": "hello there"})).await;
    assert_eq!(phone.until("status").await["status"], "idle");
    assert_eq!(phone.until("status").await["status"], "running");
    let init = phone.until("system").await;
    assert_eq!((&init["subtype"], &init["model"]), (&json!("init"), &json!("fake")));
    assert_eq!(phone.until("stream_delta").await["text"], "hello ");
    let call = phone.until("assistant").await;
    assert_eq!(call["message"]["content"][0]["name"], "Bash");
    let asked = phone.until("permission_request").await;
    assert_eq!((&asked["toolName"], &asked["input"]["command"]), (&json!("Bash"), &json!("touch x")));
    assert_eq!(phone.until("status").await["status"], "waiting_approval");

    phone.say(json!({"type": "list_sessions"})).await;
    let listed = phone.until("session_list").await;
    assert_eq!(listed["sessions"][0]["id"], session);
    assert_eq!(listed["sessions"][0]["approvals"][0]["toolUseId"], asked["toolUseId"]);

    phone.say(json!({"type": "approve", "id": asked["toolUseId"], "sessionId": session})).await;
    let result = phone.until("result").await;
    assert_eq!(result["result"], "You said: hello there. Approval: allow.");
    assert_eq!(
        (&result["subtype"], &result["cost"], &result["duration"]),
        (&json!("success"), &json!(0.25), &json!(1))
    );
    assert_eq!(phone.until("status").await["status"], "idle");

    for (message, decided) in [
        (json!({"type": "approve_always", "id": "toolu_1"}), "allow"),
        (json!({"type": "reject", "id": "toolu_1", "message": "not now"}), "deny"),
    ] {
        phone.say(json!({"type": "input", "text": "again", "sessionId": session})).await;
        let asked = phone.until("permission_request").await;
        // Same tool call as before, so the approval has a name of its own, and the old one still finds it.
        assert_ne!(asked["id"], "toolu_1");
        phone.say(message).await;
        assert_eq!(phone.until("result").await["result"], format!("You said: again. Approval: {decided}."));
    }

    phone.say(json!({"type": "get_history", "sessionId": session})).await;
    let history = phone.until("history").await;
    let kinds: Vec<&str> = history["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["type"].as_str().unwrap())
        .collect();
    let turn = ["system", "assistant", "assistant", "result"];
    assert_eq!(
        kinds,
        [&["system"][..], &turn, &turn, &turn].concat(),
        "approvals that are over are not shown again"
    );

    phone.say(json!({"type": "stop_session", "sessionId": session})).await;
    assert_eq!(phone.until("result").await["subtype"], "stopped");
    phone.say(json!({"type": "list_sessions"})).await;
    assert_eq!(phone.until("session_list").await["sessions"], json!([]));
    phone.say(json!({"type": "list_recent_sessions", "limit": 5})).await;
    assert_eq!(phone.until("recent_sessions").await["hasMore"], false);

    phone.say(json!({"type": "resume_session", "sessionId": session, "projectPath": place.project()})).await;
    assert_eq!(phone.until("system").await["sessionId"], session, "the same log goes on");
    phone.say(json!({"type": "input", "text": "back"})).await;
    phone.until("permission_request").await;

    let unknown: Vec<&Value> =
        phone.got.iter().filter(|message| !KNOWN.contains(&message["type"].as_str().unwrap())).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
    assert_eq!(phone.count("error"), 0);
    hub.shut_down("the test").await;
    place.no_process_is_left().await;
}

#[tokio::test]
async fn a_decision_that_comes_too_late_is_answered() {
    let place = Place::new("permission");
    let hub = place.hub().await;
    let mut phone = place.original(&hub, "phone");
    phone.say(json!({"type": "start", "projectPath": place.project()})).await;
    phone.say(json!({"type": "input", "text": "go"})).await;
    let asked = phone.until("permission_request").await;
    phone.say(json!({"type": "approve", "id": "nothing"})).await;
    assert!(phone.until("error").await["message"].as_str().unwrap().contains("nothing to decide"));
    for _ in 0..2 {
        phone.say(json!({"type": "approve", "id": asked["id"]})).await;
    }
    assert!(phone.until("error").await["message"].as_str().unwrap().ends_with("by phone"));
    assert_eq!(phone.count("approval_reply"), 0);
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn what_is_not_understood_or_not_allowed_is_answered() {
    let place = Place::new("plain");
    let hub = place.hub().await;
    let watcher = Scopes::from_iter([Scope::Observe]);
    let rows: Vec<(Scopes, Value, &str)> = vec![
        (Scopes::usual(), json!({"type": "teleport"}), "unsupported_message"),
        (Scopes::usual(), json!({"type": "input"}), "malformed_message"),
        (Scopes::usual(), json!([1]), "malformed_message"),
        (Scopes::usual(), json!({"type": "input", "text": "x"}), "no_session"),
        (Scopes::usual(), json!({"type": "input", "text": "x", "sessionId": "y"}), "unknown_session"),
        (Scopes::usual(), json!({"type": "get_history", "sessionId": "y"}), "unknown_session"),
        (Scopes::usual(), json!({"type": "start", "projectPath": "/etc"}), "project_not_allowed"),
        (Scopes::usual(), json!({"type": "start", "projectPath": "relative"}), "project_not_allowed"),
        (watcher, json!({"type": "start", "projectPath": place.project()}), "forbidden"),
        (watcher, json!({"type": "approve", "id": "x"}), "forbidden"),
        (watcher, json!({"type": "set_mode", "mode": "plan"}), "forbidden"),
        (
            Scopes::usual(),
            json!({"type": "start", "projectPath": place.project(), "permissionMode": "bypassPermissions"}),
            "forbidden",
        ),
    ];
    for (scopes, message, code) in rows {
        let mut peer = place.client(&hub, "somebody", scopes);
        peer.say(message.clone()).await;
        let error = peer.until("error").await;
        assert_eq!(error["errorCode"], code, "{message}");
        assert!(error["message"].as_str().unwrap().len() > 10);
        peer.say(json!({"type": "list_sessions"})).await;
        peer.until("session_list").await;
    }
}
