//! Whole conversations over a real socket.

use std::sync::Arc;

use pilothouse_bridge::server::Tls;
use serde_json::{Value, json};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::wire::{Running, Socket, status};

fn fixture(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

#[tokio::test]
async fn two_clients_follow_one_session_and_shutting_down_says_which_were_stopped() {
    let bridge = Running::new("tour", |_| {}).await;
    let project = bridge.sandbox.project().canonicalize().unwrap();
    let mut one = bridge.own_socket().await;
    one.say(json!({"type": "start", "projectPath": project, "requestId": "r1"})).await;
    let created = one.until("system").await;
    assert_eq!(created["requestId"], "r1");
    let session = created["sessionId"].clone();
    let mut two = bridge.own_socket().await;
    two.say(json!({"type": "hello", "protocol": 1})).await;
    two.say(json!({"type": "subscribe", "sessionId": session, "since": 0})).await;
    two.until("subscribed").await;
    let long = "word ".repeat(20_000);
    one.say(json!({"type": "input", "text": long})).await;
    let asked = two.until("permission_request").await;
    two.say(json!({"type": "approve", "id": asked["id"]})).await;
    let (first, second) = (one.until("result").await, two.until("result").await);
    assert_eq!(first, second, "the same event, word for word");
    assert!(first["result"].as_str().unwrap().len() > 100_000);
    one.say(json!({"type": "get_history", "sessionId": session})).await;
    let history = one.until("history").await;
    assert!(history["messages"].as_array().unwrap().contains(&first));
    assert_eq!(bridge.stop().await, [session.as_str().unwrap()]);
    assert_eq!((one.close_code().await, two.close_code().await), (Some(1001), Some(1001)));
}

#[tokio::test]
async fn a_certificate_makes_the_connection_secret() {
    let tls = Tls { certificate: fixture("localhost.pem"), key: fixture("localhost.key.pem") };
    let bridge = Running::new("plain", |setup| setup.tls = Some(tls)).await;
    assert!(bridge.pairing_url.starts_with("https://"));
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture("localhost.pem")).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, bridge.connect().await).await.unwrap();
    let bearer =
        format!("Authorization: Bearer {}\r\nOrigin: https://localhost:{}\r\n", bridge.token, bridge.port);
    let mut socket = Socket::open(stream, &bridge.upgrade(&bearer)).await.unwrap();
    socket.say(json!({"type": "list_sessions"})).await;
    assert_eq!(socket.until("session_list").await["sessions"], Value::Array(Vec::new()));
    drop(socket);
    bridge.stop().await;
}

#[tokio::test]
async fn who_asks_too_much_hears_which_question_is_not_answered() {
    let bridge =
        Running::new("plain", |setup| (setup.limits.burst, setup.limits.messages_per_second) = (3.0, 0.001))
            .await;
    let mut socket = bridge.own_socket().await;
    socket.say(json!({"type": "hello", "protocol": 1})).await;
    for number in 0..5 {
        socket.say(json!({"type": "ping", "requestId": format!("p{number}")})).await;
    }
    for (kind, asked) in [("pong", "p0"), ("pong", "p1"), ("error", "p2"), ("error", "p3"), ("error", "p4")] {
        let answer = socket.until_some("an answer", |message| message["requestId"].is_string()).await;
        assert_eq!((&answer["type"], &answer["requestId"]), (&json!(kind), &json!(asked)), "{answer}");
    }
    drop(socket);
    bridge.stop().await;
}

#[tokio::test]
async fn the_frame_that_closes_does_not_land_in_another() {
    let bridge = Running::new("long_session", |_| {}).await;
    let project = bridge.sandbox.project().canonicalize().unwrap();
    let owner = format!("Authorization: Bearer {}\r\n", bridge.token);
    let claim = json!({"code": bridge.code(), "name": "phone"}).to_string();
    let paired = bridge.post("/pair", "Content-Type: application/json\r\n", &claim).await;
    let paired: Value = serde_json::from_str(paired.split_once("\r\n\r\n").unwrap().1).unwrap();
    let mut phone =
        bridge.socket(&format!("Authorization: Bearer {}\r\n", paired["token"].as_str().unwrap())).await;
    phone.say(json!({"type": "start", "projectPath": project})).await;
    let session = phone.until("system").await["sessionId"].clone();
    let mut laptop = bridge.own_socket().await;
    laptop.say(json!({"type": "get_history", "sessionId": session})).await;
    // Twelve megabytes, which the phone does not read: somewhere in the middle its connection takes no more.
    laptop.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
    laptop.until("result").await;
    let json = "Content-Type: application/json\r\n";
    let revoked = bridge.post("/devices/revoke", &format!("{owner}{json}"), r#"{"device":"phone"}"#).await;
    assert_eq!(status(&revoked), 200);
    assert_eq!(phone.close_code().await, Some(4401));
    drop(laptop);
    bridge.stop().await;
}
