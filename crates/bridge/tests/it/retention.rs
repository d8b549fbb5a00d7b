//! What the log forgets, and what it never does.

use std::time::{Duration, Instant};

use pilothouse_bridge::api::Lifecycle;
use pilothouse_bridge::session::Retention;
use serde_json::json;

use crate::harness::Place;
use crate::wire::Running;

fn keeping(events: u64) -> Retention {
    Retention { events_per_session: events, ..Retention::default() }
}

#[tokio::test]
async fn a_command_is_known_when_its_words_are_forgotten() {
    let place = Place::new("plain");
    let hub = place.hub_keeping(&place.database(), keeping(3)).await;
    let (mut peer, session) = place.started(&hub).await;
    let say =
        |name: &str| json!({"type": "input", "text": name, "sessionId": session, "clientMessageId": name});
    for name in ["one", "two", "three"] {
        peer.say(say(name)).await;
        peer.until("result").await;
    }
    let mut late = place.modern(&hub, "late").await;
    late.say(json!({"type": "subscribe", "sessionId": session, "since": 0})).await;
    assert_eq!(late.until("subscribed").await["continuity"], "ok");

    assert_eq!(hub.forget_old().await.unwrap(), [], "the session itself stays");
    let newest = hub.list(false)[0].seq.0;
    let mut later = place.modern(&hub, "later").await;
    later.say(json!({"type": "subscribe", "sessionId": session, "since": 1})).await;
    let subscribed = later.until("subscribed").await;
    assert_eq!((&subscribed["continuity"], &subscribed["since"]), (&json!("gap"), &json!(newest - 3)));
    let positions: Vec<u64> = later.events(&session).into_iter().map(|(seq, _)| seq).collect();
    assert_eq!(positions, (newest - 2..=newest).collect::<Vec<_>>());

    // While it lives it remembers by itself, after a crash by the log.
    peer.say(say("one")).await;
    let ack = peer.until_some("an answer", |message| message["duplicate"] == true).await;
    let again = place.hub_keeping(&place.copied_log(), keeping(3)).await;
    hub.shut_down("the test").await;
    let mut phone = place.modern(&again, "phone").await;
    phone.say(json!({"type": "resume_session", "sessionId": session, "projectPath": place.project()})).await;
    phone.until_some("it runs", |message| message["subtype"] == "session_created").await;
    phone.say(say("one")).await;
    let told = phone.until("ack").await;
    assert_eq!((&told["duplicate"], &told["seq"]), (&json!(true), &ack["seq"]), "{told}");
    phone.say(say("four")).await;
    phone.until("result").await;
    assert_eq!(phone.count("result"), 1, "the first one did not run again");
    again.shut_down("the test").await;
    place.no_process_is_left().await;
}

#[tokio::test]
async fn what_goes_on_is_not_forgotten() {
    let place = Place::new("permission");
    let hub = place.hub_keeping(&place.database(), keeping(1)).await;
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "running", "sessionId": session})).await;
    peer.until("permission_request").await;
    peer.say(json!({"type": "input", "text": "waiting"})).await;
    peer.until_some("the queued message", |message| message["state"] == "queued").await;
    for number in 0..5 {
        let title = format!("title {number}");
        peer.say(json!({"type": "rename_session", "sessionId": session, "title": title})).await;
        peer.until("session_renamed").await;
    }
    hub.forget_old().await.unwrap();
    let copy = place.copied_log();
    hub.shut_down("the test").await;

    // After a crash all of it is there to be brought to its end.
    let again = place.hub_keeping(&copy, keeping(1)).await;
    let view = again.list(true)[0].clone();
    assert_eq!((view.state, view.queue.len()), (Lifecycle::Interrupted, 1));
    let mut phone = place.modern(&again, "phone").await;
    phone.say(json!({"type": "subscribe", "sessionId": session, "since": 0})).await;
    assert_eq!(phone.until("permission_resolved").await["decision"], "withdrawn");
    assert_eq!(phone.until("result").await["subtype"], "process_ended");
    phone.say(json!({"type": "resume_session", "sessionId": session, "projectPath": place.project()})).await;
    phone.until("permission_request").await;
    assert_eq!(again.list(false)[0].title.as_deref(), Some("title 4"));
    again.shut_down("the test").await;
    place.no_process_is_left().await;
}

#[tokio::test]
async fn a_bridge_that_runs_forgets_as_it_goes() {
    let every = Duration::from_millis(50);
    let bridge = Running::new("plain", |setup| setup.retention = Retention { every, ..keeping(2) }).await;
    let project = bridge.sandbox.project().canonicalize().unwrap();
    let mut socket = bridge.own_socket().await;
    socket.say(json!({"type": "hello", "protocol": 1})).await;
    socket.say(json!({"type": "start", "projectPath": project})).await;
    let session = socket.until("system").await["sessionId"].clone();
    socket.say(json!({"type": "input", "text": "hello"})).await;
    socket.until("result").await;
    let start = Instant::now();
    loop {
        socket.say(json!({"type": "get_history", "sessionId": session})).await;
        let left = socket.until("history").await["messages"].as_array().unwrap().len();
        if left == 2 {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{left} are left");
        tokio::time::sleep(every).await;
    }
    drop(socket);
    bridge.stop().await;
}
