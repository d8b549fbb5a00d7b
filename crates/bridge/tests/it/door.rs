//! Who gets in, and what for: pages, owners, and what belongs to a device.

use pilothouse_bridge::StateDir;
use pilothouse_bridge::server::{Bridge, ServeError};
use pilothouse_testkit::Sandbox;
use serde_json::{Value, json};

use crate::harness::within;
use crate::wire::{Running, Socket, setup, status};

const JSON: &str = "Content-Type: application/json\r\n";

/// A browser that was paired: its origin, its cookie, and the secret in its storage.
struct Page {
    origin: String,
    cookie: String,
    secret: String,
    path: String,
}

impl Page {
    async fn pair(bridge: &Running, code: &str, origin: &str) -> Self {
        let claim = json!({"code": code, "name": "page"}).to_string();
        let origin = format!("Origin: {origin}\r\n");
        let answer = bridge.post("/pair", &format!("{JSON}{origin}"), &claim).await;
        assert_eq!(status(&answer), 200, "{answer}");
        let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap().to_owned();
        let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        let text = |name: &str| body[name].as_str().unwrap().to_owned();
        Self { origin, cookie, secret: text("secret"), path: text("path") }
    }

    fn pair_of_cookie(&self) -> &str {
        self.cookie.split(';').next().unwrap()
    }

    fn cookie(&self) -> String {
        format!("Cookie: {}\r\n", self.pair_of_cookie())
    }

    fn secret(&self) -> String {
        format!("Pilothouse-Page: {}\r\n", self.secret)
    }
}

#[tokio::test]
async fn a_cookie_alone_or_as_a_token_opens_nothing() {
    let bridge = Running::new("plain", |_| {}).await;
    let page = Page::pair(&bridge, bridge.code(), &format!("http://localhost:{}", bridge.port)).await;
    let value = page.pair_of_cookie().split_once('=').unwrap().1;
    let (cookie, secret) = (page.cookie(), page.secret());
    let whole = format!("{cookie}{secret}");
    for (headers, expected) in [
        (cookie.clone(), 401),
        (secret.clone(), 401),
        (format!("Authorization: Bearer {value}\r\n"), 401),
        (format!("Authorization: Bearer {}\r\n", page.secret), 401),
        (format!("{cookie}Pilothouse-Page: {value}\r\n"), 401),
        (format!("{cookie}Pilothouse-Page: wrong\r\n"), 401),
        (whole.clone(), 200),
    ] {
        // Few enough that wrong credentials are answered at once.
        for path in ["/devices", &format!("/{}metrics", page.path)] {
            assert_eq!(status(&bridge.get(path, &headers).await), expected, "{path} {headers}");
        }
    }
    for (headers, opens) in [
        (format!("{cookie}{}", page.origin), false),
        (format!("{cookie}{}Sec-WebSocket-Protocol: pilothouse\r\n", page.origin), false),
        (format!("{}Sec-WebSocket-Protocol: pilothouse, page.{}\r\n", page.origin, page.secret), false),
        (format!("{}Sec-WebSocket-Protocol: pilothouse, bearer.{value}\r\n", page.origin), false),
        (
            format!("{cookie}{}Sec-WebSocket-Protocol: pilothouse, page.{}\r\n", page.origin, page.secret),
            true,
        ),
    ] {
        let opened = Socket::open(bridge.connect().await, &bridge.upgrade(&headers)).await;
        assert_eq!(opened.is_ok(), opens, "{headers}");
    }
    assert!(bridge.get("/metrics", &cookie).await.contains("lost a part of its credential"));
    bridge.stop().await;
}

#[tokio::test]
async fn a_cookie_is_bound_to_its_host_or_to_a_path_that_nobody_else_uses() {
    let bridge =
        Running::new("plain", |setup| setup.public_url = Some("https://me.example".to_owned())).await;
    let offer = || async {
        let own = format!("Authorization: Bearer {}\r\n", bridge.token);
        let answer = bridge.post("/pair/offer", &own, "").await;
        let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        body["code"].as_str().unwrap().to_owned()
    };
    let tls = Page::pair(&bridge, &offer().await, "https://me.example").await;
    assert!(
        tls.cookie.starts_with("__Host-pilothouse_") && tls.cookie.contains("; Path=/;"),
        "{}",
        tls.cookie
    );
    assert!(tls.cookie.ends_with("; Secure") && tls.path.is_empty(), "{}", tls.cookie);
    let plain = Page::pair(&bridge, &offer().await, &format!("http://localhost:{}", bridge.port)).await;
    let other = Page::pair(&bridge, &offer().await, &format!("http://localhost:{}", bridge.port)).await;
    assert!(plain.cookie.contains(&format!("; Path=/{};", plain.path)), "{}", plain.cookie);
    assert!(plain.path.len() > 30 && plain.path != other.path, "{} {}", plain.path, other.path);
    assert!(!plain.cookie.contains("Secure"));
    bridge.stop().await;

    let bridge =
        Running::new("plain", |setup| setup.public_url = Some("https://me.example/ship".to_owned())).await;
    let page = Page::pair(&bridge, bridge.code(), "https://me.example").await;
    assert!(page.cookie.starts_with("__Secure-pilothouse_"), "{}", page.cookie);
    assert!(page.cookie.contains(&format!("; Path=/ship/{};", page.path)), "{}", page.cookie);
    let headers = format!("{}{}", page.cookie(), page.secret());
    assert_eq!(status(&bridge.get(&format!("/ship/{}devices", page.path), &headers).await), 200);
    bridge.stop().await;
}

