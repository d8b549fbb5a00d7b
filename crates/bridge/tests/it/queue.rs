//! What is said while a turn runs waits, can be changed, and runs once.

use serde_json::{Value, json};

use crate::harness::Place;

fn echoed(result: &Value) -> Value {
    serde_json::from_str(result["result"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_follow_up_waits_and_can_be_changed_or_taken_back() {
    let place = Place::new("tour");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "one", "sessionId": session})).await;
    let asked = peer.until("permission_request").await;
    let mut ids = Vec::new();
    for text in ["two", "three", "four"] {
        peer.say(json!({"type": "input", "text": text, "requestId": text})).await;
        let ack = peer.until("ack").await;
        assert_eq!((&ack["requestId"], &ack["duplicate"]), (&json!(text), &json!(false)));
        ids.push(ack["inputId"].clone());
    }
    peer.say(json!({"type": "edit_input", "inputId": ids[0], "text": "deux"})).await;
    peer.until("ack").await;
    peer.say(json!({"type": "cancel_input", "inputId": ids[1]})).await;
    peer.until("ack").await;
    peer.say(json!({"type": "cancel_input", "inputId": ids[1]})).await;
    assert_eq!(peer.until("error").await["errorCode"], "not_queued");
    peer.say(json!({"type": "list_sessions"})).await;
    assert_eq!(peer.until("session_list").await["sessions"][0]["queue"], json!([ids[0], ids[2]]));

    peer.say(json!({"type": "approve", "id": asked["id"]})).await;
    assert_eq!(peer.until("result").await["result"], "You said: one. Approval: allow.");
    for said in ["deux", "four"] {
        let asked = peer.until("permission_request").await;
        peer.say(json!({"type": "approve", "id": asked["id"]})).await;
        assert_eq!(peer.until("result").await["result"], format!("You said: {said}. Approval: allow."));
    }
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn the_same_command_sent_again_is_acknowledged_again_and_not_run() {
    let place = Place::new("prompt_frame");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    let input = json!({"type": "input", "text": "go", "sessionId": session, "clientMessageId": "m1"});
    peer.say(input.clone()).await;
    let first = peer.until("ack").await;
    let frame = echoed(&peer.until("result").await);
    assert_eq!(frame["uuid"], first["inputId"], "the CLI knows the message by the name that the log has");
    let mut other = place.modern(&hub, "phone").await;
    other.say(input).await;
    let second = other.until("ack").await;
    assert_eq!((&second["seq"], &second["duplicate"]), (&first["seq"], &json!(true)));
    peer.say(json!({"type": "input", "text": "next", "clientMessageId": "m2"})).await;
    assert_eq!(echoed(&peer.until("result").await)["message"]["content"], "next");
    assert_eq!(peer.count("user_input"), 2);

    let start = json!({"type": "start", "projectPath": place.project(), "clientMessageId": "s1"});
    peer.say(start.clone()).await;
    let made = peer.until("system").await;
    peer.say(start).await;
    let again = peer.until("system").await;
    assert_eq!((&again["sessionId"], &again["attached"]), (&made["sessionId"], &json!(true)));
    hub.shut_down("the test").await;
    place.no_process_is_left().await;
}

#[tokio::test]
async fn steering_goes_into_the_turn_and_interrupting_ends_it() {
    let place = Place::new("inject");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "one", "sessionId": session})).await;
    peer.until_some("init", |message| message["subtype"] == "init").await;
    peer.say(json!({"type": "input", "text": "two", "delivery": "steer"})).await;
    assert_eq!(peer.until("result").await["result"], "both");
    hub.shut_down("the test").await;

    let place = Place::new("interrupt");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "one", "sessionId": session})).await;
    peer.until("stream_delta").await;
    peer.say(json!({"type": "input", "text": "two", "delivery": "interrupt"})).await;
    assert_eq!(peer.until("interrupt_requested").await["by"], "laptop");
    assert_eq!(peer.until("result").await["subtype"], "error_during_execution");
    peer.until_some("the second turn", |message| message["subtype"] == "init").await;
    peer.say(json!({"type": "interrupt"})).await;
    assert_eq!(peer.until("result").await["subtype"], "error_during_execution");
    hub.shut_down("the test").await;
    place.no_process_is_left().await;
}

#[tokio::test]
async fn who_interrupts_is_heard_before_those_who_wait() {
    let place = Place::new("interrupt");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "one", "sessionId": session})).await;
    peer.until("stream_delta").await;
    peer.say(json!({"type": "input", "text": "two"})).await;
    let patient = peer.until("ack").await["inputId"].clone();
    peer.say(json!({"type": "input", "text": "three", "delivery": "interrupt"})).await;
    let urgent = peer.until("ack").await["inputId"].clone();
    peer.until("result").await;
    let sent = peer.until_some("the next one", |message| message["state"] == "sending").await;
    assert_eq!(sent["inputId"], urgent);
    assert_eq!(json!(hub.list(false)[0].queue), json!([patient]));
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn a_cli_that_dies_ends_the_turn_once_and_says_why() {
    let place = Place::new("exits_in_turn");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "one", "sessionId": session})).await;
    let result = peer.until("result").await;
    assert_eq!(result["subtype"], "process_ended");
    assert!(result["error"].as_str().unwrap().contains("out of cheese"), "{result}");
    assert_eq!(peer.until("session_state").await["state"], "interrupted");
    peer.say(json!({"type": "input", "text": "two"})).await;
    assert_eq!(peer.until("error").await["errorCode"], "not_running");
    assert_eq!(peer.count("result"), 1);

    let place = Place::new("dies_at_once");
    let hub = place.hub().await;
    let (mut peer, _) = place.started(&hub).await;
    let result = peer.until("result").await;
    assert_eq!(result["subtype"], "start_failed");
    assert!(result["error"].as_str().unwrap().contains("the moon"), "{result}");
}

#[tokio::test]
async fn nothing_the_cli_writes_is_dropped() {
    for (fault, kinds) in [("unknown_type", vec!["telepathy", "system"]), ("noise", vec!["noise", "noise"])] {
        let place = Place::new(fault);
        let hub = place.hub().await;
        let (mut peer, session) = place.started(&hub).await;
        peer.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
        peer.until("result").await;
        let frames: Vec<&str> = peer.got.iter().filter_map(|message| message["kind"].as_str()).collect();
        assert_eq!(frames, kinds, "{fault}");
        hub.shut_down("the test").await;
    }
}

#[tokio::test]
async fn a_turn_is_over_when_the_cli_rests_though_it_gave_no_result() {
    let place = Place::new("no_result");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    for text in ["one", "two"] {
        peer.say(json!({"type": "input", "text": text, "sessionId": session})).await;
        let end = peer.until("result").await;
        assert_eq!(end["subtype"], "no_result", "{end}");
        peer.until_some("idle", |message| message["status"] == "idle").await;
    }
    assert_eq!(peer.count("result"), 2);
    hub.shut_down("the test").await;
}
