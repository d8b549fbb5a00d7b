//! Approvals, questions and plans: decided once, whoever decides, and everybody is told.

use std::sync::Arc;
use std::time::Duration;

use pilothouse_bridge::auth::{Scope, Scopes};
use pilothouse_bridge::session::Retention;
use serde_json::{Value, json};

use crate::disk::Disk;
use crate::harness::Place;

#[tokio::test]
async fn the_first_answer_wins_and_both_clients_see_one_end() {
    let place = Place::new("permission");
    let hub = place.hub().await;
    let (mut laptop, session) = place.started(&hub).await;
    let mut phone = place.modern(&hub, "phone").await;
    phone.say(json!({"type": "subscribe", "sessionId": session, "since": 0})).await;
    assert_eq!(phone.until("subscribed").await["continuity"], "ok");
    for round in 0..5 {
        laptop.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
        let asked = laptop.until("permission_request").await;
        phone.until("permission_request").await;
        let (yes, no) =
            (json!({"type": "approve", "id": asked["id"]}), json!({"type": "reject", "id": asked["id"]}));
        tokio::join!(laptop.say(yes), phone.say(no));
        let [first, result] = laptop.until_all(["approval_reply", "result"]).await;
        let [second, seen] = phone.until_all(["approval_reply", "result"]).await;
        assert_eq!(result, seen);
        let replies = [first, second];
        let mut statuses = replies.clone().map(|reply| reply["status"].as_str().unwrap().to_owned());
        statuses.sort();
        assert_eq!(statuses, ["accepted", "already_resolved"], "round {round}");
        assert_eq!(replies[0]["decision"], replies[1]["decision"]);
        assert_eq!(replies[0]["by"], replies[1]["by"]);
        let behavior = if replies[0]["decision"] == "allowed" { "allow" } else { "deny" };
        let seen: Value = serde_json::from_str(result["result"].as_str().unwrap()).unwrap();
        assert_eq!(seen["response"]["behavior"], behavior, "what the CLI was told");
    }
    for peer in [&laptop, &phone] {
        assert_eq!(peer.count("permission_request"), 5);
        assert_eq!(peer.count("permission_resolved"), 5);
    }
    hub.shut_down("the test").await;
    place.no_process_is_left().await;
}

/// What a client says, and what the CLI is told.
#[tokio::test]
async fn each_decision_is_what_the_cli_gets() {
    let rule = |destination: &str| {
        json!([{"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch *"}], "behavior": "allow",
            "destination": destination}])
    };
    let input = json!({"command": "touch x"});
    let rows = [
        (
            "permission",
            json!({"type": "approve"}),
            json!({"behavior": "allow", "updatedInput": input}),
            json!(null),
        ),
        (
            "permission",
            json!({"type": "approve_always"}),
            json!({"behavior": "allow", "updatedInput": input, "updatedPermissions": rule("session"),
                "decisionClassification": "user_temporary"}),
            json!(["allow Bash(touch *) in session"]),
        ),
        (
            "permission",
            json!({"type": "approve_always", "suggestions": [0]}),
            json!({"behavior": "allow", "updatedInput": input, "updatedPermissions": rule("localSettings"),
                "decisionClassification": "user_permanent"}),
            json!(["allow Bash(touch *) in localSettings"]),
        ),
        (
            "permission",
            json!({"type": "reject", "message": "use ls", "stop": true}),
            json!({"behavior": "deny", "message": "use ls", "interrupt": true}),
            json!(null),
        ),
    ];
    for (fault, mut decision, told, rules) in rows {
        let place = Place::new(fault);
        let hub = place.hub().await;
        let (mut peer, session) = place.started(&hub).await;
        peer.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
        decision["id"] = peer.until("permission_request").await["id"].clone();
        peer.say(decision.clone()).await;
        let resolved = peer.until("permission_resolved").await;
        assert_eq!((&resolved["rules"], &resolved["by"]), (&rules, &json!("laptop")), "{decision}");
        let seen: Value =
            serde_json::from_str(peer.until("result").await["result"].as_str().unwrap()).unwrap();
        assert_eq!(seen["response"], told, "{decision}");
        hub.shut_down("the test").await;
    }
}

