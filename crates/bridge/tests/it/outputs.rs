//! What is too long for an event is kept beside it, for whoever asks and may; and all of it is forgotten in time.

use std::sync::Arc;
use std::time::Duration;

use pilothouse::sessions::Store;
use pilothouse_bridge::api::Lifecycle;
use pilothouse_bridge::log::{Log, SqliteStore};
use pilothouse_bridge::session::{Hub, Retention};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;

use crate::harness::{Place, within};
use crate::rendering::{assistant, tell, tool_result};
use crate::wire::{Running, status};

#[tokio::test]
async fn long_outputs_are_had_by_who_asks_for_them() {
    let bridge = Running::new("as_told", |_| {}).await;
    let project = bridge.sandbox.project().canonicalize().unwrap();
    let mut page = bridge.own_socket().await;
    page.say(json!({"type": "hello", "protocol": 1})).await;
    page.say(json!({"type": "start", "projectPath": project})).await;
    let session = page.until("system").await["sessionId"].clone();
    let long = format!("{}the end", "<script>é</script>\n".repeat(10_000));
    let call = json!([{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "cat"}}]);
    let details = json!({"stdout": long, "stderr": ""});
    let frames = json!([
        assistant(call),
        tool_result("toolu_1", &long, &details),
        tool_result("toolu_2", "short", &json!({}))
    ]);
    page.say(json!({"type": "input", "text": frames.to_string(), "sessionId": session})).await;
    let result = page.until("tool_result").await;
    let shown = result["content"].as_str().unwrap();
    let end = shown.trim_start_matches("…\n");
    assert!(shown.len() < 20_000 && end.ends_with("the end") && long.ends_with(end), "{} bytes", shown.len());
    assert_eq!(result["truncated"]["bytes"], long.len());
    assert!(result.get("details").is_none());
    assert!(page.until("tool_result").await.get("truncated").is_none());
    page.until("result").await;

    let own = format!("Authorization: Bearer {}\r\n", bridge.token);
    let url = format!("/{}", result["truncated"]["url"].as_str().unwrap());
    let details_url = format!("/{}", result["truncatedDetails"]["url"].as_str().unwrap());
    let whole = bridge.get(&url, &own).await;
    assert!(whole.ends_with(&format!("\r\n\r\n{long}")), "all of it, as it is");
    assert!(
        whole.contains("content-type: text/plain; charset=utf-8\r\n") && whole.contains("nosniff"),
        "never a page"
    );
    let kept = bridge.get(&details_url, &own).await;
    assert!(kept.ends_with(&details.to_string()), "{}", kept.len());
    let rows = [
        (url.clone(), String::new(), 401),
        (url.clone(), "Authorization: Bearer wrong\r\n".to_owned(), 401),
        (format!("{url}/other"), own.clone(), 404),
        (format!("{details_url}/more"), own.clone(), 404),
        ("/outputs/nobody/3".to_owned(), own.clone(), 404),
        (format!("/outputs/{}/1", session.as_str().unwrap()), own.clone(), 404),
        ("/outputs/".to_owned(), own.clone(), 404),
        ("/outputs/..%2f..%2fetc/1".to_owned(), own.clone(), 404),
    ];
    for (path, headers, expected) in rows {
        assert_eq!(status(&bridge.get(&path, &headers).await), expected, "{path}");
    }
    bridge.stop().await;
}

#[tokio::test]
async fn a_slow_reader_gets_all_of_a_long_output() {
    let patience = Duration::from_secs(1);
    let bridge = Running::new("as_told", |setup| setup.limits.patience = patience).await;
    let project = bridge.sandbox.project().canonicalize().unwrap();
    let mut page = bridge.own_socket().await;
    page.say(json!({"type": "start", "projectPath": project})).await;
    let session = page.until("system").await["sessionId"].clone();
    let long = "all is quiet on the harbour wall\n".repeat(120_000);
    let frames = json!([tool_result("toolu_1", &long, &json!({}))]);
    page.say(json!({"type": "input", "text": frames.to_string(), "sessionId": session})).await;
    let url = page.until("tool_result").await["truncated"]["url"].as_str().unwrap().to_owned();

    // Its system takes little at a time, and it begins to read only when the time for another request would be over.
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut slow = socket.connect(([127, 0, 0, 1], bridge.port).into()).await.unwrap();
    let (port, token) = (bridge.port, &bridge.token);
    let request =
        format!("GET /{url} HTTP/1.1\r\nHost: localhost:{port}\r\nAuthorization: Bearer {token}\r\n\r\n");
    slow.write_all(request.as_bytes()).await.unwrap();
    tokio::time::sleep(2 * patience).await;
    let mut answer = String::new();
    within(slow.read_to_string(&mut answer)).await.unwrap();
    assert_eq!(answer.split_once("\r\n\r\n").unwrap().1.len(), long.len());
    drop(page);
    bridge.stop().await;
}

#[tokio::test]
async fn old_sessions_are_forgotten_with_all_that_was_kept_of_them() {
    let place = Place::new("as_told");
    let hub = place.hub().await;
    let long = "x".repeat(500_000);
    let mut sessions = Vec::new();
    for number in 0..3 {
        let (mut peer, session) = place.started(&hub).await;
        tell(&mut peer, &session, &json!([tool_result("toolu_1", &long, &json!({"number": number}))])).await;
        peer.until("result").await;
        if number < 2 {
            peer.say(json!({"type": "stop_session", "sessionId": session})).await;
            peer.until("session_state").await;
        }
        sessions.push(session);
    }
    assert_eq!(hub.forget_old().await.unwrap(), [], "there is room for all");
    hub.shut_down("the test").await;

    // Of three sessions with a megabyte and a half each, the one stays in which something happened last.
    let log = Log::new(Arc::new(SqliteStore::open(&place.database()).unwrap())).unwrap();
    let retention = Retention { bytes: 2_500_000, ..Retention::default() };
    let hub = Hub::open(log.clone(), Store::at(place.sandbox.config()), retention, pilothouse::Options::new)
        .await
        .unwrap();
    let left: Vec<String> = hub.list(true).into_iter().map(|view| view.session_id.0).collect();
    assert_eq!(left, [sessions[2].clone()]);
    assert!(log.blocking(|store| store.bytes()).await.unwrap() <= 2_500_000);
    assert!(hub.list(true).iter().all(|view| view.state != Lifecycle::Running));
    drop(hub);
    let none = Retention { bytes: 0, ..Retention::default() };
    let hub =
        Hub::open(log, Store::at(place.sandbox.config()), none, pilothouse::Options::new).await.unwrap();
    assert!(hub.list(true).is_empty());
}
