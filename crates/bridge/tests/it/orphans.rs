//! A bridge that is killed leaves no CLI behind that the next one could meet on the same session.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use pilothouse_testkit::{MarkedProcess, binary, processes_marked};
use serde_json::json;
use tokio::net::TcpStream;

use crate::chaos::{TOKEN, World};
use crate::wire::Socket;

/// The kernel ends what the bridge itself has started, which is the wrapper; what that has started goes on.
fn wrapper(world: &World) -> std::path::PathBuf {
    let file = world.root().join("wrapper");
    let faulty = binary("faulty").unwrap();
    let script = format!("#!/bin/sh\nexec 3<&0\n'{}' \"$@\" <&3 3<&- &\nexec 3<&-\nwait\n", faulty.display());
    std::fs::write(&file, script).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file
}

#[tokio::test]
async fn a_cli_that_outlives_its_bridge_is_ended_before_the_next_one_begins() {
    let world = World::new();
    let wrapper = wrapper(&world);
    let clis = || -> Vec<MarkedProcess> {
        let marked = processes_marked(&world.sandbox.marker()).into_iter();
        marked.filter(|process| process.command.contains("stream-json")).collect()
    };
    // It does not end by the end of its input.
    let mut bridge = world.start_bridge_over(&wrapper, "stubborn_inside");
    let port = world.port.load(Ordering::SeqCst);
    let handshake = Socket::<TcpStream>::handshake(
        &format!("localhost:{port}"),
        "/ws",
        &format!("Authorization: Bearer {TOKEN}\r\n"),
    );
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let mut socket = Socket::open(stream, &handshake).await.unwrap();
    let project = world.sandbox.project().canonicalize().unwrap();
    socket.say(json!({"type": "start", "projectPath": project})).await;
    socket.until("system").await;
    socket.say(json!({"type": "input", "text": "hello"})).await;
    socket.until("result").await;
    assert_eq!(clis().len(), 2, "the wrapper and the CLI: {:?}", clis());

    bridge.kill().unwrap();
    bridge.wait().unwrap();
    let start = Instant::now();
    while clis().len() > 1 {
        assert!(start.elapsed() < Duration::from_secs(10), "the wrapper goes with the bridge");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(clis().len(), 1, "this is what the test is about");
    let mut bridge = world.start_bridge();
    assert_eq!(clis(), [], "whoever can talk to the next bridge finds it alone");
    bridge.kill().unwrap();
    bridge.wait().unwrap();
}
