//! A decision names the request that its user was shown, and is taken for no other.

use serde_json::{Map, Value, json};

use crate::harness::{Peer, Place};

/// Has the CLI ask for a Bash command under a tool call's id, and gives the request.
fn ask(id: &str, command: &str) -> Value {
    json!({"ask": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": command}, "tool_use_id": id}})
}

/// A decision of each kind about a request.
fn decisions(asked: &Value) -> [Value; 4] {
    let id = &asked["id"];
    [
        json!({"type": "approve", "id": id}),
        json!({"type": "approve_always", "id": id}),
        json!({"type": "reject", "id": id}),
        json!({"type": "answer", "toolUseId": id, "result": "yes"}),
    ]
}

fn with_digest(mut decision: Value, digest: &Value) -> Value {
    decision["digest"] = digest.clone();
    decision
}

/// What is said to a decision: a reply or an error.
async fn replied(peer: &mut Peer, decision: Value) -> Value {
    peer.say(decision).await;
    let is_reply = |message: &Value| ["approval_reply", "error"].iter().any(|kind| message["type"] == *kind);
    peer.until_some("a reply to the decision", is_reply).await
}

#[tokio::test]
async fn a_decision_with_another_digest_is_refused_and_decides_nothing() {
    let place = Place::new("as_told");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    let told = json!([ask("t1", "ls")]).to_string();
    peer.say(json!({"type": "input", "text": told, "sessionId": session})).await;
    let asked = peer.until("permission_request").await;
    let wrong = [json!("0".repeat(64)), json!(""), json!(asked["digest"].as_str().unwrap().to_uppercase())];
    for decision in decisions(&asked) {
        for digest in &wrong {
            let reply = replied(&mut peer, with_digest(decision.clone(), digest)).await;
            assert_eq!(reply["errorCode"], "stale_approval", "{decision} {digest}: {reply}");
        }
    }
    assert_eq!(peer.count("permission_resolved"), 0);
    peer.say(with_digest(decisions(&asked)[0].clone(), &asked["digest"])).await;
    let [reply, _] = peer.until_all(["approval_reply", "result"]).await;
    assert_eq!(reply["status"], "accepted", "{reply}");
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn a_decision_that_arrives_after_it_expired_decides_nothing() {
    let place = Place::new("as_told");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "ping"})).await;
    let now = peer.until("pong").await["now"].as_i64().unwrap();
    let told = json!([ask("t1", "ls")]).to_string();
    peer.say(json!({"type": "input", "text": told, "sessionId": session})).await;
    let asked = peer.until("permission_request").await;
    let expiring = |mut decision: Value, expires: i64| {
        decision["expires"] = json!(expires);
        with_digest(decision, &asked["digest"])
    };
    for decision in decisions(&asked) {
        let reply = replied(&mut peer, expiring(decision.clone(), now - 1)).await;
        assert_eq!(reply["errorCode"], "expired", "{decision}: {reply}");
    }
    assert_eq!(peer.count("permission_resolved"), 0);
    peer.say(expiring(decisions(&asked)[0].clone(), now + 60_000)).await;
    let [reply, _] = peer.until_all(["approval_reply", "result"]).await;
    assert_eq!(reply["status"], "accepted", "{reply}");
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn an_approval_of_a_call_whose_input_has_changed_is_refused() {
    let place = Place::new("as_told");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    // The CLI asks twice under one id, as it may after a retry, for another command the second time.
    let told = json!([ask("t1", "ls"), ask("t1", "rm -rf /")]).to_string();
    peer.say(json!({"type": "input", "text": told, "sessionId": session})).await;
    let first = peer.until("permission_request").await;
    let approve = with_digest(json!({"type": "approve", "id": "t1"}), &first["digest"]);
    peer.say(approve.clone()).await;
    let [reply, second] = peer.until_all(["approval_reply", "permission_request"]).await;
    assert_eq!(reply["status"], "accepted", "{reply}");
    assert_eq!((&second["toolUseId"], &second["input"]["command"]), (&json!("t1"), &json!("rm -rf /")));
    assert_ne!(first["digest"], second["digest"]);
    let late = replied(&mut peer, approve).await;
    assert_eq!(late["errorCode"], "stale_approval", "{late}");
    assert_eq!(peer.count("permission_resolved"), 1);
    peer.say(with_digest(json!({"type": "approve", "id": second["id"]}), &second["digest"])).await;
    let [reply, _] = peer.until_all(["approval_reply", "result"]).await;
    assert_eq!(reply["status"], "accepted", "{reply}");
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn a_client_of_the_original_protocol_decides_without_a_digest() {
    let place = Place::new("as_told");
    let hub = place.hub().await;
    let mut phone = place.original(&hub, "phone");
    phone.say(json!({"type": "start", "projectPath": place.project()})).await;
    phone.until("system").await;
    let told = json!([ask("t1", "ls"), ask("t2", "ls")]).to_string();
    phone.say(json!({"type": "input", "text": told})).await;
    for kind in ["approve", "reject"] {
        let asked = phone.until("permission_request").await;
        phone.say(json!({"type": kind, "id": asked["toolUseId"]})).await;
    }
    assert_eq!(phone.until("result").await["subtype"], "success");
    assert_eq!(phone.count("error"), 0);
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn an_answer_to_a_request_that_asks_no_question_is_refused_and_the_call_does_not_run() {
    let place = Place::new("permission");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
    let asked = peer.until("permission_request").await;
    for result in ["yes", r#"{"answers": {}}"#, r#"{"questions": [], "answers": {"Which?": "A"}}"#] {
        let reply =
            replied(&mut peer, json!({"type": "answer", "toolUseId": asked["id"], "result": result})).await;
        assert_eq!(reply["errorCode"], "refused", "{result}: {reply}");
    }
    assert_eq!(peer.count("permission_resolved"), 0);
    peer.say(json!({"type": "reject", "id": asked["id"]})).await;
    let [reply, result] = peer.until_all(["approval_reply", "result"]).await;
    assert_eq!(reply["status"], "accepted", "{reply}");
    let seen: Value = serde_json::from_str(result["result"].as_str().unwrap()).unwrap();
    assert_eq!(seen["response"]["behavior"], "deny", "what the CLI was told");
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn the_digest_is_the_hash_of_the_request_as_it_was_sent() {
    let place = Place::new("permission");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
    let asked = peer.until("permission_request").await;
    // Members in the order of the schema, as a client in another language would write them.
    let order = ["toolUseId", "toolName", "input", "id", "suggestions", "reason", "questions", "preview"];
    let members = order.iter().filter_map(|name| Some(format!("{}:{}", json!(name), asked.get(*name)?)));
    let text = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
    let hash = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    let hex: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(asked["digest"], json!(hex), "{text}");
    let known: Map<String, Value> = asked.as_object().unwrap().clone();
    let envelope = ["type", "sessionId", "seq", "at", "digest"];
    let others = known.keys().filter(|name| !envelope.contains(&name.as_str()));
    assert!(others.clone().all(|name| order.contains(&name.as_str())), "a member is not hashed: {known:?}");
    // Lists carry the same request.
    peer.say(json!({"type": "list_sessions"})).await;
    let listed = peer.until("session_list").await;
    assert_eq!(listed["sessions"][0]["approvals"][0]["digest"], asked["digest"]);
    hub.shut_down("the test").await;
}
