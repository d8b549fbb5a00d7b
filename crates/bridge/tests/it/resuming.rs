//! Coming back: clients after a lost connection, sessions after a lost bridge.

use std::sync::Arc;
use std::time::Duration;

use pilothouse_bridge::api::{Lifecycle, ProcessStatus};
use pilothouse_bridge::auth::{Devices, Roots, Scopes};
use pilothouse_bridge::client::Client;
use pilothouse_bridge::session::{Hub, Retention};
use serde_json::{Value, json};

use crate::disk::Disk;
use crate::harness::{Peer, Place};

async fn turn(peer: &mut Peer, text: &str) {
    peer.say(json!({"type": "input", "text": text})).await;
    let asked = peer.until("permission_request").await;
    peer.say(json!({"type": "approve", "id": asked["id"]})).await;
    peer.until("result").await;
}

#[tokio::test]
async fn a_client_that_comes_back_gets_what_it_missed_and_nothing_twice() {
    let place = Place::new("tour");
    let hub = place.hub().await;
    let (mut laptop, session) = place.started(&hub).await;
    turn(&mut laptop, "one").await;
    laptop.until_some("idle", |message| message["status"] == "idle").await;
    laptop.say(json!({"type": "list_sessions"})).await;
    let newest = laptop.until("session_list").await["sessions"][0]["seq"].as_u64().unwrap();

    for since in 0..=newest {
        let mut phone = place.modern(&hub, "phone").await;
        phone.say(json!({"type": "subscribe", "sessionId": session, "since": since})).await;
        let subscribed = phone.until("subscribed").await;
        assert_eq!((&subscribed["continuity"], &subscribed["since"]), (&json!("ok"), &json!(since)));
        let positions: Vec<u64> = phone.events(&session).into_iter().map(|(seq, _)| seq).collect();
        assert_eq!(positions, (since + 1..=newest).collect::<Vec<_>>());
    }
    let mut lost = place.modern(&hub, "lost").await;
    lost.say(json!({"type": "subscribe", "sessionId": session, "since": newest + 7})).await;
    let subscribed = lost.until("subscribed").await;
    assert_eq!((&subscribed["continuity"], &subscribed["since"]), (&json!("gap"), &json!(0)));

    // One that joins in mid-turn ends with the same events as one that was there all along.
    laptop.say(json!({"type": "input", "text": "two words"})).await;
    let asked = laptop.until("permission_request").await;
    let mut late = place.modern(&hub, "late").await;
    late.say(json!({"type": "subscribe", "sessionId": session, "since": 0})).await;
    assert_eq!(late.until("subscribed").await["session"]["approvals"][0]["id"], asked["id"]);
    assert_eq!(
        laptop.until("presence").await["devices"].as_array().unwrap().len(),
        3,
        "the others have left"
    );
    // Who is there twice is told of once, and only to itself.
    let mut twice = place.modern(&hub, "late").await;
    twice.say(json!({"type": "subscribe", "sessionId": session})).await;
    let who = json!(["laptop", "late", "lost"]);
    assert_eq!(twice.until("presence").await["devices"], who);
    drop(twice);
    late.say(json!({"type": "approve", "id": asked["id"]})).await;
    late.until_some("the end", |message| message["result"] == "You said: two words. Approval: allow.").await;
    laptop.until("result").await;
    let all: Vec<u64> = late.events(&session).into_iter().map(|(seq, _)| seq).collect();
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
    let told = |peer: &Peer| {
        peer.got.iter().filter(|message| message["type"] == "presence" && message["devices"] == who).count()
    };
    assert_eq!((told(&laptop), told(&late)), (1, 1));
    let mut both = laptop.events(&session);
    both.sort();
    assert_eq!(both, late.events(&session)[1..], "the first is the reply to `start`");

    lost.say(json!({"type": "get_history", "sessionId": session, "limit": 3})).await;
    let page = lost.until("history").await;
    assert_eq!((page["messages"].as_array().unwrap().len(), &page["hasMore"]), (3, &json!(true)));
    lost.say(json!({"type": "get_history", "sessionId": session, "limit": 3, "before": page["firstSeq"]}))
        .await;
    let older = lost.until("history").await;
    assert_eq!(older["lastSeq"].as_u64().unwrap() + 1, page["firstSeq"].as_u64().unwrap());
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn a_bridge_that_dies_leaves_everything_at_one_end() {
    let place = Place::new("permission");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "running", "sessionId": session})).await;
    peer.until("permission_request").await;
    for text in ["queued", "queued behind it"] {
        peer.say(json!({"type": "input", "text": text})).await;
        peer.until_some("the queued message", |message| message["state"] == "queued").await;
    }

    let copy = place.copied_log();
    hub.shut_down("the test").await;

    let again = place.hub_on(&copy).await;
    let mut phone = place.modern(&again, "phone").await;
    phone.say(json!({"type": "list_sessions"})).await;
    assert_eq!(phone.until("session_list").await["sessions"], json!([]), "none has a CLI");
    phone.say(json!({"type": "list_sessions", "includeEnded": true})).await;
    let view = phone.until("session_list").await["sessions"][0].clone();
    assert_eq!((&view["state"], &view["status"]), (&json!("interrupted"), &json!("idle")));
    assert_eq!(
        (view["approvals"].as_array().unwrap().len(), view["queue"].as_array().unwrap().len()),
        (0, 2)
    );
    phone.say(json!({"type": "subscribe", "sessionId": session, "since": 0})).await;
    let resolved = phone.until("permission_resolved").await;
    assert_eq!(
        (&resolved["decision"], &resolved["message"]),
        (&json!("withdrawn"), &json!("the bridge went away"))
    );
    assert_eq!(phone.until("result").await["subtype"], "process_ended");
    assert_eq!(phone.until("session_state").await["state"], "interrupted");

    // Opening once more changes nothing.
    let seq = view["seq"].clone();
    drop((phone, again));
    let again = place.hub_on(&copy).await;
    assert_eq!(json!(again.list(true)[0].seq), seq);

    // Resumed, the message that was never sent is sent.
    let mut phone = place.modern(&again, "phone").await;
    phone.say(json!({"type": "resume_session", "sessionId": session, "projectPath": place.project()})).await;
    assert_eq!(phone.until("system").await["sessionId"], session);
    phone.until("permission_request").await;
    let sent: Vec<&Value> = phone.got.iter().filter(|message| message["state"] == "sending").collect();
    assert_eq!(sent.len(), 1);
    let view = again.list(false)[0].clone();
    assert_eq!(
        (view.queue.len(), view.status),
        (1, ProcessStatus::WaitingApproval),
        "the other one waits on"
    );
    again.shut_down("the test").await;
    place.no_process_is_left().await;
}

