//! `run`, `chat` and `tape record|replay`, with a CLI that does what a test needs.

use std::fs;
use std::path::Path;

use pilothouse_link::tape::{Said, Tape, What};
use pilothouse_testkit::binary;
use serde_json::{Value, json};

use crate::{Ran, pilothouse, pilothouse_with};

/// Runs a command that starts the scripted CLI.
fn with_agent(home: &Path, fault: &str, args: &[&str], input: &str) -> Ran {
    let agent = binary("faulty").unwrap();
    let claude = format!("--claude={}", agent.to_str().unwrap());
    let split = args.iter().position(|word| *word == "--").unwrap_or(args.len());
    let (ours, passed_on) = args.split_at(split);
    let args = [ours, &[claude.as_str()], passed_on].concat();
    pilothouse_with(home, &args, &[("FAULTY", fault)], input.as_bytes())
}

#[test]
fn answers_go_to_stdout_and_everything_else_to_stderr() {
    let home = tempfile::tempdir().unwrap();
    let cases = [
        ("plain", 0, "hello\n", "session "),
        ("noise", 0, "after noise\n", "session "),
        ("argv", 0, "[\"", "session "),
        ("unknown_type", 0, "ok\n", "session "),
        ("unknown_block", 0, "kept\n", "session "),
        ("malformed", 0, "ok\n", "warning: a message of the agent makes no sense"),
        ("split_character", 0, "naïve 🚢 Überfahrt\n", "session "),
        (
            "permission",
            0,
            "{\"",
            "warning: Bash was refused because there is no terminal to ask in; allow it with --allowed-tools '",
        ),
        (
            "question",
            0,
            "{\"",
            "warning: AskUserQuestion was refused because there is no terminal to ask in; it needs a person at a terminal\n",
        ),
        (
            "exits_in_turn",
            1,
            "half a\n",
            "error: the session has ended: the program exited (exit status: 3); its stderr ends with: out of cheese\n",
        ),
        (
            "dies_at_once",
            1,
            "",
            "error: the agent did not start: cannot start: the moon is in the wrong phase\n",
        ),
        ("dies_in_initialize", 1, "", "error: "),
        ("garbage", 1, "", "error: "),
    ];
    for (fault, code, out, err) in cases {
        let run = with_agent(home.path(), fault, &["run", "hi"], "");
        assert_eq!(run.code, code, "{fault}: {run:?}");
        assert!(run.out.starts_with(out) && run.out.is_empty() == out.is_empty(), "{fault}: {run:?}");
        assert!(run.err.contains(err), "{fault}: {run:?}");
        assert!(
            !run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'),
            "no colours without a terminal: {run:?}"
        );
    }
}

#[test]
fn a_failed_turn_is_told_with_the_last_words_of_the_agent() {
    let home = tempfile::tempdir().unwrap();
    let failed = json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "errors": ["no luck"],
        "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "total_cost_usd": 0});
    let cases = [
        (json!([failed]), "error: the turn failed: no luck\n"),
        (
            json!([failed, {"exit": 1}]),
            "error: the turn failed: no luck (exit status: 1); the agent's stderr ends with: told to end\n",
        ),
    ];
    for (told, error) in cases {
        for flags in [&[][..], &["--json"]] {
            let run =
                with_agent(home.path(), "as_told", &[&["run", "-"][..], flags].concat(), &told.to_string());
            assert_eq!(run.code, 1, "{flags:?}: {run:?}");
            assert!(run.err.ends_with(error), "{flags:?}: {error} in {run:?}");
        }
    }
}

#[test]
fn the_model_is_told_why_nobody_could_be_asked() {
    let home = tempfile::tempdir().unwrap();
    let cases = [
        ("permission", "there is no terminal to ask in; allow it with --allowed-tools 'Bash(touch *)'\""),
        ("question", "there is no terminal to ask in; it needs a person at a terminal\""),
    ];
    for (fault, told) in cases {
        let run = with_agent(home.path(), fault, &["run", "hi"], "");
        assert!(run.out.contains(told), "{fault}: {told} in {run:?}");
    }
}

#[test]
fn json_is_the_result_and_stream_json_is_every_frame() {
    let home = tempfile::tempdir().unwrap();
    let result = with_agent(home.path(), "plain", &["run", "--json", "hi"], "").out;
    let result: Value = serde_json::from_str(&result).unwrap();
    assert_eq!((&result["type"], &result["result"]), (&"result".into(), &"hello".into()));

    let run = with_agent(home.path(), "tour", &["run", "--stream-json", "hi"], "");
    let kinds: Vec<String> =
        run.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).map(kind).collect();
    let last: Vec<&str> = kinds.iter().rev().take(3).map(String::as_str).collect();
    assert_eq!(
        last,
        ["system/session_state_changed", "command_lifecycle", "result/success"],
        "also what follows the result"
    );
    assert_eq!(kinds.first().map(String::as_str), Some("control_response"), "the handshake, too");
    assert_eq!(run.code, 0);

    // A tape holds the same lines with secrets masked, and nothing is secret here.
    for fault in ["tour", "permission", "noise", "malformed", "unknown_type"] {
        let tape = home.path().join(format!("{fault}.ndjson"));
        let run = with_agent(
            home.path(),
            fault,
            &["tape", "record", tape.to_str().unwrap(), "hi", "--stream-json"],
            "",
        );
        let (tape, problems) = Tape::read(fs::read(&tape).unwrap().as_slice()).unwrap();
        assert!(problems.is_empty(), "{problems:?}");
        let said = |what| match what {
            What::Out(Said::Msg(text) | Said::Raw(text)) => Some(text),
            _ => None,
        };
        let written: Vec<String> = tape.entries.into_iter().filter_map(|entry| said(entry.what)).collect();
        assert_eq!(run.out.lines().collect::<Vec<_>>(), written, "{fault}");
    }
}

