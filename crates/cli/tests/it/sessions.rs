//! `pilothouse sessions`.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use pilothouse_store::project_key;

use crate::{pilothouse, ran};

const ID: &str = "00000000-0000-4000-8000-000000000001";

fn write_session(home: &Path, text: &str) {
    write_session_as(home, ID, text);
}

fn write_session_as(home: &Path, id: &str, text: &str) {
    let dir = home.join(".claude/projects").join(project_key(home));
    fs::create_dir_all(&dir).unwrap();
    let path = dir.join(format!("{id}.jsonl"));
    fs::write(&path, text).unwrap();
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_736_800);
    File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

const TALK: &str = r#"{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user","content":"Hello \u001b[31mred"}}
{"type":"assistant","uuid":"b","parentUuid":"a","message":{"id":"m","content":[{"type":"text","text":"Hi"}]}}
{"type":"assistant","uuid":"c","parentUuid":"b","message":{"id":"m","content":[{"type":"tool_use","name":"Bash","input":{"command":"ls"}}]}}
{"type":"user","uuid":"d","parentUuid":"c","message":{"content":[{"type":"tool_result","content":"a\nb"}]}}
broken
{"type":"tag","tag":"fine"}
"#;

#[test]
fn sessions_are_listed_and_shown() {
    let home = tempfile::tempdir().unwrap();
    write_session(home.path(), TALK);
    let listed = format!("{ID}  2026-11-15 10:00  Hello \u{fffd}[31mred #fine\n");
    assert_eq!(pilothouse(home.path(), &["sessions", "list"]), ran(0, &listed, ""));
    assert_eq!(pilothouse(home.path(), &["sessions", "list", "--all"]), ran(0, &listed, ""));

    let json = pilothouse(home.path(), &["sessions", "list", "--json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["sessionId"], &json["tag"]), (&ID.into(), &"fine".into()));

    let shown = "user\nHello \u{fffd}[31mred\n\nassistant\nHi\n\n→ Bash {\"command\":\"ls\"}\n\n← a b\n\n";
    let run = pilothouse(home.path(), &["sessions", "show", ID]);
    assert_eq!((run.code, run.out.as_str()), (0, shown));
    assert!(run.err.starts_with("warning: HOME/.claude/projects/"), "{}", run.err);
    assert!(run.err.ends_with(".jsonl:5: skipped, expected value at line 1 column 1\n"), "{}", run.err);
    assert_eq!(pilothouse(home.path(), &["sessions", "show", ID, "--json"]).out.lines().count(), 4);
}

#[test]
fn nothing_found() {
    let home = tempfile::tempdir().unwrap();
    let note = "no sessions under HOME/.claude/projects; --all looks in all projects\n";
    assert_eq!(pilothouse(home.path(), &["sessions", "list"]), ran(0, "", note));
    assert_eq!(pilothouse(home.path(), &["sessions", "list", "--json"]), ran(0, "", ""));
    let error = format!("error: no transcript of session {ID} under HOME/.claude/projects\n");
    assert_eq!(pilothouse(home.path(), &["sessions", "show", ID]), ran(1, "", &error));
}

#[test]
fn a_session_is_shown_by_the_beginning_of_its_id() {
    let home = tempfile::tempdir().unwrap();
    let other = "00a00000-0000-4000-8000-000000000002";
    write_session(home.path(), TALK);
    write_session_as(home.path(), other, TALK);
    let whole = pilothouse(home.path(), &["sessions", "show", ID]);
    for prefix in ["000", "00000000-0000", "00000000-0000-4000-8000-00000000000"] {
        assert_eq!(pilothouse(home.path(), &["sessions", "show", prefix]), whole, "{prefix}");
    }
    let upper = pilothouse(home.path(), &["sessions", "show", "00A"]);
    assert_eq!((upper.code, &upper.out), (0, &whole.out));

    let run = pilothouse(home.path(), &["sessions", "show", "00"]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(run.err.starts_with("error: 2 sessions begin with 00; write more of the id:\n"), "{}", run.err);
    for id in [ID, other] {
        assert!(run.err.contains(&format!("\n  {id}  2026-11-15 10:00  Hello")), "{}", run.err);
    }
    let none = "error: no session whose id begins with 1 under HOME/.claude/projects\n";
    assert_eq!(pilothouse(home.path(), &["sessions", "show", "1"]), ran(1, "", none));
    for nonsense in ["", "../x", "00*", "x"] {
        assert_eq!(pilothouse(home.path(), &["sessions", "show", nonsense]).code, 2, "{nonsense}");
    }
}

#[test]
fn a_session_is_resumed_by_the_beginning_of_its_id() {
    let home = tempfile::tempdir().unwrap();
    write_session(home.path(), TALK);
    let agent = format!("--claude={}", pilothouse_testkit::binary("faulty").unwrap().display());
    let resumed = |id: &str| {
        crate::pilothouse_with(
            home.path(),
            &["run", &agent, "--resume", id, "go"],
            &[("FAULTY", "argv")],
            b"",
        )
    };
    for id in [ID, "0000", "a title"] {
        let run = resumed(id);
        let whole = if id == "0000" { ID } else { id };
        assert!(run.code == 0 && run.out.contains(&format!("--resume={whole}")), "{id}: {run:?}");
    }
    let none = resumed("1");
    assert_eq!((none.code, none.out.as_str()), (1, ""));
    assert!(none.err.starts_with("error: no session whose id begins with 1 under "), "{}", none.err);
}
