//! What must not work, tried on a bridge that listens.

use std::time::{Duration, Instant};

use pilothouse_bridge::server::{Bridge, ServeError};
use pilothouse_bridge::{StateDir, StateDirError};
use pilothouse_testkit::Sandbox;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::harness::within;
use crate::wire::{Got, Running, Socket, setup, status};

#[tokio::test]
async fn nobody_gets_a_socket_without_the_right_credential_origin_and_host() {
    let bridge = Running::new("plain", |_| {}).await;
    let bearer = format!("Authorization: Bearer {}\r\n", bridge.token);
    let rows: Vec<(String, u16)> = vec![
        (bridge.upgrade(""), 401),
        (bridge.upgrade("Authorization: Bearer wrong\r\n"), 401),
        (bridge.upgrade(&format!("Authorization: Basic {}\r\n", bridge.token)), 401),
        (bridge.upgrade(&format!("Cookie: pilothouse_00000000={}\r\n", bridge.token)), 401),
        (bridge.upgrade("Sec-WebSocket-Protocol: pilothouse, bearer.wrong\r\n"), 401),
        (bridge.upgrade(&format!("{bearer}Origin: https://evil.example\r\n")), 403),
        (bridge.upgrade(&format!("{bearer}Origin: null\r\n")), 403),
        (bridge.upgrade(&bearer).replace("localhost", "evil.example"), 403),
        (bridge.upgrade(&bearer).replace("Upgrade: websocket\r\n", ""), 426),
        (bridge.upgrade(&bearer).replace("Version: 13", "Version: 7"), 426),
        // A credential in the address is none.
        (bridge.upgrade("").replace("/ws", &format!("/ws?token={}", bridge.token)), 401),
    ];
    for (request, expected) in rows {
        let refused = Socket::open(bridge.connect().await, &request).await.err().unwrap_or_default();
        assert_eq!(status(&refused), expected, "{request}");
    }
    let native = format!("Sec-WebSocket-Protocol: pilothouse, bearer.{}\r\n", bridge.token);
    bridge.socket(&native).await;
    let from_the_page = format!("{bearer}Origin: http://localhost:{}\r\n", bridge.port);
    bridge.socket(&from_the_page).await;
    bridge.stop().await;
}

#[tokio::test]
async fn wrong_credentials_are_slowed_down_and_right_ones_are_not() {
    let bridge = Running::new("plain", |_| {}).await;
    let mut answers = Vec::new();
    for _ in 0..30 {
        answers.push(status(&bridge.get("/metrics", "Authorization: Bearer wrong\r\n").await));
    }
    assert_eq!(answers[0], 401);
    assert_eq!(answers[29], 429);
    let right = bridge.get("/metrics", &format!("Authorization: Bearer {}\r\n", bridge.token)).await;
    assert_eq!(status(&right), 200);
    assert!(right.contains("pilothouse_bridge_refused_total 30\n"), "{right}");
    assert_eq!(status(&bridge.get("/healthz", "").await), 200);
    bridge.stop().await;
}

