//! Where a bridge is found: sub-paths behind a proxy, and every address of the machine.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::within;
use crate::wire::{Running, status};

#[tokio::test]
async fn a_sub_path_may_stay_in_the_path_or_be_taken_away() {
    let bridge =
        Running::new("plain", |setup| setup.public_url = Some("https://me.example/ship/".to_owned())).await;
    assert!(bridge.pairing_url.starts_with("https://me.example/ship/#pair="), "{}", bridge.pairing_url);
    let folder = bridge.get("/ship", "").await;
    assert_eq!(status(&folder), 308);
    assert!(folder.contains("location: /ship/\r\n"), "relative addresses start in the folder: {folder}");
    for (path, expected) in [
        ("/ship/healthz", 200),
        ("/healthz", 200),
        ("/shipwreck", 404),
        ("/ship/../ship/nothing.js", 404),
        ("/ship/README.md", 404),
        ("/ship//etc/passwd", 404),
        ("/ship/.git/config.js", 404),
    ] {
        assert_eq!(status(&bridge.get(path, "").await), expected, "{path}");
    }
    let posted = bridge.post("/ship/nothing", "Content-Type: application/json\r\n", "{}").await;
    assert_eq!(status(&posted), 405);
    bridge.stop().await;
}

#[tokio::test]
async fn a_bridge_at_every_address_answers_to_the_one_it_was_reached_at() {
    let everywhere = ([0, 0, 0, 0], 0).into();
    let bridge = Running::new("plain", |setup| {
        setup.address = everywhere;
        setup.insecure_lan = true;
    })
    .await;
    assert!(!bridge.pairing_url.contains("0.0.0.0"), "nobody can open that: {}", bridge.pairing_url);
    let port = bridge.port;
    for (reached, named, expected) in [
        ("127.0.0.2", "127.0.0.2", 200),
        ("127.0.0.2", "localhost", 200),
        ("127.0.0.2", "127.0.0.3", 403),
        ("127.0.0.2", "evil.example", 403),
    ] {
        let mut stream = TcpStream::connect((reached, port)).await.unwrap();
        let request = format!("GET /healthz HTTP/1.1\r\nHost: {named}:{port}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        within(stream.read_to_string(&mut answer)).await.unwrap();
        assert_eq!(status(&answer), expected, "{named} at {reached}");
    }
    bridge.stop().await;
}

#[tokio::test]
async fn the_welcome_tells_which_agent_runs_where_it_may_work_and_what_may_be_said() {
    use pilothouse_bridge::api::{AgentInfo, AgentKind};
    let note = "there is no other".to_owned();
    let agent = AgentInfo { kind: AgentKind::Demo, version: "1.2.3".to_owned(), note, sandbox: None };
    let bridge = Running::new("plain", |setup| setup.agent = Some(agent)).await;
    let mut socket = bridge.own_socket().await;
    socket.say(json!({"type": "hello", "protocol": 1})).await;
    let welcome = socket.until("welcome").await;
    let agent = json!({"kind": "demo", "version": "1.2.3", "note": "there is no other"});
    assert_eq!(welcome["agent"], agent);
    assert_eq!(welcome["messageBytes"], 8 * 1024 * 1024);
    assert_eq!(welcome["roots"], json!([bridge.sandbox.project().canonicalize().unwrap()]));
    drop(socket);
    bridge.stop().await;
}