#[tokio::test]
async fn questions_are_answered_with_labels_or_words() {
    let place = Place::new("question");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
    let asked = peer.until("permission_request").await;
    assert_eq!(asked["questions"][1]["multiSelect"], true);
    peer.say(json!({"type": "answer", "toolUseId": "toolu_1", "result": "A"})).await;
    assert_eq!(peer.until("error").await["errorCode"], "refused", "three questions need three answers");
    let answers = json!({"Which?": "A", "Which ones?": ["A", "B"], "Why?": "because"});
    let result = json!({"questions": [], "answers": answers}).to_string();
    peer.say(json!({"type": "answer", "toolUseId": "toolu_1", "result": result})).await;
    let seen: Value = serde_json::from_str(peer.until("result").await["result"].as_str().unwrap()).unwrap();
    let expected = json!({"Which?": "A", "Which ones?": "A, B", "Why?": "because"});
    assert_eq!(seen["response"]["updatedInput"]["answers"], expected);
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn what_the_cli_takes_back_is_gone_for_everybody() {
    let place = Place::new("cancel");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
    let asked = peer.until("permission_request").await;
    assert_eq!(peer.until("permission_resolved").await["decision"], "withdrawn");
    assert_eq!(peer.until("result").await["result"], "0 late answers");
    peer.say(json!({"type": "approve", "id": asked["id"]})).await;
    let reply = peer.until("approval_reply").await;
    assert_eq!((&reply["status"], &reply["why"]), (&json!("gone"), &json!("the CLI took it back")));
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn an_open_approval_ends_with_its_session() {
    let place = Place::new("permission");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
    let asked = peer.until("permission_request").await;
    peer.say(json!({"type": "stop_session", "sessionId": session})).await;
    assert_eq!(peer.until("permission_resolved").await["decision"], "withdrawn");
    assert_eq!(peer.until("result").await["subtype"], "stopped");
    assert_eq!(peer.until("status").await["status"], "idle");
    assert_eq!(peer.until("session_state").await["state"], "ended");
    peer.say(json!({"type": "approve", "id": asked["id"], "sessionId": session})).await;
    assert_eq!(peer.until("approval_reply").await["status"], "gone");
    assert_eq!(peer.count("permission_resolved"), 1);
    place.no_process_is_left().await;
}

#[tokio::test]
async fn what_nobody_decides_is_denied_once_the_time_is_over_that_was_configured() {
    let place = Place::new("permission");
    let hub = place.hub().await;
    hub.deny_undecided_after(Duration::from_millis(300));
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
    let asked = peer.until("permission_request").await;
    let resolved = peer.until("permission_resolved").await;
    assert_eq!((&resolved["decision"], &resolved["by"]), (&json!("denied"), &json!("the time limit")));
    let seen: Value = serde_json::from_str(peer.until("result").await["result"].as_str().unwrap()).unwrap();
    assert_eq!(seen["response"]["behavior"], "deny");
    peer.say(json!({"type": "approve", "id": asked["id"]})).await;
    assert_eq!(peer.until("approval_reply").await["status"], "already_resolved");
    // One that is decided in time is not denied afterwards.
    peer.say(json!({"type": "input", "text": "again"})).await;
    let asked = peer.until("permission_request").await;
    peer.say(json!({"type": "approve", "id": asked["id"]})).await;
    peer.until("result").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    peer.say(json!({"type": "interrupt"})).await;
    peer.until("ack").await;
    assert_eq!(peer.count("permission_resolved"), 2);
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn what_was_allowed_and_never_heard_of_again_is_called_unknown() {
    let place = Place::new("as_told");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    let ask = |id: &str| json!({"ask": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "x"}, "tool_use_id": id}});
    let done = json!({"type": "user", "message": {"role": "user", "content":
        [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]}, "parent_tool_use_id": null, "session_id": "s"});
    let told = json!([ask("t1"), done, ask("t2"), {"exit": true}]).to_string();
    peer.say(json!({"type": "input", "text": told, "sessionId": session})).await;
    for _ in 0..2 {
        let asked = peer.until("permission_request").await;
        peer.say(json!({"type": "approve", "id": asked["id"]})).await;
    }
    let end = peer.until("result").await;
    assert_eq!((&end["subtype"], &end["indeterminate"]), (&json!("process_ended"), &json!(["t2"])), "{end}");
    let error = end["error"].as_str().unwrap();
    assert!(error.ends_with("; Bash was allowed by laptop, and nobody knows whether it ran"), "{error}");
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn a_mode_is_set_by_a_suggestion_only_for_who_may_set_it() {
    let place = Place::new("as_told");
    let hub = place.hub().await;
    let (mut owner, session) = place.started(&hub).await;
    let may = |scopes: &[Scope]| scopes.iter().copied().collect::<Scopes>();
    let approver = may(&[Scope::Observe, Scope::Approve]);
    let rows = [
        ("acceptEdits", approver, Some("configure")),
        ("acceptEdits", Scopes::usual(), None),
        ("bypassPermissions", Scopes::usual(), Some("bypass")),
        ("bypassPermissions", may(&[Scope::Observe, Scope::Approve, Scope::Bypass]), Some("configure")),
        ("bypassPermissions", Scopes::all(), None),
    ];
    for (number, (mode, scopes, lacks)) in rows.into_iter().enumerate() {
        let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "x"},
            "tool_use_id": format!("t{number}"),
            "permission_suggestions": [
                {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "session"},
                {"type": "setMode", "mode": mode, "destination": "session"}]});
        let told = json!([{"ask": request}]).to_string();
        owner.say(json!({"type": "input", "text": told, "sessionId": session})).await;
        let id = owner.until("permission_request").await["id"].clone();
        let always = |picked: &[usize]| json!({"type": "approve_always", "id": id, "sessionId": session, "suggestions": picked});
        let mut peer = place.client(&hub, &format!("device {number}"), scopes);
        peer.say(json!({"type": "hello", "protocol": 1})).await;
        peer.say(always(&[0, 1])).await;
        let Some(lacks) = lacks else {
            assert_eq!(peer.until("approval_reply").await["status"], "accepted");
            let rules = owner.until("permission_resolved").await["rules"].clone();
            assert_eq!(rules[1], format!("mode {mode}"));
            owner.until("result").await;
            continue;
        };
        let error = peer.until("error").await;
        assert_eq!(error["errorCode"], "forbidden");
        assert!(error["message"].as_str().unwrap().contains(&format!("--may …,{lacks}")), "{error}");
        // What sets no mode it may pick all the same.
        peer.say(always(&[0])).await;
        assert_eq!(peer.until("approval_reply").await["always"], true);
        owner.until("result").await;
    }
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn who_may_not_set_a_mode_may_not_be_early_either() {
    let place = Place::new("as_told");
    let disk = Disk::at(&place.database());
    let hub = place.hub_over(Arc::clone(&disk), Retention::default()).await;
    let (mut owner, session) = place.started(&hub).await;
    let mut early =
        place.client(&hub, "early", [Scope::Observe, Scope::Approve].into_iter().collect::<Scopes>());
    early.say(json!({"type": "hello", "protocol": 1})).await;
    let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "x"}, "tool_use_id": "t1",
        "permission_suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]});
    // The request is on its way into the log, and nobody has been shown it.
    disk.hold(Some("permission_request"));
    let told = json!([{"ask": request}]).to_string();
    owner.say(json!({"type": "input", "text": told, "sessionId": session})).await;
    let always = json!({"type": "approve_always", "id": "t1", "sessionId": session, "suggestions": [0]});
    let answer = loop {
        early.say(always.clone()).await;
        let is_answer = |message: &Value| message["type"] == "error" || message["type"] == "approval_reply";
        let answer = early.until_some("an answer", is_answer).await;
        if answer["status"] != "gone" {
            break answer;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!(answer["errorCode"], "forbidden", "{answer}");
    disk.hold(None);
    let asked = owner.until("permission_request").await;
    owner.say(json!({"type": "approve", "id": asked["id"]})).await;
    assert_eq!(owner.until("permission_resolved").await["by"], "laptop");
    hub.shut_down("the test").await;
}
