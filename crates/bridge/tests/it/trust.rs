//! The files of a project count only after somebody has seen what they run and allow.

use std::path::Path;
use std::sync::{Arc, Mutex};

use pilothouse_bridge::api::ProjectPart;
use pilothouse_bridge::auth::{Scope, Scopes};
use pilothouse_bridge::session::Hub;
use pilothouse_bridge::trust::{ProjectTrust, Review, ReviewedPart, TrustBook, hash};
use serde_json::{Value, json};

use crate::harness::{Peer, Place};

/// What the tests put in the place of the project's files.
type Files = Arc<Mutex<Review>>;

pub(crate) fn part(kind: &str, text: &str) -> ReviewedPart {
    let (kind, file) = (kind.to_owned(), ".claude/settings.json".to_owned());
    let shown = ProjectPart { kind, text: text.to_owned(), file, is_new: true };
    ReviewedPart { shown, digest: hash(text.as_bytes()) }
}

async fn guarded(place: &Place, review: Review) -> (Hub, Files) {
    let hub = place.hub().await;
    let files: Files = Arc::new(Mutex::new(review));
    let read = Arc::clone(&files);
    let review = Arc::new(move |_: &Path| read.lock().unwrap().clone());
    let book = TrustBook::of(&place.sandbox.home());
    hub.guard_projects(ProjectTrust { review, book, strict_mcp: true });
    (hub, files)
}

async fn modern(place: &Place, hub: &Hub, scopes: Scopes) -> Peer {
    let mut peer = place.client(hub, "device", scopes);
    peer.say(json!({"type": "hello", "protocol": 1})).await;
    peer.until("welcome").await;
    peer
}

/// The command line of the CLI of a session that is started now, and the event that tells of it.
async fn argv(place: &Place, peer: &mut Peer) -> Vec<String> {
    peer.say(json!({"type": "start", "projectPath": place.project()})).await;
    let session = peer.until("system").await["sessionId"].clone();
    peer.say(json!({"type": "input", "text": "hi", "sessionId": session})).await;
    let told = peer.until("result").await["result"].as_str().unwrap().to_owned();
    serde_json::from_str(&told).unwrap()
}

fn value<'a>(argv: &'a [String], flag: &str) -> Option<&'a str> {
    let start = format!("{flag}=");
    argv.iter().enumerate().find_map(|(at, word)| match word == flag {
        true => argv.get(at + 1).map(String::as_str),
        false => word.strip_prefix(&start),
    })
}

async fn look(place: &Place, peer: &mut Peer) -> Value {
    peer.say(json!({"type": "review_project", "projectPath": place.project()})).await;
    peer.until("project_review").await
}

#[tokio::test]
async fn a_project_that_nobody_trusts_is_started_without_its_files_but_with_what_it_denies() {
    let place = Place::new("argv");
    let restrictions = json!({"permissions": {"deny": ["Read(**/.env)"]}}).as_object().unwrap().clone();
    let review =
        Review { parts: vec![part("hook", "SessionStart: ./run.sh")], restrictions, ..Review::default() };
    let (hub, files) = guarded(&place, review).await;
    let mut peer = modern(&place, &hub, Scopes::owner()).await;

    let started = argv(&place, &mut peer).await;
    assert_eq!(value(&started, "--setting-sources"), Some("user"), "{started:?}");
    assert!(value(&started, "--settings").unwrap().contains("Read(**/.env)"), "{started:?}");
    assert!(started.contains(&"--strict-mcp-config".to_owned()), "{started:?}");

    let shown = look(&place, &mut peer).await;
    assert_eq!(shown["isTrusted"], false);
    assert_eq!(shown["parts"][0]["text"], "SessionStart: ./run.sh");
    // What is trusted is what was shown.
    files.lock().unwrap().parts.push(part("allow", "Bash(*)"));
    peer.say(json!({"type": "trust_project", "projectPath": place.project(), "digest": shown["digest"]}))
        .await;
    assert_eq!(peer.until("error").await["errorCode"], "stale_approval");
    let shown = look(&place, &mut peer).await;
    peer.say(json!({"type": "trust_project", "projectPath": place.project(), "digest": shown["digest"]}))
        .await;
    assert_eq!(peer.until("project_review").await["isTrusted"], true);

    let started = argv(&place, &mut peer).await;
    assert_eq!(value(&started, "--setting-sources"), None, "{started:?}");
    assert!(!started.contains(&"--strict-mcp-config".to_owned()), "{started:?}");

    // A hook that changes is asked about again, and the rest is not new.
    files.lock().unwrap().parts[0] = part("hook", "SessionStart: ./other.sh");
    let shown = look(&place, &mut peer).await;
    let new: Vec<&Value> = shown["parts"].as_array().unwrap().iter().map(|part| &part["isNew"]).collect();
    assert_eq!((&shown["isTrusted"], new), (&json!(false), vec![&json!(true), &json!(false)]));
    assert_eq!(value(&argv(&place, &mut peer).await, "--setting-sources"), Some("user"));
}

