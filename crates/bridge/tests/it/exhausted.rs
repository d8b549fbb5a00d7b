//! A process without free descriptors says so, instead of blaming the project.

use std::process::Stdio;

use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;

use crate::harness::Place;

const CHILD: &str = "BRIDGE_TEST_NO_DESCRIPTORS";

/// Not a test of its own: the process whose descriptors `descriptor_exhaustion_is_reported_as_such` uses up.
#[tokio::test]
async fn process_without_descriptors() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let place = Place::new("tour");
    let hub = place.hub().await;
    let mut peer = place.modern(&hub, "laptop").await;
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = Some(64);
    setrlimit(Resource::Nofile, limit).unwrap();
    let project = place.project();
    let taken: Vec<_> = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
    peer.say(json!({"type": "start", "projectPath": project})).await;
    let told = peer.until("error").await;
    drop(taken);
    println!("told {told}");
}

#[test]
fn descriptor_exhaustion_is_reported_as_such() {
    #[expect(clippy::disallowed_methods, reason = "a process of this test that ends by itself")]
    let done = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["exhausted::process_without_descriptors", "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    let (_, told) = text.split_once("told ").expect(&text);
    let told: serde_json::Value = serde_json::from_str(told.lines().next().unwrap()).unwrap();
    assert_eq!(told["errorCode"], "out_of_resources", "{told}");
    assert!(told["message"].as_str().unwrap().contains("open files"), "{told}");
}
