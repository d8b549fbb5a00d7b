use std::sync::{Arc, Mutex};
use std::time::Duration;

use pilothouse_link::{Agent, Connect, EndKind, Event, Host, Inbound, RequestError, SendError, Transport};
use pilothouse_proto::control::{Ack, Interrupt};
use pilothouse_proto::{AgentRequest, HostFrame, HostRequest, Unknown};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::peer::{Peer, within};

/// A connection whose requests the test takes itself.
fn taking() -> (Connect<Host>, mpsc::UnboundedReceiver<Inbound<Host>>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let connect = Connect::new().serve(move |inbound| {
        let _ = sender.send(inbound);
    });
    (connect, receiver)
}

fn ask(id: &str) -> Value {
    json!({"type": "control_request", "request_id": id, "request":
        {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t1"}})
}

fn success(id: &Value, payload: Value) -> Value {
    json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": payload}})
}

#[tokio::test]
async fn a_request_gets_its_reply() {
    let (handle, _events, mut peer) = Peer::of(Connect::new());
    let reply = tokio::spawn(async move { handle.request(Interrupt::default()).await });
    let request = peer.hear().await.unwrap();
    assert_eq!(request["type"], "control_request");
    assert_eq!(request["request"]["subtype"], "interrupt");
    peer.say(success(&request["request_id"], json!({"still_queued": ["a"]}))).await;
    let reply = within(reply).await.unwrap().unwrap();
    assert_eq!(reply.still_queued, ["a"]);
}

#[tokio::test]
async fn replies_may_come_in_any_order_and_stray_ones_are_reported() {
    let (handle, mut events, mut peer) = Peer::of(Connect::new());
    let ask = |n: u32| {
        let handle = handle.clone();
        let mut unknown = Unknown { tag: "something_new".into(), ..Default::default() };
        unknown.fields.insert("n", n);
        tokio::spawn(async move { handle.ask("something_new", HostRequest::Unknown(unknown), None).await })
    };
    let asked: Vec<_> = (0..50).map(ask).collect();
    let mut heard = Vec::new();
    for _ in 0..50 {
        heard.push(peer.hear().await.unwrap());
    }
    let mut ids: Vec<_> = heard.iter().map(|request| request["request_id"].to_string()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 50);
    for request in heard.iter().rev() {
        peer.say(success(&request["request_id"], json!({"n": request["request"]["n"]}))).await;
    }
    peer.say(success(&json!("never-asked"), json!({}))).await;
    for (n, asked) in asked.into_iter().enumerate() {
        let payload: Value = within(asked).await.unwrap().unwrap().payload().unwrap();
        assert_eq!(payload["n"], n);
    }
    let stray = within(events.next()).await.unwrap();
    assert!(matches!(stray, Event::StrayReply { request_id, .. } if request_id == "never-asked"));
}

#[tokio::test]
async fn an_error_reply_is_an_error() {
    let (handle, _events, mut peer) = Peer::of(Connect::new());
    let reply = tokio::spawn(async move { handle.request(Interrupt::default()).await });
    let id = peer.hear().await.unwrap()["request_id"].clone();
    let response = json!({"subtype": "error", "request_id": id, "error": "not now", "error_code": "busy"});
    peer.say(json!({"type": "control_response", "response": response})).await;
    let error = within(reply).await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "`interrupt` was refused: not now");
    assert!(matches!(error, RequestError::Refused { code: Some(code), .. } if code == "busy"));
}

#[tokio::test]
async fn a_silent_peer_costs_a_timeout_and_the_request_is_withdrawn() {
    let (handle, mut events, mut peer) =
        Peer::of(Connect::new().request_timeout(Some(Duration::from_millis(50))));
    let error = within(handle.request(Interrupt::default())).await.unwrap_err();
    assert!(matches!(error, RequestError::TimedOut { .. }), "{error}");
    let id = peer.hear().await.unwrap()["request_id"].clone();
    assert_eq!(peer.hear().await.unwrap(), json!({"type": "control_cancel_request", "request_id": id}));
    // Its late reply is noise, and the connection goes on.
    peer.say(success(&id, json!({}))).await;
    assert!(matches!(within(events.next()).await, Some(Event::StrayReply { .. })));
}

#[tokio::test]
async fn a_dropped_request_is_withdrawn() {
    let (handle, _events, mut peer) = Peer::of(Connect::new());
    let request = tokio::time::timeout(Duration::from_millis(20), handle.request(Interrupt::default()));
    assert!(request.await.is_err());
    let id = peer.hear().await.unwrap()["request_id"].clone();
    assert_eq!(peer.hear().await.unwrap()["request_id"], id);
}

#[tokio::test]
async fn a_responder_answers_once_whatever_happens() {
    type Answer = fn(Inbound<Host>);
    let answers: [(&str, Answer, Value); 4] = [
        (
            "ok",
            |inbound| inbound.responder.success(&json!({"behavior": "allow"})),
            json!({"subtype": "success",
            "request_id": "ok", "response": {"behavior": "allow"}}),
        ),
        (
            "bad",
            |inbound| inbound.responder.error("no"),
            json!({"subtype": "error", "request_id": "bad", "error": "no"}),
        ),
        (
            "drop",
            drop,
            json!({"subtype": "error", "request_id": "drop",
            "error": "the handler ended without an answer"}),
        ),
        (
            "unwritable",
            |inbound| inbound.responder.success(&std::collections::HashMap::from([((1, 2), 3)])),
            json!({"subtype": "error", "request_id": "unwritable", "error": "no JSON: key must be a string"}),
        ),
    ];
    let (connect, mut taken) = taking();
    let (_handle, _events, mut peer) = Peer::of(connect);
    for (id, answer, expected) in answers {
        peer.say(ask(id)).await;
        let inbound = within(taken.recv()).await.unwrap();
        assert_eq!(*inbound.id(), id);
        answer(inbound);
        assert_eq!(peer.hear().await.unwrap(), json!({"type": "control_response", "response": expected}));
    }
}

#[tokio::test]
async fn a_panic_while_taking_a_request_ends_that_request_only() {
    let connect = Connect::<Host>::new().serve(|inbound: Inbound<Host>| {
        assert!(*inbound.id() != "boom", "on purpose");
        inbound.responder.success(&Ack::default());
    });
    let (_handle, _events, mut peer) = Peer::of(connect);
    peer.say(ask("boom")).await;
    assert_eq!(peer.hear().await.unwrap()["response"]["subtype"], "error");
    peer.say(ask("fine")).await;
    assert_eq!(peer.hear().await.unwrap()["response"]["subtype"], "success");
}

#[tokio::test]
async fn a_withdrawn_request_fires_its_token_and_its_late_answer_is_dropped() {
    let (connect, mut taken) = taking();
    let (_handle, _events, mut peer) = Peer::of(connect);
    peer.say(ask("one")).await;
    let inbound = within(taken.recv()).await.unwrap();
    assert!(inbound.responder.is_wanted() && !inbound.token.is_cancelled());
    peer.say(json!({"type": "control_cancel_request", "request_id": "one"})).await;
    within(inbound.token.cancelled()).await;
    inbound.responder.success(&json!({"behavior": "allow"}));
    peer.say(ask("two")).await;
    within(taken.recv()).await.unwrap().responder.success(&Ack::default());
    // The first thing the peer hears is the second answer.
    assert_eq!(peer.hear().await.unwrap()["response"]["request_id"], "two");
}

#[tokio::test]
async fn the_same_request_is_taken_once_while_open() {
    let (connect, mut taken) = taking();
    let (_handle, _events, mut peer) = Peer::of(connect);
    peer.say(ask("same")).await;
    peer.say(ask("same")).await;
    peer.say(ask("other")).await;
    let first = within(taken.recv()).await.unwrap();
    assert_eq!(within(taken.recv()).await.unwrap().id(), "other");
    drop(first);
    peer.say(ask("same")).await;
    assert_eq!(within(taken.recv()).await.unwrap().id(), "same");
}

#[tokio::test]
async fn requests_repeated_inside_a_reply_are_taken() {
    let (connect, mut taken) = taking();
    let (handle, _events, mut peer) = Peer::of(connect);
    peer.say(ask("open")).await;
    let open = within(taken.recv()).await.unwrap();
    let reply = tokio::spawn(async move { handle.request(Interrupt::default()).await });
    let id = peer.hear().await.unwrap()["request_id"].clone();
    let mut response = success(&id, json!({}));
    response["response"]["pending_permission_requests"] = json!([ask("open"), ask("lost")]);
    peer.say(response).await;
    within(reply).await.unwrap().unwrap();
    let again = within(taken.recv()).await.unwrap();
    assert_eq!(again.id(), "lost");
    assert!(matches!(again.request, AgentRequest::CanUseTool(_)));
    drop(open);
}

#[tokio::test]
async fn a_request_that_cannot_be_read_is_refused_and_reported() {
    let (handle, mut events, mut peer) = Peer::of(Connect::new());
    peer.write(
        b"{\"type\":\"control_request\",\"request_id\":\"b\",\"request\":{\"subtype\":\"can_use_tool\"}}\n",
    )
    .await;
    let refusal = peer.hear().await.unwrap();
    assert_eq!(refusal["response"]["request_id"], "b");
    assert_eq!(refusal["response"]["subtype"], "error");
    assert!(matches!(within(events.next()).await, Some(Event::Malformed { .. })));
    assert!(handle.try_ended().is_none());
}

#[tokio::test]
async fn two_hundred_handlers_answer_out_of_order() {
    let connect = Connect::<Host>::new().serve(|inbound: Inbound<Host>| {
        tokio::spawn(async move {
            let n: u64 = inbound.id().as_str().parse().unwrap();
            tokio::time::sleep(Duration::from_millis((n * 7919) % 50)).await;
            inbound.responder.success(&json!({"n": n, "filler": "f".repeat(2000)}));
        });
    });
    let (_handle, _events, mut peer) = Peer::of(connect);
    for n in 0..200 {
        peer.say(ask(&n.to_string())).await;
    }
    let mut order = Vec::new();
    for _ in 0..200 {
        let reply = peer.hear().await.unwrap();
        assert_eq!(reply["response"]["request_id"], reply["response"]["response"]["n"].to_string());
        order.push(reply["response"]["response"]["n"].as_u64().unwrap());
    }
    assert!(!order.is_sorted());
    order.sort_unstable();
    assert_eq!(order, (0..200).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_end_fails_what_is_open_and_refuses_what_comes_later() {
    let (connect, mut taken) = taking();
    let (handle, mut events, mut peer) = Peer::of(connect);
    peer.say(ask("open")).await;
    let open = within(taken.recv()).await.unwrap();
    let asking = tokio::spawn({
        let handle = handle.clone();
        async move { handle.request_within(Interrupt::default(), None).await }
    });
    peer.hear().await;
    peer.say(json!({"type": "result", "subtype": "success", "is_error": true, "result": "out of credit",
        "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "total_cost_usd": 0, "session_id": "s", "uuid": "u",
        "usage": {}, "modelUsage": {}, "permission_denials": [], "stop_reason": null})).await;
    peer.write(b"last line without newline").await;
    peer.hang_up().await;
    let error = within(asking).await.unwrap().unwrap_err();
    let RequestError::Send(SendError::Ended(cause)) = &error else { panic!("{error}") };
    assert_eq!(cause.kind, EndKind::EndOfStream);
    assert_eq!(error.to_string(), "the other end closed the connection: out of credit");
    within(open.token.cancelled()).await;
    assert!(!open.responder.is_wanted());
    // Later uses fail with the same cause, at once.
    let again = within(handle.request(Interrupt::default())).await.unwrap_err();
    assert_eq!(again.to_string(), error.to_string());
    let frame = HostFrame::KeepAlive(Default::default());
    assert!(matches!(within(handle.send(&frame)).await, Err(SendError::Ended(_))));
    assert!(matches!(within(events.next()).await, Some(Event::Frame { .. })));
    assert!(matches!(within(events.next()).await, Some(Event::Noise { raw }) if raw.starts_with(b"last")));
    assert!(within(events.next()).await.is_none());
}

#[tokio::test]
async fn both_ends_talk_to_each_other_over_memory() {
    let (here, there) = Transport::memory();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let (host, _) = Connect::<Host>::new()
        .serve(move |inbound: Inbound<Host>| {
            log.lock().unwrap().push(inbound.id().clone());
            inbound.responder.success(&json!({"behavior": "deny", "message": "no"}));
        })
        .over(here);
    let (agent, _) = Connect::<Agent>::new()
        .serve(|inbound: Inbound<Agent>| inbound.responder.success(&json!({"still_queued": []})))
        .over(there);
    let tool =
        serde_json::from_value(json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {}})).unwrap();
    let (interrupted, answer) = within(async {
        tokio::join!(host.request(Interrupt::default()), agent.ask("can_use_tool", tool, None))
    })
    .await;
    assert!(interrupted.unwrap().still_queued.is_empty());
    let answer: Value = answer.unwrap().payload().unwrap();
    assert_eq!(answer["behavior"], "deny");
    assert_eq!(seen.lock().unwrap().len(), 1);
    let closed = within(host.close()).await;
    assert_eq!(closed.cause.kind, EndKind::Closed);
    assert_eq!(within(agent.ended()).await.kind, EndKind::EndOfStream);
}

#[tokio::test]
async fn dropping_the_last_handle_closes_the_connection() {
    let (handle, mut events, mut peer) = Peer::of(Connect::new());
    let weak = handle.downgrade();
    assert!(weak.upgrade().is_some());
    drop(handle);
    assert!(weak.upgrade().is_none());
    assert_eq!(peer.hear().await, None);
    peer.hang_up().await;
    assert!(within(events.next()).await.is_none());
}

#[tokio::test]
async fn an_agent_answers_under_any_id_and_under_none() {
    let (transport, mut peer) = Peer::pair();
    let held = Arc::new(Mutex::new(Vec::new()));
    let hold = held.clone();
    let (_agent, _events) = Connect::<Agent>::new()
        .serve(move |inbound: Inbound<Agent>| hold.lock().unwrap().push(inbound))
        .over(transport);
    let ids = [json!(7), json!({"a": [1, null]}), Value::Null, json!(true), json!(7)];
    for id in &ids {
        let request = json!({"subtype": "interrupt"});
        peer.say(json!({"type": "control_request", "request_id": id, "request": request})).await;
    }
    // An id inside the request is none. What cannot be read is passed on, too: an agent answers in its own words.
    peer.say(json!({"type": "control_request", "request": {"subtype": "interrupt", "request_id": "in"}}))
        .await;
    peer.say(json!({"type": "control_request", "request": {"subtype": "set_model", "model": 3}})).await;
    within(async {
        while held.lock().unwrap().len() < 7 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    for (n, inbound) in held.lock().unwrap().drain(..).enumerate() {
        match n {
            0 => inbound.responder.error("no"),
            1 => inbound.responder.success_text(&["{\"n\":1}"]),
            _ => inbound.responder.success(&json!({"n": n})),
        }
    }
    for id in &ids {
        assert_eq!(peer.hear().await.unwrap()["response"]["request_id"], *id);
    }
    for n in [5, 6] {
        let expected = json!({"subtype": "success", "response": {"n": n}});
        assert_eq!(peer.hear().await.unwrap()["response"], expected, "no id is answered with none");
    }
}