#[tokio::test]
async fn a_broken_settings_file_is_agreed_to_before_a_session_starts() {
    let place = Place::new("argv");
    let review = Review { broken: vec![part("broken", "expected a comma")], ..Review::default() };
    let (hub, files) = guarded(&place, review).await;
    let mut peer = modern(&place, &hub, Scopes::owner()).await;
    peer.say(json!({"type": "start", "projectPath": place.project()})).await;
    let error = peer.until("error").await;
    assert_eq!(error["errorCode"], "trust_required");
    assert!(error["message"].as_str().unwrap().contains("expected a comma"), "{error}");
    let shown = look(&place, &mut peer).await;
    peer.say(json!({"type": "trust_project", "projectPath": place.project(), "digest": shown["digest"]}))
        .await;
    peer.until("project_review").await;
    assert_eq!(value(&argv(&place, &mut peer).await, "--setting-sources"), None);
    // Another fault in the file is another file.
    files.lock().unwrap().broken = vec![part("broken", "expected a bracket")];
    peer.say(json!({"type": "start", "projectPath": place.project()})).await;
    assert_eq!(peer.until("error").await["errorCode"], "trust_required");
}

#[tokio::test]
async fn the_mode_of_a_project_gives_a_device_no_more_than_its_scopes() {
    for (mode, scopes, expected) in [
        ("acceptEdits", vec![Scope::Observe, Scope::Input], Some("default")),
        ("acceptEdits", vec![Scope::Observe, Scope::Input, Scope::Configure], None),
        (
            "bypassPermissions",
            vec![Scope::Observe, Scope::Input, Scope::Configure, Scope::Bypass],
            Some("default"),
        ),
        ("plan", vec![Scope::Observe, Scope::Input], None),
    ] {
        let place = Place::new("argv");
        let mode = Some(mode.to_owned());
        let review = Review { default_mode: mode.clone(), users_mode: mode.clone(), ..Review::default() };
        let (hub, _files) = guarded(&place, review).await;
        let mut peer = modern(&place, &hub, scopes.into_iter().collect()).await;
        let started = argv(&place, &mut peer).await;
        assert_eq!(value(&started, "--permission-mode"), expected, "{mode:?} {started:?}");
    }
}

#[tokio::test]
async fn a_device_that_is_no_owner_can_look_but_not_trust() {
    let place = Place::new("argv");
    let review = Review { parts: vec![part("hook", "a")], ..Review::default() };
    let (hub, _files) = guarded(&place, review).await;
    let mut peer = modern(&place, &hub, Scopes::program()).await;
    let shown = look(&place, &mut peer).await;
    peer.say(json!({"type": "trust_project", "projectPath": place.project(), "digest": shown["digest"]}))
        .await;
    assert_eq!(peer.until("error").await["errorCode"], "forbidden");
    // Nor anything outside of the roots.
    peer.say(json!({"type": "review_project", "projectPath": "/etc"})).await;
    assert_eq!(peer.until("error").await["errorCode"], "project_not_allowed");
}
