//! A log that cannot be written: everybody is told, nothing that was acknowledged is lost, and it goes on afterwards.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pilothouse_bridge::api::{Lifecycle, ProcessStatus};
use pilothouse_bridge::session::Retention;
use serde_json::json;

use crate::disk::Disk;
use crate::harness::Place;

#[tokio::test]
async fn a_session_whose_log_cannot_be_written_ends_aloud_and_is_resumed_later() {
    let place = Place::new("permission");
    let disk = Disk::at(&place.database());
    let hub = place.hub_over(Arc::clone(&disk), Retention::default()).await;
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "go", "sessionId": session, "clientMessageId": "one"})).await;
    peer.until("permission_request").await;

    disk.is_full.store(true, Ordering::SeqCst);
    peer.say(json!({"type": "approve", "id": "toolu_1"})).await;
    let told = peer
        .until_some("why it ends", |message| message["type"] == "error" && message["sessionId"] == *session)
        .await;
    assert_eq!(told["errorCode"], "storage", "{told}");
    assert!(told["message"].as_str().unwrap().contains("disk is full"), "{told}");
    peer.until_some("idle", |message| message["status"] == "idle").await;
    let view = hub.list(true)[0].clone();
    assert_eq!(
        (view.state, view.status, view.approvals.len()),
        (Lifecycle::Interrupted, ProcessStatus::Idle, 0)
    );
    place.no_process_is_left().await;
    let resume = json!({"type": "resume_session", "sessionId": session, "projectPath": place.project()});
    peer.say(resume.clone()).await;
    assert_eq!(peer.until("error").await["errorCode"], "storage", "still no room");

    disk.is_full.store(false, Ordering::SeqCst);
    peer.say(resume).await;
    peer.until_some("it runs", |message| message["subtype"] == "session_created").await;
    let mut late = place.modern(&hub, "late").await;
    late.say(json!({"type": "subscribe", "sessionId": session, "since": 0})).await;
    assert_eq!(late.until("permission_resolved").await["decision"], "withdrawn", "nobody was told otherwise");
    let end = late.until("result").await;
    assert_eq!(
        (&end["subtype"], &end["error"]),
        (&json!("process_ended"), &json!("the log could not be written"))
    );
    late.say(json!({"type": "input", "text": "go", "sessionId": session, "clientMessageId": "one"})).await;
    assert_eq!(late.until("ack").await["duplicate"], true);
    late.say(json!({"type": "input", "text": "on"})).await;
    let asked = late.until("permission_request").await;
    late.say(json!({"type": "approve", "id": asked["id"]})).await;
    late.until_some("the end", |message| message["subtype"] == "success").await;
    let positions: Vec<u64> = late.events(&session).into_iter().map(|(seq, _)| seq).collect();
    assert_eq!(positions, (1..=positions.len() as u64).collect::<Vec<_>>());
    hub.shut_down("the test").await;
    place.no_process_is_left().await;
}
