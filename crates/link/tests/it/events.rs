use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pilothouse_link::{Agent, Connect, EndKind, Event, Host, Inbound, RequestError, Transport};
use pilothouse_proto::control::{Ack, Interrupt};
use pilothouse_proto::{AgentFrame, CanUseTool, HostFrame};
use serde_json::json;
use tokio::io::{AsyncRead, ReadBuf};

use crate::peer::{Peer, within};

#[tokio::test]
async fn every_kind_of_line_is_delivered_and_the_connection_goes_on() {
    let (_handle, mut events, mut peer) = Peer::of(Connect::new().max_line(200));
    let lines = [
        "[SandboxDebug] not json",
        "{\"type\":\"brand_new\",\"x\":1}",
        "{\"type\":\"stream_event\",\"event\":7}",
        "{\"type\":\"keep_alive\"}",
        "",
        "{\"half\": ",
        "42",
    ];
    for line in lines {
        peer.write(format!("{line}\n")).await;
    }
    peer.write("y".repeat(500) + "\n").await;
    peer.write(b"{\"type\":\"brand_new\",\"text\":\"\xff\"}\n").await;
    let mut seen = Vec::new();
    for _ in 0..8 {
        seen.push(match within(events.next()).await.unwrap() {
            Event::Frame { raw, frame } => format!("frame {} {}", frame.tag(), raw.len()),
            Event::Noise { raw } => format!("noise {}", raw.len()),
            Event::Malformed { error, .. } => format!("malformed at {}", error.path),
            Event::TooLong(line) => format!("too long {}", line.length),
            other => format!("{other:?}"),
        });
    }
    let expected = [
        "noise 23",
        "frame brand_new 26",
        "malformed at event",
        "frame keep_alive 21",
        "noise 9",
        "malformed at ",
        "too long 500",
        "frame brand_new 31",
    ];
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn characters_split_across_reads_stay_whole() {
    let (_handle, mut events, mut peer) = Peer::of(Connect::new());
    let line = "{\"type\":\"x\",\"text\":\"gr\u{fc}\u{df}e \u{1f600}\"}\n".as_bytes();
    for byte in line {
        peer.write([*byte]).await;
        tokio::task::yield_now().await;
    }
    let Some(Event::Frame { raw, frame: AgentFrame::Unknown(unknown) }) = within(events.next()).await else {
        panic!("not delivered")
    };
    assert_eq!(raw, &line[..line.len() - 1]);
    assert_eq!(unknown.fields.get("text").unwrap(), "gr\u{fc}\u{df}e \u{1f600}");
}

fn delta(n: usize) -> String {
    let event = json!({"type": "content_block_delta", "index": 0,
        "delta": {"type": "text_delta", "text": format!("word {n} and some more of it")}});
    json!({"type": "stream_event", "event": event, "session_id": "s", "uuid": n.to_string(),
        "parent_tool_use_id": null})
    .to_string()
        + "\n"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_gets_everything_in_order() {
    let (_handle, mut events, mut peer) = Peer::of(Connect::new());
    let writing = tokio::spawn(async move {
        for n in 0..50_000 {
            peer.write(delta(n)).await;
        }
        peer.hang_up().await;
    });
    let mut next = 0;
    while let Some(event) = within(events.next()).await {
        let Event::Frame { frame: AgentFrame::StreamEvent(delta), .. } = event else { panic!("{event:?}") };
        assert_eq!(delta.uuid.as_str(), next.to_string());
        next += 1;
        if next % 5000 == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert_eq!(next, 50_000);
    writing.await.unwrap();
}

/// Some 15 MB wait unread and nobody reads them; control goes on in both directions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_never_reads_does_not_stop_control() {
    const COUNT: usize = 60_000;
    let connect =
        Connect::<Host>::new().serve(|inbound: Inbound<Host>| inbound.responder.success(&Ack::default()));
    let (handle, mut events, mut peer) = Peer::of(connect);
    // No request is open while this is written, so reading pauses until the reader is seen to have stopped.
    for n in 0..COUNT {
        within(peer.write(delta(n))).await;
    }
    peer.say(json!({"type": "control_request", "request_id": "late", "request":
        {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}}}))
        .await;
    assert_eq!(peer.hear().await.unwrap()["response"]["request_id"], "late");
    let asking = tokio::spawn(async move { handle.request(Interrupt::default()).await });
    let id = peer.hear().await.unwrap()["request_id"].clone();
    for n in 0..COUNT {
        within(peer.write(delta(n))).await;
    }
    peer.say(json!({"type": "control_response", "response": {"subtype": "success", "request_id": id}})).await;
    within(asking).await.unwrap().unwrap();
    drop(peer);
    let mut count = 0;
    while let Some(batch) = within(events.next_batch()).await {
        count += batch.len();
    }
    assert_eq!(count, 2 * COUNT);
}

/// A peer that does not read holds up messages, and nothing else.
#[tokio::test]
async fn a_peer_that_does_not_read_holds_up_senders_only() {
    let (transport, mut peer) = Peer::pair();
    let (agent, mut events) = Connect::<Agent>::new().over(transport);
    let frame: AgentFrame =
        serde_json::from_value(json!({"type": "big", "text": "x".repeat(700_000)})).unwrap();
    within(agent.send(&frame)).await.unwrap();
    within(agent.send(&frame)).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(50), agent.send(&frame)).await.is_err());
    peer.say(json!({"type": "keep_alive"})).await;
    assert!(matches!(within(events.next()).await, Some(Event::Frame { frame: HostFrame::KeepAlive(_), .. })));
    for _ in 0..2 {
        assert_eq!(peer.hear().await.unwrap()["text"].as_str().unwrap().len(), 700_000);
    }
    within(agent.send(&frame)).await.unwrap();
    assert_eq!(peer.hear().await.unwrap()["type"], "big");
    assert!(within(agent.send_raw("{\"a\":\n1}")).await.is_err());
    within(agent.send_raw("{\"type\":\"as it is\"}")).await.unwrap();
    assert_eq!(peer.hear().await.unwrap()["type"], "as it is");
}

#[tokio::test]
async fn an_agent_speaks_on_after_the_end_of_its_input() {
    let (here, there) = Transport::memory();
    let (host, mut said) = Connect::<Host>::new().over(here);
    let (agent, mut heard) = Connect::<Agent>::new().request_timeout(None).over(there);
    host.end_input();
    assert!(heard.next().await.is_none());
    agent.send_now(&AgentFrame::KeepAlive(Default::default())).unwrap();
    let asked = agent.request(CanUseTool::default()).await;
    assert!(matches!(asked, Err(RequestError::Send(_))), "{asked:?}");
    agent.close().await;
    assert!(matches!(said.next().await.unwrap().frame(), Some(AgentFrame::KeepAlive(_))));
}

/// Always has more to say, at once.
struct Endless;

impl AsyncRead for Endless {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        const LINE: &[u8] = b"{\"type\":\"x\"}\n";
        while buf.remaining() >= LINE.len() {
            buf.put_slice(LINE);
        }
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_never_stops_writing_does_not_put_off_the_end() {
    let (handle, mut events) = Connect::<Host>::new().over(Transport::from_io(Endless, tokio::io::sink()));
    within(events.next()).await.unwrap();
    let closed = within(handle.close()).await;
    assert_eq!(closed.cause.kind, EndKind::Closed);
}