#[tokio::test]
async fn what_was_at_work_goes_on_with_the_next_bridge_and_what_was_at_rest_ends() {
    let place = Place::new("permission");
    let hub = place.hub().await;
    let (_resting, at_rest) = place.started(&hub).await;
    let (mut peer, at_work) = place.started(&hub).await;
    peer.say(json!({"type": "input", "text": "running", "sessionId": at_work})).await;
    peer.until("permission_request").await;
    peer.say(json!({"type": "input", "text": "queued"})).await;
    peer.until_some("the queued message", |message| message["state"] == "queued").await;
    let mut ended: Vec<String> = hub.shut_down("the bridge").await.into_iter().map(|id| id.0).collect();
    let mut both = vec![at_rest.clone(), at_work.clone()];
    both.sort();
    ended.sort();
    assert_eq!(ended, both);
    let state = |hub: &Hub, id: &str| {
        let view = hub.list(true).into_iter().find(|view| view.session_id.0 == id).unwrap();
        (view.state, view.handed_over)
    };
    assert_eq!(state(&hub, &at_rest), (Lifecycle::Ended, false));
    assert_eq!(state(&hub, &at_work), (Lifecycle::Interrupted, true));
    drop((peer, hub));

    // Not beneath the roots of the next bridge: it is left as it is.
    let next = place.hub().await;
    let elsewhere = Roots::new([place.sandbox.config()]).unwrap();
    assert!(next.take_over(&elsewhere, "the bridge").await.is_empty());
    assert_eq!(state(&next, &at_work), (Lifecycle::Interrupted, true));
    let roots = Roots::new([place.sandbox.project()]).unwrap();
    let taken: Vec<String> =
        next.take_over(&roots, "the bridge").await.into_iter().map(|view| view.session_id.0).collect();
    assert_eq!(taken, [at_work.as_str()]);
    assert_eq!(state(&next, &at_rest), (Lifecycle::Ended, false));

    // What waited is sent, and what ran is not repeated.
    let mut phone = place.modern(&next, "phone").await;
    phone.say(json!({"type": "subscribe", "sessionId": at_work, "since": 0})).await;
    let asked =
        phone.until_some("the old approval", |message| message["type"] == "permission_resolved").await;
    assert_eq!((&asked["decision"], &asked["by"]), (&json!("withdrawn"), &json!("the bridge")));
    let cut = phone.until("session_state").await;
    assert_eq!((&cut["state"], &cut["handedOver"]), (&json!("interrupted"), &json!(true)));
    let on = phone.until("session_state").await;
    assert_eq!((&on["state"], &on["by"]), (&json!("running"), &json!("the bridge")));
    phone.until("permission_request").await;
    let sent: Vec<&Value> = phone.got.iter().filter(|message| message["state"] == "sending").collect();
    assert_eq!(sent.len(), 2, "each of both: {sent:?}");
    assert_ne!(sent[0]["inputId"], sent[1]["inputId"], "once");
    assert_eq!(phone.count("result"), 1, "each turn has one end");
    assert!(next.take_over(&roots, "the bridge").await.is_empty(), "once is enough");
    next.shut_down("the test").await;
    place.no_process_is_left().await;
}