fn kind(frame: Value) -> String {
    match (frame["type"].as_str().unwrap(), frame["subtype"].as_str()) {
        (kind, Some(subtype)) => format!("{kind}/{subtype}"),
        (kind, None) => kind.to_owned(),
    }
}

#[test]
fn flags_reach_the_agent() {
    let home = tempfile::tempdir().unwrap();
    // They go through as they are: only the agent knows what takes a value, and what may look like a flag and is none.
    let passed_on = ["--max-turns", "3", "-d", "--effort=low", "--title", "--brief", "", "--", "word"];
    let args = [
        "run",
        "--model",
        "haiku",
        "--permission-mode",
        "plan",
        "--resume",
        "00000000-0000-4000-8000-000000000001",
        "--add-dir",
        "/tmp",
        "--allowed-tools",
        "Read,Bash(git log:*)",
        "--system-prompt",
        "Be brief",
        "--json",
        "-",
        "--",
    ];
    let run = with_agent(home.path(), "argv", &[&args[..], &passed_on].concat(), "hi from stdin");
    let result: Value = serde_json::from_str(&run.out).unwrap();
    let argv: Vec<String> = serde_json::from_str(result["result"].as_str().unwrap()).unwrap();
    assert!(argv.ends_with(&passed_on.map(str::to_owned)), "{argv:?}");
    let argv = argv.join(" ").replace('=', " ");
    for flag in [
        "--model haiku",
        "--permission-mode plan",
        "--resume 00000000",
        "--add-dir /tmp",
        "Bash(git log:*)",
        "--permission-prompt-tool stdio",
    ] {
        assert!(argv.contains(flag), "{flag} in {argv}");
    }

    let args = ["run", "--system-prompt", "Be brief", "hi"];
    let run = with_agent(home.path(), "initialize_request", &args, "");
    assert!(run.out.contains("Be brief"), "{run:?}");
    let run = with_agent(home.path(), "prompt_frame", &["run", "-"], "hi from stdin");
    assert!(run.out.contains("hi from stdin"), "{run:?}");
    let run = with_agent(home.path(), "argv", &["run", "hi"], "");
    assert!(!run.out.contains("--system-prompt"), "the agent's own prompt stays: {run:?}");
}

#[test]
fn what_cannot_be_started() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("file"), "").unwrap();
    let cases: &[(&[&str], &str)] = &[
        (
            &["run", "hi"],
            "error: no `claude` on PATH: install Claude Code, or choose the agent with --claude PATH\n",
        ),
        (
            &["run", "--claude", "./no", "hi"],
            "error: ./no does not exist: choose the agent with --claude PATH\n",
        ),
        (
            &["chat", "--claude", "./file"],
            "error: ./file is not executable: `chmod +x` it, or choose the agent with --claude PATH\n",
        ),
        (&["run", "--claude", "/", "hi"], "error: / is not a file: choose the agent with --claude PATH\n"),
        (
            &["run", "--permission-mode", "yolo", "hi"],
            "error: there is no permission mode \"yolo\"; choose one of default, acceptEdits, bypassPermissions, plan, dontAsk, auto\n",
        ),
    ];
    for (args, error) in cases {
        let run = pilothouse(home.path(), args);
        let code = if args.contains(&"yolo") { 64 } else { 1 };
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (code, "", *error), "{args:?}");
    }
}

#[test]
fn a_chat_is_one_turn_for_each_line() {
    let home = tempfile::tempdir().unwrap();
    let run = with_agent(home.path(), "plain", &["chat"], "one\n\ntwo\n");
    assert_eq!((run.code, run.out.as_str()), (0, "hello\nhello\n"), "{run:?}");
}

#[test]
fn a_recording_checks_and_replays() {
    let home = tempfile::tempdir().unwrap();
    let recorded = with_agent(home.path(), "tour", &["tape", "record", "t.ndjson", "hi"], "");
    assert_eq!(recorded.code, 0, "{recorded:?}");
    assert!(
        pilothouse(home.path(), &["tape", "show", "t.ndjson"]).out.contains("control_request/can_use_tool")
    );
    let replayed = pilothouse(home.path(), &["tape", "replay", "t.ndjson"]);
    assert_eq!((replayed.code, replayed.out), (0, recorded.out), "{}", replayed.err);
    assert!(replayed.err.starts_with("> hi\n"), "{}", replayed.err);
    let checked = pilothouse(home.path(), &["tape", "check", "t.ndjson"]);
    assert!(checked.out.contains("malformed 0"), "{checked:?}");
}
