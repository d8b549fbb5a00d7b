//! What a bridge and its idle connections cost.

use std::sync::atomic::Ordering;

use tokio::net::TcpStream;

use crate::chaos::{TOKEN, World};
use crate::wire::Socket;

const CLIENTS: u64 = 1000;

/// Resident memory of a process, in bytes.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// The bounds are 25 MB and 8 KB for an optimised build on a quiet machine; what is asserted is what no machine excuses.
#[tokio::test]
async fn an_idle_bridge_and_idle_connections_are_small() {
    let world = World::new();
    let mut bridge = world.start_bridge();
    let port = world.port.load(Ordering::SeqCst);
    let before = resident(bridge.id());
    let mut sockets = Vec::new();
    for _ in 0..CLIENTS {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let request = format!(
            "GET /ws HTTP/1.1\r\nHost: localhost:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Authorization: Bearer {TOKEN}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        sockets.push(Socket::open(stream, &request).await.unwrap());
    }
    let each = resident(bridge.id()).saturating_sub(before) / CLIENTS;
    println!("idle bridge: {} KB; each of {CLIENTS} idle connections: {each} bytes", before / 1024);
    bridge.kill().unwrap();
    bridge.wait().unwrap();
    assert!(before < 250_000_000 && each < 80_000, "{before} {each}");
}