#[tokio::test]
async fn a_claude_session_has_one_user_at_a_time() {
    let place = Place::new("tour");
    let hub = place.hub().await;
    let (mut laptop, session) = place.started(&hub).await;
    turn(&mut laptop, "one").await;
    let claude_id = hub.list(false)[0].claude_session_id.clone().unwrap();
    let resume = |lease: &str| json!({"type": "resume_session", "sessionId": claude_id, "projectPath": place.project(), "lease": lease});
    let mut phone = place.modern(&hub, "phone").await;

    phone.say(resume("refuse")).await;
    assert_eq!(phone.until("error").await["errorCode"], "leased");
    phone.say(resume("attach")).await;
    let attached = phone.until("system").await;
    assert_eq!(
        (attached["sessionId"].as_str(), &attached["attached"]),
        (Some(session.as_str()), &json!(true))
    );
    phone.say(resume("fork")).await;
    let forked = phone.until("system").await["sessionId"].clone();
    assert_ne!(forked, session);
    assert_eq!(hub.list(false).len(), 2);
    phone.say(resume("take_over")).await;
    let taken = phone.until("system").await;
    assert_eq!(taken["sessionId"].as_str(), Some(session.as_str()), "its log goes on");
    assert_eq!(laptop.until_some("the end", |message| message["subtype"] == "stopped").await["by"], "phone");
    let runs_again = |message: &Value| message["type"] == "session_state" && message["state"] == "running";
    laptop.until_some("running again", runs_again).await;
    phone.until_some("running again", runs_again).await;
    hub.shut_down("the test").await;
    place.no_process_is_left().await;
}

