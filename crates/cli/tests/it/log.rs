//! `pilothouse log`, and a log that is not all there.

use std::fs;
use std::path::Path;

use pilothouse_bridge::StateDir;
use pilothouse_bridge::api::Seq;
use pilothouse_bridge::log::{EventStore as _, NewEvent, Write};
use serde_json::{Value, json};

use crate::pilothouse;
use crate::served::Served;

/// A state directory with a log of two sessions.
fn make_log(home: &Path) {
    let state = StateDir::open(home.join("state")).unwrap();
    let log = state.log().unwrap();
    for session in ["one", "two"] {
        let event = |seq: u64| {
            let text = format!(r#"{{"type":"partial","seq":{seq},"text":"said in {session} at {seq}"}}"#);
            Write::Event(NewEvent {
                session: session.into(),
                seq: Seq(seq),
                text,
                key: None,
                summary: None,
                kept: Vec::new(),
                synced: true,
            })
        };
        log.append(&[event(1), event(2), event(3)]).unwrap();
    }
}

fn replace(file: &Path, from: &str, to: &str) {
    let mut bytes = fs::read(file).unwrap();
    let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    fs::write(file, bytes).unwrap();
}

#[test]
fn a_log_is_checked_and_repaired() {
    let home = tempfile::tempdir().unwrap();
    make_log(home.path());
    let log = home.path().join("state/log.db");
    let run = |args: &[&str]| pilothouse(home.path(), &[&["log"], args, &["--state-dir", "state"]].concat());
    let json = |out: &str| serde_json::from_str::<Value>(out).unwrap();
    let good = run(&["verify"]);
    assert_eq!((good.code, good.err.as_str()), (0, "all is as it was written: 2 sessions\n"));
    assert!(good.out.starts_with("one  3 events  head "), "{}", good.out);
    let good = json(&run(&["verify", "--json"]).out);
    assert_eq!((&good["ok"], &good["sessions"][1]["events"]), (&json!(true), &json!(3)));
    assert_eq!(run(&["repair"]).err, "there is nothing to repair\n");

    replace(&log, "said in one at 2", "sung in one at 2");
    let bad = run(&["verify"]);
    assert_eq!(bad.code, 1);
    assert!(bad.out.contains("one  event 2 is not what was stored: its hash does not fit\n"), "{}", bad.out);
    assert!(bad.out.contains("two  3 events"), "{}", bad.out);
    assert!(bad.err.contains("1 of 2 sessions are damaged; `pilothouse log repair`"), "{}", bad.err);
    let bad = json(&run(&["verify", "--json"]).out);
    let reason = "is not what was stored: its hash does not fit";
    assert_eq!(bad["sessions"][0]["damage"], json!([{"from": 2, "to": 2, "reason": reason}]));

    let used = StateDir::open(home.path().join("state")).unwrap();
    let refused = run(&["repair"]);
    assert_eq!((refused.code, refused.out.as_str()), (1, ""));
    assert!(refused.err.contains("a bridge uses HOME/state: stop it first"), "{}", refused.err);
    drop(used);

    let repaired = json(&run(&["repair", "--json"]).out);
    assert_eq!((&repaired["before"]["ok"], &repaired["after"]["ok"]), (&json!(false), &json!(true)));
    assert!(Path::new(repaired["copy"].as_str().unwrap()).file_name().is_some());
    assert_eq!(repaired["after"]["sessions"][0]["events"], 3);
    assert_eq!(run(&["verify"]).code, 0);
    // A head that was noted tells that the log was written anew.
    assert_eq!(repaired["after"]["sessions"][1]["head"], good["sessions"][1]["head"]);
    assert_ne!(repaired["after"]["sessions"][0]["head"], good["sessions"][0]["head"]);
}

#[tokio::test]
async fn a_bridge_whose_log_vanished_starts_only_if_that_is_accepted() {
    let home = tempfile::tempdir().unwrap();
    make_log(home.path());
    fs::remove_file(home.path().join("state/log.db")).unwrap();
    for _ in 0..2 {
        let run = pilothouse(home.path(), &["serve", "--demo", "--port", "0", "--state-dir", "state"]);
        assert_eq!((run.code, run.out.as_str()), (1, ""));
        assert!(run.err.contains("log.db is not there any more"), "{}", run.err);
        assert!(run.err.contains("--accept-log-loss"), "{}", run.err);
    }
    let checked = pilothouse(home.path(), &["log", "verify", "--state-dir", "state"]);
    assert_eq!(checked.code, 1);
    assert!(checked.err.contains("log.db is not there any more"), "{}", checked.err);
    let served = Served::start_in(home, &["--demo", "--accept-log-loss"], &[]).await;
    assert_eq!(served.signalled(nix::sys::signal::Signal::SIGTERM).await, Some(0));
}
