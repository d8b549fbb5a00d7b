//! Idempotency keys: a key names one message, and an empty key names none.

use serde_json::json;

use crate::harness::Place;

#[tokio::test]
async fn a_key_that_is_reused_for_other_content_is_refused() {
    let place = Place::new("tour");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    let input =
        |text: &str| json!({"type": "input", "text": text, "sessionId": session, "clientMessageId": "a"});
    peer.say(input("one")).await;
    assert_eq!(peer.until("ack").await["duplicate"], false);
    peer.say(input("one")).await;
    let again = peer.until("ack").await;
    assert_eq!(again["duplicate"], true);
    for other in [
        input("two"),
        json!({"type": "input", "text": "one", "sessionId": session, "clientMessageId": "a", "delivery": "steer"}),
        json!({"type": "input", "text": "one", "sessionId": session, "clientMessageId": "a",
               "images": [{"mediaType": "image/png", "data": "AA=="}]}),
    ] {
        peer.say(other.clone()).await;
        let told = peer.until_some("an answer", |message| message["clientMessageId"] == "a").await;
        assert_eq!(told["errorCode"], "key_reused", "{other} got {told}");
    }
    hub.shut_down("the test").await;

    // The log remembers as well as memory does.
    let hub = place.hub().await;
    let mut peer = place.modern(&hub, "laptop").await;
    peer.say(json!({"type": "resume_session", "sessionId": session, "projectPath": place.project()})).await;
    peer.until_some("it runs", |message| message["subtype"] == "session_created").await;
    peer.say(input("one")).await;
    assert_eq!(peer.until("ack").await["duplicate"], true);
    peer.say(input("two")).await;
    let told = peer.until_some("an answer", |message| message["clientMessageId"] == "a").await;
    assert_eq!(told["errorCode"], "key_reused", "{told}");
    hub.shut_down("the test").await;
    place.no_process_is_left().await;
}

#[tokio::test]
async fn a_start_under_a_used_key_is_refused_if_it_asks_for_something_else() {
    let place = Place::new("tour");
    let hub = place.hub().await;
    let mut peer = place.modern(&hub, "laptop").await;
    let start = json!({"type": "start", "projectPath": place.project(), "clientMessageId": "s"});
    peer.say(start.clone()).await;
    let session = peer.until("system").await["sessionId"].clone();
    peer.say(start).await;
    let again = peer.until_some("created", |message| message["subtype"] == "session_created").await;
    assert_eq!((&again["sessionId"], &again["attached"]), (&session, &json!(true)));
    for other in [
        json!({"type": "start", "projectPath": place.project(), "clientMessageId": "s", "model": "opus"}),
        json!({"type": "resume_session", "sessionId": session, "projectPath": place.project(), "clientMessageId": "s"}),
    ] {
        peer.say(other.clone()).await;
        let told = peer.until_some("an answer", |message| {
            message["clientMessageId"] == "s" || message["subtype"] == "session_created"
        });
        let told = told.await;
        assert_eq!(told["errorCode"], "key_reused", "{other} got {told}");
    }
    hub.shut_down("the test").await;
    place.no_process_is_left().await;
}

#[tokio::test]
async fn an_empty_key_is_no_key() {
    let place = Place::new("tour");
    let hub = place.hub().await;
    let mut peer = place.modern(&hub, "laptop").await;
    let mut sessions = Vec::new();
    for _ in 0..2 {
        peer.say(json!({"type": "start", "projectPath": place.project(), "clientMessageId": ""})).await;
        let created = peer.until_some("created", |message| message["subtype"] == "session_created").await;
        assert_eq!(created["attached"], false, "{created}");
        sessions.push(created["sessionId"].clone());
    }
    assert_ne!(sessions[0], sessions[1]);
    let mut positions = Vec::new();
    for text in ["one", "two"] {
        peer.say(json!({"type": "input", "text": text, "clientMessageId": ""})).await;
        let ack = peer.until("ack").await;
        assert_eq!(ack["duplicate"], false, "{ack}");
        positions.push(ack["seq"].as_u64());
    }
    assert_ne!(positions[0], positions[1]);
    hub.shut_down("the test").await;
    place.no_process_is_left().await;
}