#[tokio::test]
async fn a_session_that_ends_by_itself_meanwhile_is_taken_over_all_the_same() {
    let place = Place::new("as_told");
    let disk = Disk::at(&place.database());
    let hub = place.hub_over(Arc::clone(&disk), Retention::default()).await;
    let (mut laptop, session) = place.started(&hub).await;
    laptop.say(json!({"type": "input", "text": "[]", "sessionId": session})).await;
    laptop.until("result").await;
    // Its CLI is gone, and the log does not have that yet.
    disk.hold(Some("process_ended"));
    laptop.say(json!({"type": "input", "text": json!([{"exit": true}]).to_string()})).await;
    place.no_process_is_left().await;
    let mut phone = place.modern(&hub, "phone").await;
    let release = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        disk.hold(None);
    };
    let take_over = json!({"type": "resume_session", "sessionId": session, "projectPath": place.project(), "lease": "take_over"});
    tokio::join!(phone.say(take_over), release);
    let taken = phone
        .until_some("an answer", |message| {
            message["type"] == "error" || message["subtype"] == "session_created"
        })
        .await;
    assert_eq!((&taken["sessionId"], &taken["attached"]), (&json!(session), &json!(false)), "{taken}");
    hub.shut_down("the test").await;
    place.no_process_is_left().await;
}

