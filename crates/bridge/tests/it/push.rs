//! Web Push, with a push service that looks closely: who signed, for whom, and what a browser would read.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pilothouse_bridge::push::PushSetup;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use web_push_native::{Auth, p256};

use crate::harness::within;
use crate::wire::{Running, Socket, status};

const JSON: &str = "Content-Type: application/json\r\n";

/// A push service on this machine. `/flaky` refuses the first message, `/gone` every one, `/down…` asks to wait long, and `/late`
/// a moment, but once.
struct Service {
    origin: String,
    heard: mpsc::UnboundedReceiver<Heard>,
}

/// A message that reached the service.
struct Heard {
    path: String,
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

impl Service {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
        let (hear, heard) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut seen: HashMap<String, u32> = HashMap::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let Some(request) = read(&mut stream).await else { continue };
                let times = seen.entry(request.path.clone()).or_default();
                *times += 1;
                let answer = match (request.path.as_str(), *times) {
                    ("/flaky", 1) => "503 Later\r\nRetry-After: 0",
                    ("/late", 1) => "503 Later\r\nRetry-After: 1",
                    ("/gone", _) => "410 Gone",
                    (down, _) if down.starts_with("/down") => "503 Later\r\nRetry-After: 300",
                    _ => "201 Created",
                };
                let answer = format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                drop(stream.write_all(answer.as_bytes()).await);
                drop(hear.send(request));
            }
        });
        Self { origin, heard }
    }

    async fn hear(&mut self) -> Heard {
        within(self.heard.recv()).await.unwrap()
    }
}

async fn read(stream: &mut TcpStream) -> Option<Heard> {
    let mut bytes = Vec::new();
    let end = loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let headers: HashMap<String, String> = head
        .lines()
        .skip(1)
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers["content-length"].parse().unwrap();
    while bytes.len() < end + 4 + length {
        stream.read_buf(&mut bytes).await.ok()?;
    }
    let path = head.split(' ').nth(1).unwrap().to_owned();
    Some(Heard { path, headers, body: bytes[end + 4..].to_vec() })
}

/// A browser: its key, its secret, and where it is called.
struct Browser {
    key: p256::SecretKey,
    auth: [u8; 16],
    endpoint: String,
}

impl Browser {
    fn new(service: &Service, path: &str, seed: u8) -> Self {
        let key = p256::SecretKey::from_slice(&[seed; 32]).unwrap();
        Self { key, auth: [seed; 16], endpoint: format!("{}{path}", service.origin) }
    }

    fn subscription(&self) -> Value {
        let public = self.key.public_key().to_sec1_bytes();
        let keys =
            json!({"p256dh": URL_SAFE_NO_PAD.encode(public), "auth": URL_SAFE_NO_PAD.encode(self.auth)});
        json!({"endpoint": self.endpoint, "expirationTime": null, "keys": keys})
    }

    async fn subscribe(&self, bridge: &Running, token: &str) {
        let headers = format!("{JSON}Authorization: Bearer {token}\r\n");
        let answer = bridge.post("/push/subscribe", &headers, &self.subscription().to_string()).await;
        assert_eq!(status(&answer), 200, "{answer}");
    }

    /// The message that the browser decrypts.
    fn read(&self, heard: &Heard) -> Value {
        assert_eq!(heard.headers["content-encoding"], "aes128gcm");
        let auth = Auth::clone_from_slice(&self.auth);
        let text = web_push_native::decrypt(heard.body.clone(), &self.key, &auth).unwrap();
        serde_json::from_slice(&text).unwrap()
    }
}

/// Fails unless the message is signed by the holder of the key that browsers subscribe to, for this service.
fn check_signature(heard: &Heard, service: &Service, key: &str) {
    let (token, signer) =
        heard.headers["authorization"].strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
    assert_eq!(signer, key);
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, URL_SAFE_NO_PAD.decode(key).unwrap());
    public.verify(signed.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
    let part =
        |part: &str| -> Value { serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap() };
    let (head, claims) = signed.split_once('.').unwrap();
    assert_eq!(part(head), json!({"typ": "JWT", "alg": "ES256"}));
    let claims = part(claims);
    assert_eq!(claims["aud"], service.origin.as_str());
    let now = jiff::Timestamp::now().as_second();
    assert!((now + 60..now + 24 * 60 * 60).contains(&claims["exp"].as_i64().unwrap()), "{claims}");
    assert_eq!(claims["sub"], "mailto:tester@pilothouse.invalid");
    assert!(heard.headers["ttl"].parse::<u32>().unwrap() > 0);
    assert!(heard.headers["topic"].len() <= 32);
}

