use std::time::{Duration, Instant};

use pilothouse_link::{Agent, Connect, Host, Inbound, Transport};
use pilothouse_proc::{Spawn, Step};
use pilothouse_proto::AgentFrame;
use pilothouse_proto::control::Interrupt;
use serde_json::json;

use crate::peer::within;

/// This test runs itself again as an agent that is driven through its stdin and stdout. What the test harness prints
/// there besides is noise, which a host must bear anyway.
#[test]
fn an_agent_on_its_own_stdin_and_stdout() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if std::env::var_os("PILOTHOUSE_TEST_AGENT").is_some() {
        runtime.block_on(agent());
        return;
    }
    runtime.block_on(host());
}

async fn agent() {
    let answer = |inbound: Inbound<Agent>| inbound.responder.success(&json!({"still_queued": ["me"]}));
    let (agent, mut events) = Connect::<Agent>::new().serve(answer).over(Transport::stdio().unwrap());
    events.next().await.unwrap();
    let frame: AgentFrame =
        serde_json::from_value(json!({"type": "big", "text": "b".repeat(3 << 20)})).unwrap();
    agent.send(&frame).await.unwrap();
    agent.ended().await;
    // Everything sent is written before this is done.
    agent.close().await;
}

async fn host() {
    let this = ["--exact", "stdio::an_agent_on_its_own_stdin_and_stdout", "--nocapture"];
    let spawn = Spawn::new(std::env::current_exe().unwrap()).args(this).env("PILOTHOUSE_TEST_AGENT", "1");
    let (host, mut events) = Connect::<Host>::new().child(spawn).await.unwrap();
    let reply = within(host.request(Interrupt::default())).await.unwrap();
    assert_eq!(reply.still_queued, ["me"]);
    within(host.send_raw(r#"{"type":"keep_alive"}"#)).await.unwrap();
    let big = within(async {
        loop {
            if let Ok(frame) = events.next().await.unwrap().into_frame() {
                return frame;
            }
        }
    });
    assert_eq!(big.await.tag(), "big");
    let begun = Instant::now();
    let report = within(host.close()).await.report.unwrap();
    assert_eq!(report.step, Step::EndOfInput, "{report:?}");
    assert!(begun.elapsed() < Duration::from_secs(4));
}