#[tokio::test]
async fn what_was_chosen_for_a_session_holds_when_it_is_resumed() {
    let place = Place::new("argv");
    let hub = place.hub().await;
    let mut peer = place.client(&hub, "laptop", Scopes::all());
    peer.say(json!({"type": "hello", "protocol": 1})).await;
    let with = |argv: &Value, name: &str| {
        let argv: Vec<String> = serde_json::from_str(argv["result"].as_str().unwrap()).unwrap();
        argv.iter().find_map(|argument| argument.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
    };
    let start = json!({"type": "start", "projectPath": place.project(), "permissionMode": "acceptEdits", "model": "opus"});
    peer.say(start).await;
    let session = peer.until("system").await["sessionId"].clone();
    peer.say(json!({"type": "input", "text": "go"})).await;
    let argv = peer.until("result").await;
    assert_eq!(
        (with(&argv, "--permission-mode"), with(&argv, "--model")),
        (Some("acceptEdits".to_owned()), Some("opus".to_owned()))
    );
    let resume = |lease: &str| json!({"type": "resume_session", "sessionId": session, "projectPath": place.project(), "lease": lease});
    let mut asked = resume("take_over");
    asked["permissionMode"] = json!("plan");
    // As it was; otherwise, if somebody asks for that; never without asking unless somebody does; and so is a copy.
    for (set, resume, named) in [
        ("acceptEdits", resume("take_over"), Some("acceptEdits")),
        ("acceptEdits", asked, Some("plan")),
        ("bypassPermissions", resume("take_over"), None),
        ("acceptEdits", resume("fork"), Some("acceptEdits")),
    ] {
        peer.say(json!({"type": "set_mode", "mode": set, "sessionId": session})).await;
        peer.until("mode_changed").await;
        peer.say(resume.clone()).await;
        peer.until_some("it goes on", |message| message["subtype"] == "session_created").await;
        peer.say(json!({"type": "input", "text": "go"})).await;
        let argv = peer.until_some("its words", |message| message["subtype"] == "success").await;
        let model = hub.list(true)[0].model.clone();
        assert!(model.is_some());
        let got = with(&argv, "--permission-mode");
        assert_eq!((got.as_deref(), with(&argv, "--model")), (named, model), "{resume}");
    }
    hub.shut_down("the test").await;
    place.no_process_is_left().await;
}

#[tokio::test]
async fn what_is_asked_for_twice_under_one_name_is_done_once() {
    let place = Place::new("tour");
    let hub = place.hub().await;
    let (mut laptop, session) = place.started(&hub).await;
    turn(&mut laptop, "one").await;
    let claude_id = hub.list(false)[0].claude_session_id.clone().unwrap();
    let resume = |lease: &str, name: &str| {
        json!({"type": "resume_session", "sessionId": claude_id, "projectPath": place.project(), "lease": lease,
            "clientMessageId": name})
    };
    let mut phone = place.modern(&hub, "phone").await;
    let mut forks = Vec::new();
    for (name, attached) in [("f1", false), ("f1", true), ("f2", false), ("f1", true)] {
        phone.say(resume("fork", name)).await;
        let made = phone.until_some("it is there", |message| message["subtype"] == "session_created").await;
        assert_eq!(made["attached"] == true, attached, "{made}");
        forks.push(made["sessionId"].clone());
    }
    assert_eq!((&forks[0], &forks[0]), (&forks[1], &forks[3]));
    assert!(forks[0] != forks[2] && forks[0] != session);
    // Whoever takes over twice by mistake does not stop what began in between.
    for attached in [false, true] {
        phone.say(resume("take_over", "t1")).await;
        let made = phone.until_some("it is there", |message| message["subtype"] == "session_created").await;
        assert_eq!((made["attached"] == true, &made["sessionId"]), (attached, &json!(session)), "{made}");
    }
    laptop.until_some("the end", |message| message["subtype"] == "stopped").await;
    let stops = laptop.got.iter().filter(|message| message["subtype"] == "stopped").count();
    assert_eq!(stops, 1);

    // Also after a crash, and by the bridge's own id.
    let again = place.hub_on(&place.copied_log()).await;
    hub.shut_down("the test").await;
    let mut phone = place.modern(&again, "phone").await;
    phone.say(resume("fork", "f2")).await;
    let made = phone.until_some("it is there", |message| message["subtype"] == "session_created").await;
    assert_eq!((&made["attached"], &made["sessionId"]), (&json!(true), &forks[2]));
    assert_eq!(again.list(true).len(), 3);
    again.shut_down("the test").await;
    place.no_process_is_left().await;
}

#[tokio::test]
async fn a_client_that_reads_nothing_holds_nobody_up_and_misses_no_event() {
    let place = Place::new("long_session");
    let hub = place.hub().await;
    let (mut laptop, session) = place.started(&hub).await;
    let mut slow = place.modern(&hub, "slow").await;
    slow.say(json!({"type": "subscribe", "sessionId": session, "since": 0})).await;
    // Twelve megabytes, twelve times what an outbox holds.
    laptop.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
    laptop.until("result").await;
    slow.until("result").await;
    let positions: Vec<u64> = slow.events(&session).into_iter().map(|(seq, _)| seq).collect();
    assert_eq!(positions, (1..=positions.len() as u64).collect::<Vec<_>>());
    assert_eq!(slow.count("assistant"), 24);
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn a_claude_id_does_not_lead_to_a_session_outside_the_roots() {
    let place = Place::new("tour");
    let hub = place.hub().await;
    let (mut laptop, session) = place.started(&hub).await;
    turn(&mut laptop, "one").await;
    let claude_id = hub.list(false)[0].claude_session_id.clone().unwrap();
    let other = place.sandbox.home().join("other");
    std::fs::create_dir_all(&other).unwrap();
    let other = other.canonicalize().unwrap();
    let asks = |id: &str| {
        [
            json!({"type": "start", "projectPath": other, "sessionId": id}),
            json!({"type": "start", "projectPath": other, "sessionId": id, "lease": "take_over"}),
            json!({"type": "start", "projectPath": other, "sessionId": id, "lease": "fork"}),
            json!({"type": "resume_session", "projectPath": other, "sessionId": id}),
            json!({"type": "resume_session", "projectPath": other, "sessionId": id, "lease": "take_over"}),
        ]
    };
    for running in [true, false] {
        if !running {
            laptop.say(json!({"type": "stop_session", "sessionId": session})).await;
            laptop.until_some("stopped", |message| message["subtype"] == "stopped").await;
        }
        for ask in asks(&claude_id).into_iter().chain(asks(&session)) {
            let device = Devices::open(place.sandbox.home().join("others.json")).unwrap();
            let device = device.add("other", Scopes::usual()).unwrap().0;
            let roots = Roots::new([&other]).unwrap();
            let mut peer = Peer::new(Client::new(hub.clone(), device, roots));
            peer.say(ask.clone()).await;
            let told = &peer.got[0];
            assert_eq!(told["errorCode"], "unknown_session", "running: {running}; {ask} got {told}");
            assert_eq!(peer.got.len(), 1, "{:?}", peer.got);
        }
        assert_eq!(hub.list(false).len(), usize::from(running), "nothing was started or stopped");
    }
    hub.shut_down("the test").await;
    place.no_process_is_left().await;
}