#[tokio::test]
async fn pairing_takes_a_fresh_code_from_the_bridge_s_own_page() {
    let bridge = Running::new("plain", |_| {}).await;
    let body = json!({"code": bridge.code(), "name": "phone"}).to_string();
    let json = "Content-Type: application/json\r\n";
    let page = format!("{json}Origin: http://localhost:{}\r\n", bridge.port);
    // What a form or a script of another site could send does not even use the code up.
    assert_eq!(status(&bridge.post("/pair", "Content-Type: text/plain\r\n", &body).await), 415);
    assert_eq!(status(&bridge.post("/pair", "", &body).await), 415);
    assert_eq!(
        status(&bridge.post("/pair", &format!("{json}Origin: https://evil.example\r\n"), &body).await),
        403
    );
    assert_eq!(status(&bridge.get("/pair", "").await), 405);
    assert_eq!(status(&bridge.post("/pair", json, "{").await), 400);
    assert_eq!(status(&bridge.post("/pair", json, &"x".repeat(20_000)).await), 413);
    assert_eq!(status(&bridge.post("/pair", json, r#"{"code":"aaaaaaaaaa"}"#).await), 403);

    let paired = bridge.post("/pair", &page, &body).await;
    assert_eq!(status(&paired), 200, "{paired}");
    let cookie = paired.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    for part in ["pilothouse_page_", "Path=/d/", "Max-Age=2592000", "HttpOnly", "SameSite=Strict"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let secret = serde_json::from_str::<serde_json::Value>(paired.split("\r\n\r\n").nth(1).unwrap()).unwrap()
        ["secret"]
        .clone();
    assert!(!paired.contains("\"token\""), "a page's scripts do not get the credential");
    assert_eq!(status(&bridge.post("/pair", &page, &body).await), 403, "replayed");

    let cookie = format!("Cookie: theme=dark; {}\r\n", cookie.split(';').next().unwrap());
    let own = format!("Sec-WebSocket-Protocol: pilothouse, page.{}\r\n", secret.as_str().unwrap());
    let mut socket =
        bridge.socket(&format!("{cookie}{own}Origin: http://localhost:{}\r\n", bridge.port)).await;
    socket.say(json!({"type": "hello", "protocol": 1})).await;
    let welcome = socket.until("welcome").await;
    assert_eq!(
        (&welcome["device"], &welcome["scopes"]),
        (&json!("phone"), &json!(["observe", "input", "approve", "configure", "owner"]))
    );

    // A program gets its credential in the answer, and the owner can take it away again.
    let owner = format!("Authorization: Bearer {}\r\n", bridge.token);
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        for body in ["", "{}"] {
            let asked = format!("{owner}Content-Type: {kind}\r\n");
            for path in ["/pair/offer", "/devices/revoke", "/push/subscribe", "/push/unsubscribe"] {
                assert_eq!(status(&bridge.post(path, &asked, body).await), 415, "{path} {kind} {body:?}");
            }
        }
    }
    let offered = bridge.post("/pair/offer", &owner, "").await;
    let offered: serde_json::Value = serde_json::from_str(offered.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let body = json!({"code": offered["code"], "name": "script"}).to_string();
    let program = bridge.post("/pair", json, &body).await;
    assert!(program.contains("\"token\""), "{program}");
    // Less than it may itself, if that is asked for; never to run without asking, even from the owner.
    for (wanted, granted) in [
        (json!([]), json!(["observe"])),
        (json!(["approve"]), json!(["observe", "approve"])),
        (json!(["input", "bypass", "owner"]), json!(["observe", "input"])),
    ] {
        let asked = json!({"scopes": wanted}).to_string();
        let offered = bridge.post("/pair/offer", &format!("{owner}{json}"), &asked).await;
        let offered: serde_json::Value =
            serde_json::from_str(offered.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        let claim = json!({"code": offered["code"], "name": "guest"}).to_string();
        let paired = bridge.post("/pair", json, &claim).await;
        let paired: serde_json::Value =
            serde_json::from_str(paired.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        assert_eq!(paired["scopes"], granted, "{wanted}");
    }
    assert_eq!(
        status(&bridge.post("/pair/offer", &format!("{owner}{json}"), r#"{"scopes":["fly"]}"#).await),
        400
    );
    let revoke = json!({"device": "phone"}).to_string();
    assert_eq!(status(&bridge.post("/devices/revoke", &format!("{owner}{json}"), &revoke).await), 200);
    assert_eq!(socket.close_code().await, Some(4401));
    let devices = bridge.get("/devices", &owner).await;
    assert!(devices.contains("script") && !devices.contains("phone"), "{devices}");
    assert_eq!(status(&bridge.get("/devices", &cookie).await), 401);
    bridge.stop().await;
}

#[tokio::test]
async fn frames_that_are_too_long_or_too_many_end_the_connection() {
    let bridge = Running::new("plain", |setup| {
        setup.limits.message_bytes = 10_000;
        setup.limits.burst = 20.0;
        setup.limits.messages_per_second = 1.0;
    })
    .await;
    let mut socket = bridge.own_socket().await;
    // Only the header is sent: the bridge does not wait for the rest.
    socket.raw(&[&[0x81, 0xff][..], &(1_u64 << 40).to_be_bytes(), &[0; 4]].concat()).await.unwrap();
    assert_eq!(socket.close_code().await, Some(1009));
    let mut socket = bridge.own_socket().await;
    socket.raw(&[0x81, 0x02, b'h', b'i']).await.unwrap();
    assert_eq!(socket.close_code().await, Some(1002), "not masked");
    let mut socket = bridge.own_socket().await;
    socket.frame(0x82, b"binary").await.unwrap();
    assert_eq!(socket.close_code().await, Some(1003));

    let mut socket = bridge.own_socket().await;
    for _ in 0..30 {
        socket.say(json!({"type": "list_sessions"})).await;
    }
    assert_eq!(socket.until("error").await["errorCode"], "rate_limited");
    for _ in 0..600 {
        if socket.frame(0x81, b"{}").await.is_err() {
            break;
        }
    }
    assert_eq!(socket.close_code().await, Some(4429));
    bridge.stop().await;
}

#[tokio::test]
async fn a_client_that_goes_on_sending_still_learns_why_it_is_closed() {
    let bridge = Running::new("plain", |setup| {
        setup.limits.message_bytes = 10_000;
        setup.limits.burst = 1.0;
        setup.limits.messages_per_second = 1.0;
    })
    .await;
    // One message of twenty megabytes, all of which is sent before anything is read.
    let mut socket = bridge.own_socket().await;
    socket.frame(0x81, &vec![b'x'; 20 << 20]).await.unwrap();
    assert_eq!(socket.close_code().await, Some(1009));
    // And many small ones, messages or pings.
    for first in [0x81, 0x89] {
        let mut socket = bridge.own_socket().await;
        for _ in 0..20_000 {
            socket.frame(first, b"{}").await.unwrap();
        }
        assert_eq!(socket.close_code().await, Some(4429));
    }
    // Who never stops is cut off all the same.
    let mut socket = bridge.own_socket().await;
    let start = Instant::now();
    while socket.frame(0x81, &vec![b'x'; 1 << 20]).await.is_ok() {
        assert!(start.elapsed() < Duration::from_secs(60), "for ever is too long");
    }
    bridge.stop().await;
}

#[tokio::test]
async fn who_guesses_pairing_codes_shuts_nobody_out() {
    let bridge = Running::new("plain", |_| {}).await;
    let json = "Content-Type: application/json\r\n";
    let mut answers = Vec::new();
    for _ in 0..30 {
        answers.push(status(&bridge.post("/pair", json, r#"{"code":"aaaaaaaaaaaaaaaa"}"#).await));
    }
    assert_eq!((answers[0], answers[29]), (403, 429));
    let claim = json!({"code": bridge.code(), "name": "phone"}).to_string();
    assert_eq!(status(&bridge.post("/pair", json, &claim).await), 200);
    bridge.stop().await;
}

#[tokio::test]
async fn more_clients_than_allowed_are_turned_away_until_one_leaves() {
    let bridge = Running::new("plain", |setup| setup.limits.connections = 3).await;
    let mut sockets = Vec::new();
    for _ in 0..3 {
        sockets.push(bridge.own_socket().await);
    }
    let request = bridge.upgrade(&format!("Authorization: Bearer {}\r\n", bridge.token));
    let refused = Socket::open(bridge.connect().await, &request).await.err().unwrap_or_default();
    assert_eq!(status(&refused), 503);
    drop(sockets.pop());
    let start = Instant::now();
    while Socket::open(bridge.connect().await, &request).await.is_err() {
        assert!(start.elapsed() < Duration::from_secs(10), "the slot is not given back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    bridge.stop().await;
}

#[tokio::test]
async fn slow_requests_and_silent_clients_are_let_go() {
    let bridge = Running::new("plain", |setup| {
        setup.limits.patience = Duration::from_millis(500);
        setup.limits.ping_every = Duration::from_millis(200);
    })
    .await;
    let start = Instant::now();
    let mut slow = bridge.connect().await;
    let mut answer = Vec::new();
    for byte in b"GET /ws HTTP/1.1\r\nX: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" {
        if slow.write_all(&[*byte]).await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        if start.elapsed() > Duration::from_secs(2) {
            break;
        }
    }
    drop(within(slow.read_to_end(&mut answer)).await);
    assert!(start.elapsed() < Duration::from_secs(10));

    let mut silent = bridge.own_socket().await;
    assert_eq!(silent.close_code().await, Some(4408), "pings without any sign");
    let mut alive = bridge.own_socket().await;
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        alive.frame(0x89, b"me").await.unwrap();
        loop {
            match alive.next().await {
                Got::Pong(payload) => {
                    assert_eq!(payload, b"me");
                    break;
                }
                Got::Ping => {}
                other => panic!("{other:?}"),
            }
        }
    }
    bridge.stop().await;
}

#[tokio::test]
async fn other_machines_are_not_let_in_in_the_clear() {
    let sandbox = Sandbox::new().unwrap();
    for (address, insecure, starts) in [
        ("0.0.0.0:0", false, false),
        ("[::]:0", false, false),
        ("0.0.0.0:0", true, true),
        ("127.0.0.1:0", false, true),
    ] {
        let mut setup = setup(&sandbox, "plain");
        setup.address = address.parse().unwrap();
        setup.insecure_lan = insecure;
        match Bridge::open(setup).await {
            Ok(_) => assert!(starts, "{address} {insecure}"),
            Err(error) => assert!(!starts && matches!(error, ServeError::NeedsTls(_)), "{address}: {error}"),
        }
    }
}

#[tokio::test]
async fn a_second_bridge_does_not_touch_the_first_one_s_state() {
    let bridge = Running::new("plain", |_| {}).await;
    let second = Bridge::open(setup(&bridge.sandbox, "plain")).await;
    assert!(matches!(second, Err(ServeError::StateDir(_))));
    bridge.stop().await;
}

#[test]
fn a_removed_lock_file_does_not_let_a_second_bridge_in() {
    let place = tempfile::tempdir().unwrap();
    let state = place.path().join("state");
    let first = StateDir::open(&state).unwrap();
    for entry in std::fs::read_dir(&state).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let second = StateDir::open(&state);
    assert!(matches!(second, Err(StateDirError::InUse(_))), "{second:?}");
    drop(first);
    assert!(StateDir::open(&state).is_ok());
}

#[test]
fn files_of_the_state_directory_are_not_written_through_links() {
    for name in ["lock", "id", "log.db", "log.mark"] {
        let place = tempfile::tempdir().unwrap();
        let (state, elsewhere) = (place.path().join("state"), place.path().join("elsewhere"));
        std::fs::create_dir(&state).unwrap();
        std::os::unix::fs::symlink(&elsewhere, state.join(name)).unwrap();
        let opened = StateDir::open(&state).map_err(|error| error.to_string());
        let logged = opened.and_then(|state| state.log().map_err(|error| error.to_string()));
        assert!(!elsewhere.exists(), "{name} was written through: {logged:?}");
    }
}
