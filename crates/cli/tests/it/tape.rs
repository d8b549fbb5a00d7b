//! `pilothouse tape check` and `show`.

use std::fs;

use crate::terminal::in_terminal;
use crate::{pilothouse, pilothouse_with, ran};

#[test]
fn tapes_are_checked() {
    let good = r#"{"t":1,"dir":"out","msg":{"type":"keep_alive"}}"#;
    let cases = [
        (
            "good",
            good,
            0,
            "frames 1, malformed 0, unknown 0, changed by re-encoding 0",
            "aside: host frames 0, odd 0, raw lines 0",
            "",
        ),
        (
            "malformed",
            r#"{"t":1,"dir":"out","msg":{"type":"stream_event","event":7}}"#,
            1,
            "frames 1, malformed 1, unknown 0, changed by re-encoding 0",
            "aside: host frames 0, odd 0, raw lines 0",
            "t.ndjson:1: ",
        ),
        (
            "unknown",
            r#"{"t":1,"dir":"out","msg":{"type":"brand_new","x":1.0}}"#,
            1,
            "frames 1, malformed 0, unknown 1, changed by re-encoding 0",
            "aside: host frames 0, odd 0, raw lines 0",
            "unknown member in a frame of type `brand_new`",
        ),
        (
            "from the host",
            r#"{"t":1,"dir":"in","msg":{"type":"odd"}}
{"t":2,"dir":"in","raw":"nonsense"}
{"t":2,"dir":"err","raw":"oops"}
{"t":3,"dir":"meta","exit":0}"#,
            0,
            "frames 0, malformed 0, unknown 0, changed by re-encoding 0",
            "aside: host frames 1, odd 1, raw lines 2",
            "",
        ),
    ];
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("x.api.ndjson"), "no tape at all").unwrap();
    for (name, tape, code, first, second, note) in cases {
        fs::write(home.path().join("t.ndjson"), tape).unwrap();
        let run = pilothouse(home.path(), &["tape", "check", "t.ndjson", "x.api.ndjson"]);
        assert_eq!((run.code, run.out), (code, format!("{first}\n{second}\n")), "{name}");
        assert!(run.err.contains(note) && run.err.is_empty() == note.is_empty(), "{name}: {}", run.err);
    }
}

#[test]
fn a_file_that_is_no_tape() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("t"), "\n{}\n").unwrap();
    let note = "t:2: no tape line: missing field `dir` at line 1 column 2\n";
    let verdict = "frames 0, malformed 1, unknown 0, changed by re-encoding 0\naside: host frames 0, odd 0, raw lines 0\n";
    assert_eq!(pilothouse(home.path(), &["tape", "check", "t"]), ran(1, verdict, note));
    fs::write(home.path().join("empty"), "\n \n").unwrap();
    fs::write(home.path().join("binary"), b"\x7fELF\x00\xff").unwrap();
    fs::write(home.path().join("meta"), "{\"t\":0,\"dir\":\"meta\",\"exit\":0}\n").unwrap();
    let cases = [
        ("t", "t is not a tape: line 2 of the tape cannot be read: missing field `dir` at line 1 column 2"),
        ("empty", "empty is not a tape: it holds no conversation"),
        ("meta", "meta is not a tape: it holds no conversation"),
        ("binary", "binary is not a tape: line 1 of the tape cannot be read"),
        (".", ". is not a tape: it is a directory"),
    ];
    for (file, told) in cases {
        for command in ["show", "replay"] {
            let run = pilothouse(home.path(), &["tape", command, file]);
            assert_eq!((run.code, run.out.as_str()), (1, ""), "{command} {file}: {}", run.err);
            assert!(run.err.starts_with(&format!("error: {told}")), "{command} {file}: {}", run.err);
            assert_eq!(run.err.lines().count(), 1, "{command} {file}: {}", run.err);
        }
    }
    let run = pilothouse(home.path(), &["tape", "check", "empty"]);
    assert_eq!(run, ran(1, "", "error: empty is not a tape: it is empty\n"));
    for command in ["show", "check", "replay"] {
        let run = pilothouse(home.path(), &["tape", command, "missing"]);
        assert_eq!(run.code, 1);
        assert!(run.err.contains("`missing`"), "{}", run.err);
    }
}

#[test]
fn a_tape_is_shown() {
    let home = tempfile::tempdir().unwrap();
    let tape = r#"{"t":0,"dir":"in","msg":{"type":"user","message":{"role":"user","content":"Hi\u0007"}}}
{"t":12.6,"dir":"out","msg":{"type":"assistant","message":{"content":[{"type":"text","text":"Hello"},{"type":"tool_use","name":"Bash","input":{"command":"ls"}}]}}}
{"t":20,"dir":"out","msg":{"type":"control_request","request_id":"1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"a":1}}}}
{"t":30,"dir":"err","raw":"oops"}
{"t":40,"dir":"out","msg":{"type":"result","subtype":"success","result":"done"}}
"#;
    fs::write(home.path().join("t"), tape).unwrap();
    let shown = "       0 → user Hi\u{fffd}\n      12 ← assistant Hello [Bash {\"command\":\"ls\"}]\n      \
                 20 ← control_request/can_use_tool Bash {\"a\":1}\n      30 ! oops\n      40 ← result/success done\n";
    assert_eq!(pilothouse(home.path(), &["tape", "show", "t"]), ran(0, shown, ""));
}

#[test]
fn a_recording_overwrites_no_file_unasked() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("t.ndjson");
    fs::write(&file, "precious").unwrap();
    let agent = format!("--claude={}", pilothouse_testkit::binary("faulty").unwrap().display());
    let record = ["tape", "record", &agent, "t.ndjson", "hi"];
    let env = [("FAULTY", "plain")];
    let run = pilothouse_with(home.path(), &record, &env, b"");
    let told = "error: t.ndjson exists: choose another file, or overwrite it with --force\n";
    assert_eq!(run, ran(1, "", told));
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");

    let ask = "tape record t.ndjson hi";
    let (code, _) = in_terminal(home.path(), "plain", ask, &[("[y/n]?", "\n"), ("[y/n]?", "n\n")]);
    assert_eq!(code, 1);
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    let (code, screen) = in_terminal(home.path(), "plain", ask, &[("[y/n]?", "y\n")]);
    assert_eq!(code, 0, "{screen}");
    assert!(fs::read_to_string(&file).unwrap().contains("initialize"));

    fs::write(&file, "precious").unwrap();
    let run = pilothouse_with(home.path(), &[&record[..], &["--force"]].concat(), &env, b"");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(fs::read_to_string(&file).unwrap().contains("initialize"));

    fs::write(&file, "").unwrap();
    let run = pilothouse_with(home.path(), &record, &env, b"");
    assert_eq!(run.code, 0, "an empty file has nothing to lose: {}", run.err);
}
