//! Code of the user that panics: it ends neither the connection nor the task that called it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pilothouse_link::tape::{Direction, Tap};
use pilothouse_link::{Connect, EndKind, Event, Host, Inbound};
use pilothouse_proc::{Exit, Spawn};
use pilothouse_proto::control::{Ack, Interrupt};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::peer::{Marker, Peer, within};

/// Counts what it is shown, and panics each time.
#[derive(Default)]
struct Panicking(AtomicUsize);

impl Panicking {
    fn panic(&self) -> ! {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("on purpose")
    }
}

impl Tap for Panicking {
    fn line(&self, _: Direction, _: &[u8]) {
        self.panic()
    }

    fn started(&self, _: &Spawn) {
        self.panic()
    }

    fn stderr(&self, _: &str) {
        self.panic()
    }

    fn input_closed(&self) {
        self.panic()
    }

    fn ended(&self, _: Option<Exit>) {
        self.panic()
    }
}

fn ask(id: &str) -> Value {
    json!({"type": "control_request", "request_id": id, "request":
        {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}}})
}

#[tokio::test]
async fn a_panicking_tap_sees_every_line_and_the_connection_goes_on() {
    let tap = Arc::new(Panicking::default());
    let (handle, mut events, mut peer) = Peer::of(Connect::new().tap(tap.clone()));
    let asking = tokio::spawn({
        let handle = handle.clone();
        async move { handle.request(Interrupt::default()).await }
    });
    let id = peer.hear().await.unwrap()["request_id"].clone();
    peer.say(json!({"type": "keep_alive"})).await;
    peer.say(json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": {}}}))
        .await;
    within(asking).await.unwrap().unwrap();
    assert!(matches!(within(events.next()).await, Some(Event::Frame { .. })));
    peer.hang_up().await;
    assert_eq!(within(handle.ended()).await.kind, EndKind::EndOfStream);
    within(handle.close()).await;
    assert!(tap.0.load(Ordering::SeqCst) >= 4);
}

#[tokio::test]
async fn a_panicking_tap_of_a_child_does_not_hide_its_exit() {
    for _ in 0..20 {
        let marker = Marker::new();
        let tap = Arc::new(Panicking::default());
        let spawn = marker.shell("echo oops >&2; read -r line; echo last >&2; exit 5");
        let (handle, _events) = Connect::<Host>::new().tap(tap.clone()).child(spawn).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        assert!(handle.try_ended().is_none(), "it runs on");
        handle.end_input();
        let ended = within(handle.ended()).await;
        assert_eq!(ended.exit.unwrap().code(), Some(5));
        assert!(ended.stderr_tail.contains("last"));
        marker.assert_none_left_soon().await;
    }
}

/// A value that cannot be written.
struct Bomb;

impl Serialize for Bomb {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("on purpose")
    }
}

#[tokio::test]
async fn an_answer_that_panics_while_it_is_written_is_an_error_answer() {
    let connect = Connect::<Host>::new().serve(|inbound: Inbound<Host>| {
        tokio::spawn(async move { inbound.responder.success(&Bomb) });
    });
    let (_handle, _events, mut peer) = Peer::of(connect);
    peer.say(ask("one")).await;
    assert_eq!(peer.hear().await.unwrap()["response"]["subtype"], "error");
}

/// Panics when it is dropped.
struct Mine;

impl Drop for Mine {
    fn drop(&mut self) {
        panic!("on purpose")
    }
}

#[tokio::test]
async fn a_handler_that_panics_when_dropped_does_not_hide_the_report() {
    let marker = Marker::new();
    let mine = Mine;
    let connect = Connect::<Host>::new().serve(move |inbound: Inbound<Host>| {
        let _mine = &mine;
        inbound.responder.success(&Ack::default());
    });
    let (handle, _events) = connect.child(marker.shell("cat >/dev/null")).await.unwrap();
    let closed = within(handle.close()).await;
    assert_eq!(closed.report.unwrap().exit.unwrap().code(), Some(0));
    marker.assert_none_left_soon().await;
}

#[tokio::test]
async fn a_panic_payload_that_panics_when_dropped_ends_that_request_only() {
    let connect = Connect::<Host>::new().serve(|inbound: Inbound<Host>| {
        if *inbound.id() == "boom" {
            std::panic::panic_any(Mine);
        }
        inbound.responder.success(&Ack::default());
    });
    let (_handle, _events, mut peer) = Peer::of(connect);
    peer.say(ask("boom")).await;
    assert_eq!(peer.hear().await.unwrap()["response"]["subtype"], "error");
    peer.say(ask("fine")).await;
    assert_eq!(peer.hear().await.unwrap()["response"]["subtype"], "success");
}
