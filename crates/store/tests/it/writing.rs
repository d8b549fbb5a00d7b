//! Transcripts that a running session writes.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use pilothouse_store::{ListOptions, LoadOptions, MessageOptions, NewEntry, Stamp, StoreError, Transcript};
use serde_json::{Map, Value, json};

use crate::{Home, id};

fn stamp(home: &Home) -> Stamp {
    Stamp::new(home.project(), "2.1.325", "sdk-cli")
}

fn said(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": [{ "type": "text", "text": text }], "id": format!("msg_{text}") })
}

fn prompt(text: &str) -> NewEntry {
    NewEntry::user(json!({ "role": "user", "content": text }))
}

fn written(transcript: &Transcript) -> Vec<Value> {
    let text = fs::read_to_string(transcript.path().unwrap()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_line_is_as_a_cli_writes_it() {
    let home = Home::new();
    let mut transcript = home.store.begin(id(1), stamp(&home));
    assert!(!transcript.path().unwrap().exists(), "a session that never began leaves no file");
    transcript
        .append(
            prompt("hi")
                .with_id("11111111-1111-4111-8111-111111111111")
                .at("2026-11-16T00:00:00.000Z")
                .with("promptSource", "sdk"),
        )
        .unwrap();
    let text = fs::read_to_string(transcript.path().unwrap()).unwrap();
    let cwd = home.project().display().to_string();
    let expected = format!(
        "{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"hi\"}},\
         \"uuid\":\"11111111-1111-4111-8111-111111111111\",\"timestamp\":\"2026-11-16T00:00:00.000Z\",\
         \"promptSource\":\"sdk\",\"userType\":\"external\",\"entrypoint\":\"sdk-cli\",\"cwd\":\"{cwd}\",\
         \"sessionId\":\"{}\",\"version\":\"2.1.325\",\"gitBranch\":\"HEAD\"}}\n",
        id(1)
    );
    assert_eq!(text, expected);
    assert_eq!(fs::metadata(transcript.path().unwrap()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn the_branch_is_read_from_the_repository() {
    let home = Home::new();
    let git = home.project().join(".git");
    fs::create_dir(&git).unwrap();
    for (head, branch) in
        [("ref: refs/heads/topic/a\n", "topic/a"), ("0123456789abcdef\n", "HEAD"), ("", "HEAD")]
    {
        fs::write(git.join("HEAD"), head).unwrap();
        assert_eq!(stamp(&home).git_branch, branch);
    }
}

#[test]
fn results_hang_on_their_calls_and_the_next_entry_on_the_last() {
    let home = Home::new();
    let mut transcript = home.store.begin(id(1), stamp(&home));
    let call = |tool: &str| {
        let block = json!({ "type": "tool_use", "id": tool, "name": "Read", "input": {} });
        NewEntry::assistant(json!({ "role": "assistant", "id": "msg_1", "content": [block] }))
    };
    let result = |tool: &str| {
        let block = json!({ "type": "tool_result", "tool_use_id": tool, "content": "ok" });
        NewEntry::user(json!({ "role": "user", "content": [block] }))
    };
    let asked = transcript.append(prompt("read both")).unwrap();
    let one = transcript.append(call("t1")).unwrap();
    let two = transcript.append(call("t2")).unwrap();
    let first = transcript.append(result("t1").result_of(one.clone())).unwrap();
    let second = transcript.append(result("t2").result_of(two.clone())).unwrap();
    transcript.append(NewEntry::assistant(said("assistant", "done"))).unwrap();
    let parents: Vec<Value> = written(&transcript).iter().map(|line| line["parentUuid"].clone()).collect();
    assert_eq!(parents, [json!(null), json!(asked), json!(one), json!(one), json!(two), json!(second)]);
    assert_ne!(first, second);

    let past = home.store.load(id(1), None, &LoadOptions::default()).unwrap();
    let messages = past.api_messages();
    let shape: Vec<(&str, usize)> = messages
        .iter()
        .map(|message| (message["role"].as_str().unwrap(), message["content"].as_array().unwrap().len()))
        .collect();
    assert_eq!(shape, [("user", 1), ("assistant", 2), ("user", 2), ("assistant", 1)]);
}

#[test]
fn lists_and_readers_see_it() {
    let home = Home::new();
    let mut transcript = home.store.begin(id(1), stamp(&home));
    transcript.append(prompt("first question")).unwrap();
    transcript.append(NewEntry::assistant(said("assistant", "answer"))).unwrap();
    transcript.last_prompt("first question").unwrap();
    let project = Some(home.project());
    let options = ListOptions { project, ..ListOptions::default() };
    let (sessions, problems) = home.store.list(&options);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(sessions.first().unwrap().summary, "first question");
    assert!(sessions.first().unwrap().is_programmatic());
    transcript.rename("  a title ").unwrap();
    assert_eq!(home.store.list(&options).0.first().unwrap().custom_title.as_deref(), Some("a title"));
    let found = home.store.titled(&home.project(), " A Title");
    assert_eq!(found.iter().map(|info| info.id).collect::<Vec<_>>(), [id(1)]);
    assert_eq!(home.store.latest(&home.project()), Some(id(1)));
    assert!(matches!(transcript.rename(" "), Err(StoreError::EmptyText(_))));
    let (messages, _) = home.store.messages(id(1), None, &MessageOptions::default()).unwrap();
    assert_eq!(messages.len(), 2);
}

#[test]
fn subagents_have_files_of_their_own() {
    let home = Home::new();
    let mut main = home.store.begin(id(1), stamp(&home)).mirrored();
    main.append(prompt("go")).unwrap();
    let meta = json!({ "agentType": "general-purpose", "toolUseId": "toolu_1" });
    let mut sub = main.subagent("a1b2", meta.as_object().unwrap()).unwrap();
    sub.append(prompt("do it")).unwrap();
    let (found, problems) = home.store.subagents(id(1), None).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(found.first().unwrap().tool_use_id(), Some("toolu_1"));
    let line = written(&sub).remove(0);
    assert_eq!((&line["isSidechain"], &line["agentId"]), (&json!(true), &json!("a1b2")));
    let (messages, _) =
        home.store.subagent_messages(id(1), "a1b2", None, &MessageOptions::default()).unwrap();
    assert_eq!(messages.first().unwrap().text(), "do it");

    let mirrored = sub.take_mirrored().unwrap();
    assert!(mirrored.path.ends_with("subagents/agent-a1b2.jsonl"));
    let kinds: Vec<_> = mirrored.entries.iter().map(|entry| entry["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["agent_metadata", "user"]);
    for bad in ["", "../x", "a/b", "a.b"] {
        assert!(matches!(main.subagent(bad, &Map::new()), Err(StoreError::BadAgentId(_))), "{bad}");
    }
}

#[test]
fn a_mirror_has_each_line_once() {
    let home = Home::new();
    let mut transcript = home.store.begin(id(1), stamp(&home)).mirrored();
    assert_eq!(transcript.take_mirrored(), None);
    transcript.append(prompt("one")).unwrap();
    transcript.note("mode", json!({ "mode": "normal" }).as_object().unwrap().clone()).unwrap();
    let mirrored = transcript.take_mirrored().unwrap();
    assert_eq!(mirrored.path, transcript.path().unwrap());
    let lines: Vec<Value> = mirrored.entries.into_iter().map(Value::Object).collect();
    assert_eq!(lines, written(&transcript));
    assert_eq!(transcript.take_mirrored(), None);
}

#[test]
fn an_unwritten_transcript_leaves_nothing() {
    let home = Home::new();
    let mut transcript = Transcript::unwritten(id(1), stamp(&home));
    let first = transcript.append(prompt("secret")).unwrap();
    assert_eq!(transcript.last(), Some(&first));
    let mut sub = transcript.subagent("a1", &Map::new()).unwrap();
    sub.append(prompt("secret, too")).unwrap();
    assert!(!home.store.config_home().exists());
}

/// Whatever byte a crash cuts the last line at, everything before it is there, and going on works.
#[test]
fn a_crash_at_any_byte_loses_at_most_the_last_line() {
    let home = Home::new();
    let mut transcript = home.store.begin(id(1), stamp(&home));
    transcript.append(prompt("one")).unwrap();
    let answer = transcript.append(NewEntry::assistant(said("assistant", "two"))).unwrap();
    let path = transcript.path().unwrap().to_owned();
    let whole_before = fs::read(&path).unwrap().len();
    transcript.append(prompt("drei ⛵ und ü")).unwrap();
    let bytes = fs::read(&path).unwrap();
    for end in whole_before..=bytes.len() {
        fs::write(&path, bytes.get(..end).unwrap()).unwrap();
        let past = home.store.load(id(1), None, &LoadOptions::default()).unwrap();
        let finished = end + 1 >= bytes.len();
        assert_eq!(past.entries.len(), if finished { 3 } else { 2 }, "cut at {end}");
        assert_eq!(past.problems.len(), usize::from(!finished && end > whole_before), "cut at {end}");
        if !finished {
            assert_eq!(past.last.as_ref(), Some(&answer));
        }
        let mut next = past.go_on(stamp(&home));
        next.append(prompt("four")).unwrap();
        let again = home.store.load(id(1), None, &LoadOptions::default()).unwrap();
        let (messages, _) = home.store.messages(id(1), None, &MessageOptions::default()).unwrap();
        assert_eq!(messages.last().unwrap().text(), "four", "cut at {end}");
        assert_eq!(again.entries.len(), past.entries.len() + 1, "cut at {end}");
    }
}

#[test]
fn two_writers_do_not_mix_their_lines() {
    let home = Home::new();
    let long = "x".repeat(100_000);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (home, long) = (&home, &long);
            scope.spawn(move || {
                let mut transcript = home.store.begin(id(1), stamp(home));
                for _ in 0..20 {
                    transcript.append(prompt(&format!("{writer}{long}"))).unwrap();
                }
            });
        }
    });
    let path = home.project_dir(&home.project()).join(format!("{}.jsonl", id(1)));
    let text = fs::read_to_string(path).unwrap();
    assert_eq!(text.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count(), 80);
    // A writer that opens the file while another one writes may add an empty line, which readers skip.
    assert_eq!(text.lines().filter(|line| !line.is_empty()).count(), 80);
}

#[test]
fn a_place_that_cannot_be_written_is_an_error() {
    let home = Home::new();
    fs::write(home.store.config_home(), "not a directory").unwrap();
    let mut transcript = home.store.begin(id(1), stamp(&home));
    assert!(matches!(transcript.append(prompt("x")), Err(StoreError::Io(_))));
}

#[test]
fn nothing_is_written_through_a_link() {
    let home = Home::new();
    let mut transcript = home.store.begin(id(1), stamp(&home));
    transcript.append(prompt("x")).unwrap();
    let path = transcript.path().unwrap().to_owned();
    let victim = home.project().join("victim");
    let meta = Map::from_iter([("agentType".to_owned(), Value::from("x"))]);

    // A transcript: by a session that goes on, by a rename, by a fork.
    fs::rename(&path, path.with_extension("moved")).unwrap();
    fs::copy(path.with_extension("moved"), &victim).unwrap();
    let before = fs::read(&victim).unwrap();
    symlink(&victim, &path).unwrap();
    let mut next = home.store.begin(id(1), stamp(&home));
    assert!(matches!(next.append(prompt("y")), Err(StoreError::Io(_))));
    assert!(home.store.rename(id(1), None, "title").is_err());
    assert_eq!(fs::read(&victim).unwrap(), before);

    // A transcript that is not there yet.
    let absent = home.project().join("absent");
    symlink(&absent, path.with_file_name(format!("{}.jsonl", id(2)))).unwrap();
    assert!(home.store.begin(id(2), stamp(&home)).append(prompt("z")).is_err());

    // What stands beside it.
    let (meta_file, mark) = (home.project().join("meta"), home.project().join("mark"));
    let subagents = path.with_extension("").join("subagents");
    fs::create_dir_all(&subagents).unwrap();
    symlink(&meta_file, subagents.join("agent-a1.meta.json")).unwrap();
    assert!(transcript.subagent("a1", &meta).is_err());
    fs::remove_file(&path).unwrap();
    fs::rename(path.with_extension("moved"), &path).unwrap();
    symlink(&mark, path.with_extension("archived")).unwrap();
    assert!(home.store.archive(id(1), None).is_err());
    for file in [absent, meta_file, mark] {
        assert!(!file.exists(), "{}", file.display());
    }
}