async fn bridge(fault: &'static str) -> Running {
    Running::new(fault, |setup| {
        setup.push = PushSetup {
            contact: Some("mailto:tester@pilothouse.invalid".to_owned()),
            first_wait: Duration::from_millis(1),
            allow_local: true,
        };
    })
    .await
}

async fn started(bridge: &Running) -> (Socket<TcpStream>, Value) {
    let mut page = bridge.own_socket().await;
    page.say(json!({"type": "hello", "protocol": 1})).await;
    page.say(json!({"type": "start", "projectPath": bridge.sandbox.project().canonicalize().unwrap()})).await;
    let session = page.until("system").await["sessionId"].clone();
    (page, session)
}

/// Another device, let in by the first code.
async fn phone(bridge: &Running) -> String {
    let claim = json!({"code": bridge.code(), "name": "phone"}).to_string();
    let answer = body_of(&bridge.post("/pair", JSON, &claim).await);
    answer["token"].as_str().unwrap().to_owned()
}

/// One more device.
async fn another(bridge: &Running) -> String {
    let own = format!("Authorization: Bearer {}\r\n", bridge.token);
    let code = body_of(&bridge.post("/pair/offer", &own, "").await)["code"].clone();
    let claim = json!({"code": code, "name": "tablet"}).to_string();
    body_of(&bridge.post("/pair", JSON, &claim).await)["token"].as_str().unwrap().to_owned()
}

