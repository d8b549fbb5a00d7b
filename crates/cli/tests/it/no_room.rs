//! A state directory that cannot be written: it is told why, and what was there before is there afterwards.

use std::path::Path;

use nix::sys::signal::Signal;
use pilothouse_proc::{Limits, Outcome, Spawn};
use serde_json::json;

use crate::served::Served;
use crate::{Ran, pilothouse};

/// Starts a bridge that can write nothing, as on a full disk: no file may grow, and it is told so instead of being ended.
fn serve_without_room(home: &Path) -> Ran {
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" serve --demo --json --port 0 --state-dir state";
    let done = Spawn::new("/bin/sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_pilothouse")])
        .cwd(home)
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .run_blocking(b"", Limits::default())
        .unwrap();
    let Outcome::Exited(exit) = done.outcome else { panic!("it did not end: {}", done.stderr_tail) };
    Ran { code: exit.code().unwrap(), out: String::from_utf8(done.stdout).unwrap(), err: done.stderr_tail }
}

#[test]
fn a_place_that_cannot_be_a_state_directory_is_named() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("file"), "").unwrap();
    std::fs::create_dir_all(home.path().join("odd/lock")).unwrap();
    std::fs::create_dir_all(home.path().join("old/log.db")).unwrap();
    let cases = [
        ("file", "cannot read file/config.toml: Not a directory"),
        ("file/below", "cannot read file/below/config.toml: Not a directory"),
        ("/proc/nowhere", "/proc/nowhere"),
        ("odd", "the state directory HOME/odd cannot be used: Is a directory"),
        ("old", "the log cannot be used: HOME/old/log.db: Is a directory"),
    ];
    for (place, words) in cases {
        let ran =
            pilothouse(home.path(), &["serve", "--demo", "--json", "--port", "0", "--state-dir", place]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{place}: {ran:?}");
        assert!(ran.err.contains(words), "{place}: {ran:?}");
    }
}

#[tokio::test]
async fn a_bridge_without_room_says_so_and_loses_nothing() {
    // The first start of all leaves nothing that the next one stumbles over.
    let home = tempfile::tempdir().unwrap();
    let ran = serve_without_room(home.path());
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(ran.err.contains("File too large"), "{ran:?}");

    let served = Served::start_in(home, &["--demo"], &[]).await;
    let mut socket = served.own_socket().await;
    let project = served.home.path().join("state/demo-project").canonicalize().unwrap();
    let readme = std::fs::read_to_string(project.join("README.md")).unwrap();
    assert!(!readme.is_empty(), "the demo's files are whole");
    socket.say(json!({"type": "start", "projectPath": project})).await;
    let session = socket.until("system").await["sessionId"].clone();
    socket.say(json!({"type": "input", "text": "hello"})).await;
    socket.until("result").await;
    drop(socket);
    served.signalled(Signal::SIGTERM).await;

    let state = served.home.path().join("state");
    let kept = |name: &str| std::fs::read(state.join(name)).unwrap();
    let before = ["id", "log.db"].map(kept);
    let ran = serve_without_room(served.home.path());
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(ran.err.contains("the log cannot be used") && ran.err.contains("room"), "{ran:?}");
    assert_eq!(["id", "log.db"].map(kept), before);

    let again = Served::start_in(served.home, &["--demo"], &[]).await;
    let mut socket = again.own_socket().await;
    socket.say(json!({"type": "get_history", "sessionId": session})).await;
    let history = socket.until("history").await;
    let types: Vec<_> = history["messages"].as_array().unwrap().iter().map(|event| &event["type"]).collect();
    assert!(types.contains(&&json!("result")), "{types:?}");
    drop(socket);
    again.signalled(Signal::SIGTERM).await;
}