#[tokio::test]
async fn a_cookie_of_an_older_version_is_told_to_pair_again() {
    let bridge = Running::new("plain", |_| {}).await;
    let id = std::fs::read_to_string(bridge.sandbox.home().join("state/id")).unwrap();
    let answer = bridge.get("/metrics", &format!("Cookie: pilothouse_{id}=anything\r\n")).await;
    assert_eq!(status(&answer), 401);
    assert!(answer.contains("was updated") && answer.contains("pair this browser again"), "{answer}");
    bridge.stop().await;
}

#[tokio::test]
async fn a_configure_device_can_neither_revoke_nor_become_an_owner() {
    let bridge = Running::new("plain", |_| {}).await;
    let owner = Page::pair(&bridge, bridge.code(), &format!("http://localhost:{}", bridge.port)).await;
    let owner = format!("{}{}{}", owner.cookie(), owner.secret(), owner.origin);
    let offered = |answer: String| -> String {
        let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        body["code"].as_str().unwrap().to_owned()
    };
    let all = json!({"scopes": ["observe", "input", "approve", "configure", "bypass", "owner"]}).to_string();
    let code = offered(bridge.post("/pair/offer", &format!("{owner}{JSON}"), &all).await);
    let claim = json!({"code": code, "name": "helper"}).to_string();
    let paired = bridge.post("/pair", JSON, &claim).await;
    let paired: Value = serde_json::from_str(paired.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(paired["scopes"], json!(["observe", "input", "approve", "configure"]));
    let helper = format!("Authorization: Bearer {}\r\n{JSON}", paired["token"].as_str().unwrap());

    let refused = bridge.post("/devices/revoke", &helper, r#"{"device":"page"}"#).await;
    assert_eq!(status(&refused), 403, "{refused}");
    assert!(refused.contains("owner"), "{refused}");
    let code = offered(bridge.post("/pair/offer", &helper, &all).await);
    let claim = json!({"code": code, "name": "second"}).to_string();
    let paired = bridge.post("/pair", JSON, &claim).await;
    assert!(!paired.contains("\"owner\""), "{paired}");
    // The others are its to revoke, and it is the owner's.
    assert_eq!(status(&bridge.post("/devices/revoke", &helper, r#"{"device":"second"}"#).await), 200);
    assert_eq!(
        status(&bridge.post("/devices/revoke", &format!("{owner}{JSON}"), r#"{"device":"helper"}"#).await),
        200
    );
    bridge.stop().await;
}

#[tokio::test]
async fn only_the_first_device_of_a_bridge_becomes_an_owner_by_itself() {
    let sandbox = Sandbox::new().unwrap();
    let scopes = |answer: &str| -> Value {
        let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        body["scopes"].clone()
    };
    let bridge = Running::new("plain", |setup| setup.state_dir = sandbox.home().join("kept")).await;
    let claim = json!({"code": bridge.code(), "name": "first"}).to_string();
    let paired = bridge.post("/pair", JSON, &claim).await;
    assert_eq!(scopes(&paired), json!(["observe", "input", "approve", "configure", "owner"]));
    bridge.stop().await;
    let bridge = Running::new("plain", |setup| setup.state_dir = sandbox.home().join("kept")).await;
    let claim = json!({"code": bridge.code(), "name": "second"}).to_string();
    let paired = bridge.post("/pair", JSON, &claim).await;
    assert_eq!(scopes(&paired), json!(["observe", "input", "approve", "configure"]));
    bridge.stop().await;
}

#[tokio::test]
async fn a_state_directory_that_others_have_a_hand_in_is_refused() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let sandbox = Sandbox::new().unwrap();
    let at = |name: &str| sandbox.home().join(name);
    let made = |name: &str, mode| {
        std::fs::create_dir(at(name)).unwrap();
        std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    made("open", 0o777);
    made("group", 0o770);
    made("readable", 0o755);
    symlink(at("readable"), at("link")).unwrap();
    for (name, word) in [("open", "chmod 700"), ("group", "chmod 700"), ("link", "symbolic link")] {
        let mut setup = setup(&sandbox, "plain");
        setup.state_dir = at(name);
        let refused = within(Bridge::open(setup)).await.unwrap_err();
        assert!(
            matches!(refused, ServeError::StateDir(_)) && refused.to_string().contains(word),
            "{refused}"
        );
        assert_eq!(std::fs::read_dir(at(name)).unwrap().count(), 0, "nothing was made in {name}");
    }
    let mode = |name: &str| std::fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
    std::fs::write(at("readable/token"), "left by an older version").unwrap();
    drop(StateDir::open(at("readable")).unwrap());
    assert_eq!(mode("readable"), 0o700, "tightened");
    for file in ["lock", "id"] {
        assert_eq!(mode(&format!("readable/{file}")), 0o600, "{file}");
    }
    assert!(!at("readable/token").exists(), "no bearer token stays on the disk");
}