fn body_of(answer: &str) -> Value {
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[tokio::test]
async fn a_browser_is_called_unless_its_device_is_looked_at() {
    let mut service = Service::start().await;
    let bridge = bridge("permission").await;
    let own = format!("Authorization: Bearer {}\r\n", bridge.token);
    let answer = bridge.get("/push/key", &own).await;
    let key: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    let key = key["key"].as_str().unwrap();
    let (desk, pocket) = (Browser::new(&service, "/desk", 7), Browser::new(&service, "/pocket", 8));
    desk.subscribe(&bridge, &bridge.token).await;
    pocket.subscribe(&bridge, &phone(&bridge).await).await;

    // The desk is looked at, so only the pocket is called.
    let (mut page, session) = started(&bridge).await;
    page.say(json!({"type": "visible", "visible": true})).await;
    page.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
    let asked = page.until("permission_request").await;
    let heard = service.hear().await;
    check_signature(&heard, &service, key);
    assert_eq!((heard.path.as_str(), heard.headers["urgency"].as_str()), ("/pocket", "high"));
    let news = pocket.read(&heard);
    assert_eq!(
        (&news["sessionId"], &news["approvalId"], &news["body"]),
        (&session, &asked["id"], &json!("Bash: touch x"))
    );
    assert!(news["title"].as_str().unwrap().ends_with(" needs you"), "{news}");
    page.say(json!({"type": "approve", "id": asked["id"]})).await;
    page.until("result").await;
    let over = service.hear().await;
    assert_eq!((over.path.as_str(), over.headers["urgency"].as_str()), ("/pocket", "normal"));
    let news = pocket.read(&over);
    assert_eq!(
        (&news["approvalId"], news["title"].as_str().unwrap().ends_with(" is ready")),
        (&Value::Null, true)
    );

    // Nobody looks any more: both are called.
    page.say(json!({"type": "visible", "visible": false})).await;
    page.say(json!({"type": "input", "text": "go on"})).await;
    page.until("permission_request").await;
    let (one, two) = (service.hear().await, service.hear().await);
    let mut called = [one.path.as_str(), two.path.as_str()];
    called.sort_unstable();
    assert_eq!(called, ["/desk", "/pocket"]);
    drop(page);
    bridge.stop().await;
}

#[tokio::test]
async fn a_message_is_tried_again_and_what_is_gone_is_forgotten() {
    let mut service = Service::start().await;
    let bridge = bridge("plain").await;
    let file = bridge.sandbox.home().join("state/push.json");
    let phone = phone(&bridge).await;
    let browsers = [
        Browser::new(&service, "/flaky", 1),
        Browser::new(&service, "/gone", 2),
        Browser::new(&service, "/fine", 3),
    ];
    for browser in &browsers[..2] {
        browser.subscribe(&bridge, &bridge.token).await;
    }
    browsers[2].subscribe(&bridge, &phone).await;
    let (mut page, session) = started(&bridge).await;
    page.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
    page.until("result").await;
    let mut flaky = Vec::new();
    let mut calls = HashMap::<String, u32>::new();
    while flaky.len() < 2 || calls.len() < 3 {
        let heard = service.hear().await;
        *calls.entry(heard.path.clone()).or_default() += 1;
        if heard.path == "/flaky" {
            flaky.push(browsers[0].read(&heard));
        }
    }
    assert_eq!(flaky[0], flaky[1], "the same message, again");
    let kept = || std::fs::read_to_string(&file).unwrap();
    until(|| !kept().contains("/gone")).await;
    assert!(kept().contains("/flaky") && kept().contains("/fine"));

    // A device that is revoked takes its browsers with it, one that unsubscribes only that one.
    let own = format!("{JSON}Authorization: Bearer {}\r\n", bridge.token);
    assert_eq!(status(&bridge.post("/devices/revoke", &own, r#"{"device":"phone"}"#).await), 200);
    assert!(!kept().contains("/fine"), "{}", kept());
    let gone = json!({"endpoint": browsers[0].endpoint}).to_string();
    assert_eq!(status(&bridge.post("/push/unsubscribe", &own, &gone).await), 200);
    assert_eq!(kept().trim(), "[]");
    for name in ["push.json", "push.key"] {
        let mode = std::fs::metadata(file.with_file_name(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    bridge.stop().await;
}

#[tokio::test]
async fn a_service_that_is_down_keeps_no_other_waiting() {
    let mut service = Service::start().await;
    let bridge = bridge("plain").await;
    // More than are on their way at a time.
    for device in 0..3 {
        let token = another(&bridge).await;
        for number in 0..8 {
            let browser = Browser::new(&service, &format!("/down{device}{number}"), device * 8 + number + 1);
            browser.subscribe(&bridge, &token).await;
        }
    }
    Browser::new(&service, "/fine", 100).subscribe(&bridge, &bridge.token).await;
    let (mut page, session) = started(&bridge).await;
    page.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
    page.until("result").await;
    while service.hear().await.path != "/fine" {}
    drop(page);
    bridge.stop().await;
}

#[tokio::test]
async fn nobody_is_called_for_what_was_decided_meanwhile() {
    let mut service = Service::start().await;
    let bridge = bridge("permission").await;
    let browser = Browser::new(&service, "/late", 1);
    browser.subscribe(&bridge, &bridge.token).await;
    let (mut page, session) = started(&bridge).await;
    page.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
    let asked = page.until("permission_request").await;
    assert_eq!(browser.read(&service.hear().await)["approvalId"], asked["id"]);
    page.say(json!({"type": "approve", "id": asked["id"]})).await;
    page.until("result").await;
    assert_eq!(browser.read(&service.hear().await)["approvalId"], Value::Null);
    let later = tokio::time::timeout(Duration::from_secs(2), service.heard.recv()).await;
    assert!(later.is_err(), "what is over was sent again");
    drop(page);
    bridge.stop().await;
}

#[tokio::test]
async fn who_was_only_taken_to_look_is_called_when_that_is_known() {
    let mut service = Service::start().await;
    let bridge = Running::new("permission", |setup| {
        setup.push = PushSetup { allow_local: true, ..PushSetup::default() };
        setup.limits.ping_every = Duration::from_secs(1);
    })
    .await;
    let browser = Browser::new(&service, "/pocket", 1);
    browser.subscribe(&bridge, &bridge.token).await;
    let (mut page, session) = started(&bridge).await;
    page.say(json!({"type": "visible", "visible": true})).await;
    page.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
    let asked = page.until("permission_request").await;
    // From here on it says nothing, as one does that has lost its network.
    assert_eq!(browser.read(&service.hear().await)["approvalId"], asked["id"]);
    drop(page);
    bridge.stop().await;
}

#[tokio::test]
async fn a_turn_that_somebody_ends_has_not_failed() {
    let mut service = Service::start().await;
    let bridge = bridge("interrupt").await;
    let browser = Browser::new(&service, "/desk", 1);
    browser.subscribe(&bridge, &bridge.token).await;
    let (mut page, session) = started(&bridge).await;
    page.say(json!({"type": "input", "text": "go", "sessionId": session})).await;
    page.until("stream_delta").await;
    page.say(json!({"type": "interrupt"})).await;
    assert_eq!(page.until("result").await["subtype"], "error_during_execution");
    let called = tokio::time::timeout(Duration::from_millis(500), service.heard.recv()).await;
    assert!(called.is_err(), "whoever ended it knows");
    drop(page);
    bridge.stop().await;
}

#[tokio::test]
async fn only_devices_subscribe_and_only_what_can_be_called() {
    let service = Service::start().await;
    let bridge = Running::new("plain", |_| {}).await;
    let own = format!("Authorization: Bearer {}\r\n", bridge.token);
    let good = Browser::new(&service, "/x", 1).subscription();
    let with = |change: fn(&mut Value)| {
        let mut changed = good.clone();
        changed["endpoint"] = json!("https://push.example.com/x");
        change(&mut changed);
        changed.to_string()
    };
    let rows = [
        (good.to_string(), format!("{JSON}{own}"), 400),
        (with(|value| value["endpoint"] = json!("https://127.0.0.1/x")), format!("{JSON}{own}"), 400),
        (
            with(|value| value["endpoint"] = json!("https://169.254.169.254/latest")),
            format!("{JSON}{own}"),
            400,
        ),
        (with(|value| value["keys"]["p256dh"] = json!("AAAA")), format!("{JSON}{own}"), 400),
        (with(|value| value["keys"]["p256dh"] = json!("A".repeat(87))), format!("{JSON}{own}"), 400),
        (with(|value| value["keys"]["auth"] = json!("")), format!("{JSON}{own}"), 400),
        (with(|_| {}), JSON.to_owned(), 401),
        (with(|_| {}), format!("Content-Type: text/plain\r\n{own}"), 415),
        (with(|_| {}), format!("{JSON}{own}Origin: https://evil.example\r\n"), 403),
        (with(|_| {}), format!("{JSON}{own}"), 200),
    ];
    for (body, headers, expected) in rows {
        let answer = bridge.post("/push/subscribe", &headers, &body).await;
        assert_eq!(status(&answer), expected, "{body}: {answer}");
    }
    assert_eq!(status(&bridge.get("/push/subscribe", &own).await), 405);
    assert_eq!(status(&bridge.get("/push/other", &own).await), 404);
    assert_eq!(status(&bridge.get("/push/key", "").await), 401);
    bridge.stop().await;
}

#[tokio::test]
async fn an_endpoint_belongs_to_the_device_that_registered_it() {
    let service = Service::start().await;
    let bridge = Running::new("plain", |_| {}).await;
    let phone = phone(&bridge).await;
    let post = |path: &'static str, token: &str, body: Value| {
        let headers = format!("{JSON}Authorization: Bearer {token}\r\n");
        let bridge = &bridge;
        async move { status(&bridge.post(path, &headers, &body.to_string()).await) }
    };
    let at = |seed| {
        let mut subscription = Browser::new(&service, "/x", seed).subscription();
        subscription["endpoint"] = json!("https://push.example.com/x");
        subscription
    };
    assert_eq!(post("/push/subscribe", &phone, at(1)).await, 200);
    // Another device can neither take it over with keys of its own nor take it away.
    assert_eq!(post("/push/subscribe", &bridge.token, at(2)).await, 403);
    assert_eq!(
        post("/push/unsubscribe", &bridge.token, json!({"endpoint": "https://push.example.com/x"})).await,
        200
    );
    assert_eq!(post("/push/subscribe", &bridge.token, at(2)).await, 403, "it is still there");
    // The device itself may renew its keys, and a browser that was paired again knows them.
    assert_eq!(post("/push/subscribe", &phone, at(3)).await, 200);
    assert_eq!(post("/push/subscribe", &bridge.token, at(3)).await, 200);
    assert_eq!(post("/push/subscribe", &phone, at(4)).await, 403);
    bridge.stop().await;
}

/// Waits until something is so.
async fn until(mut so: impl FnMut() -> bool) {
    within(async {
        while !so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}
