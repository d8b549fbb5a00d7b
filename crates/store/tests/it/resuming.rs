//! Sessions that go on: which part of them counts, and what the model is told of it.

use std::fs;

use pilothouse_store::{EntryId, LoadOptions, MessageOptions, NewEntry, Stamp, StoreError};
use serde_json::{Value, json};

use crate::{Home, assistant, entry, id, lines, user};

const TURN: &str = "22222222-2222-4222-8222-222222222222";

fn stamp(home: &Home) -> Stamp {
    Stamp::new(home.project(), "2.1.325", "sdk-cli")
}

/// `role: text` of each message, blocks joined by `+`; calls and results by their ids.
fn told(messages: &[Value]) -> Vec<String> {
    let block = |block: &Value| match block["type"].as_str() {
        Some("text") => block["text"].as_str().unwrap().to_owned(),
        Some("tool_use") => format!("call {}", block["id"].as_str().unwrap()),
        Some("tool_result") => {
            let failed = if block["is_error"] == json!(true) { "no " } else { "" };
            format!("{failed}result {}", block["tool_use_id"].as_str().unwrap())
        }
        other => format!("{other:?}"),
    };
    let message = |message: &Value| {
        let blocks: Vec<String> = message["content"].as_array().unwrap().iter().map(block).collect();
        format!("{}: {}", message["role"].as_str().unwrap(), blocks.join("+"))
    };
    messages.iter().map(message).collect()
}

fn call(uuid: &str, parent: &str, answer: &str, tool: &str) -> Value {
    let block = json!({ "type": "tool_use", "id": tool, "name": "Bash", "input": {} });
    entry(
        "assistant",
        uuid,
        parent,
        json!({ "id": answer, "role": "assistant", "content": [block] }),
        json!({}),
    )
}

fn result(uuid: &str, parent: &str, tool: &str) -> Value {
    let block = json!({ "type": "tool_result", "tool_use_id": tool, "content": "ok" });
    entry("user", uuid, parent, json!({ "role": "user", "content": [block] }), json!({}))
}

fn made_up(uuid: &str, parent: &str) -> Value {
    let message = json!({ "model": "<synthetic>", "role": "assistant", "content": [{ "type": "text", "text": "API Error" }] });
    entry("assistant", uuid, parent, message, json!({ "isApiErrorMessage": true }))
}

fn attachment(uuid: &str, parent: &str) -> Value {
    let mut line =
        entry("attachment", uuid, parent, json!(null), json!({ "attachment": { "type": "date" } }));
    line.as_object_mut().unwrap().shift_remove("message");
    line
}

fn boundary(uuid: &str, logical: &str, metadata: Value) -> Value {
    let mut line = entry(
        "system",
        uuid,
        "",
        json!(null),
        json!({ "subtype": "compact_boundary", "logicalParentUuid": logical, "compactMetadata": metadata }),
    );
    line.as_object_mut().unwrap().shift_remove("message");
    line
}

#[test]
fn what_the_model_is_told() {
    let summary = entry(
        "user",
        "s",
        "k",
        json!({ "role": "user", "content": "summary" }),
        json!({ "isCompactSummary": true }),
    );
    let kept = json!({ "preservedMessages": { "anchorUuid": "s", "uuids": ["b"] } });
    let cases: Vec<(&str, Vec<Value>, &[&str])> = vec![
        ("plain", vec![user("a", "", "one"), assistant("b", "a", "two")], &["user: one", "assistant: two"]),
        (
            "attachments are the other agent's business",
            vec![user("a", "", "one"), attachment("x", "a"), assistant("b", "x", "two")],
            &["user: one", "assistant: two"],
        ),
        (
            "neighbours of one role are one message",
            vec![user("a", "", "one"), user("b", "a", "more"), assistant("c", "b", "two")],
            &["user: one+more", "assistant: two"],
        ),
        (
            "parallel calls",
            vec![
                user("a", "", "one"),
                call("b", "a", "m", "t1"),
                call("c", "b", "m", "t2"),
                result("d", "b", "t1"),
                result("e", "c", "t2"),
                assistant("f", "e", "done"),
            ],
            &["user: one", "assistant: call t1+call t2", "user: result t1+result t2", "assistant: done"],
        ),
        (
            "a call without a result, at the end",
            vec![user("a", "", "one"), call("b", "a", "m", "t1")],
            &["user: one", "assistant: call t1", "user: no result t1"],
        ),
        (
            "a call without a result, and the session went on",
            vec![user("a", "", "one"), call("b", "a", "m", "t1"), user("c", "b", "and now")],
            &["user: one", "assistant: call t1", "user: no result t1+and now"],
        ),
        (
            "a result without a call",
            vec![user("a", "", "one"), result("b", "a", "t9"), assistant("c", "b", "two")],
            &["user: one", "assistant: two"],
        ),
        (
            "what the model never said",
            vec![user("a", "", "one"), made_up("b", "a"), user("c", "b", "again")],
            &["user: one+again"],
        ),
        (
            "compacted",
            vec![
                user("a", "", "one"),
                assistant("b", "a", "two"),
                boundary("k", "b", json!({})),
                summary.clone(),
                user("c", "s", "three"),
            ],
            &["user: summary+three"],
        ),
        (
            "compacted, with the last answer kept",
            vec![
                user("a", "", "one"),
                assistant("b", "a", "two"),
                boundary("k", "b", kept),
                summary,
                user("c", "s", "three"),
            ],
            &["user: summary", "assistant: two", "user: three"],
        ),
        (
            "the branch that was written last",
            vec![
                user("a", "", "one"),
                assistant("b", "a", "two"),
                user("c", "b", "left"),
                assistant("d", "c", "behind"),
                user("e", "b", "taken"),
            ],
            &["user: one", "assistant: two", "user: taken"],
        ),
    ];
    for (name, entries, expected) in cases {
        let home = Home::new();
        home.session(id(1), lines(&entries));
        let past = home.store.load(id(1), None, &LoadOptions::default()).unwrap();
        assert_eq!(told(&past.api_messages()), expected, "{name}");
    }
}

#[test]
fn the_next_entry_hangs_behind_the_attachments() {
    let home = Home::new();
    let entries =
        [user("a", "", "one"), assistant("b", "a", "two"), attachment("x", "b"), attachment("y", "x")];
    home.session(id(1), lines(&entries));
    let past = home.store.load(id(1), None, &LoadOptions::default()).unwrap();
    assert_eq!(past.last, Some(EntryId("y".to_owned())));
}

#[test]
fn notes_and_title_come_back() {
    let home = Home::new();
    let entries = [
        user("a", "", "one"),
        json!({ "type": "cost-state", "totalCostUSD": 1 }),
        json!({ "type": "custom-title", "customTitle": "t", "sessionId": id(1) }),
        json!({ "type": "api-request-blob", "hash": "x" }),
        json!({ "type": "cost-state", "totalCostUSD": 2 }),
    ];
    home.session(id(1), lines(&entries));
    let past = home.store.load(id(1), None, &LoadOptions::default()).unwrap();
    assert_eq!(past.title.as_deref(), Some("t"));
    assert_eq!(past.notes["cost-state"]["totalCostUSD"], json!(2));
    assert!(!past.notes.contains_key("api-request-blob"));
}

#[test]
fn going_on_from_an_earlier_entry() {
    let two_turns = [
        user("a", "", "one"),
        assistant("b", "a", "two"),
        user(TURN, "b", "three"),
        assistant("d", TURN, "four"),
    ];
    let three_turns: Vec<Value> =
        two_turns.iter().cloned().chain([user("e", "d", "five"), assistant("f", "e", "six")]).collect();
    let foreign = "33333333-3333-4333-8333-333333333333";
    type Case<'a> = (&'a str, &'a [Value], &'a str, Option<&'a str>, Result<&'a [&'a str], &'a str>);
    let cases: [Case<'_>; 8] = [
        ("cut", &two_turns, "b", None, Ok(&["user: one", "assistant: two"])),
        ("the turn that is dropped", &two_turns, "b", Some(TURN), Ok(&["user: one", "assistant: two"])),
        (
            "nothing is dropped",
            &two_turns,
            "d",
            Some(TURN),
            Ok(&["user: one", "assistant: two", "user: three", "assistant: four"]),
        ),
        ("another turn would go", &two_turns, "b", Some(foreign), Err("not the prompt of that turn")),
        ("no id", &two_turns, "b", Some(""), Err("is not the id of a turn")),
        (
            "a second turn would go, too",
            &three_turns,
            "b",
            Some(TURN),
            Err("entry e belongs to another turn"),
        ),
        ("in the middle of a turn", &two_turns, "a", Some(TURN), Err("not the prompt of that turn")),
        ("no such entry", &two_turns, "zz", None, Err("No message found with message.uuid of: zz")),
    ];
    for (name, entries, at, drops, expected) in cases {
        let home = Home::new();
        let path = home.session(id(1), lines(entries));
        let before = fs::read(&path).unwrap();
        let options = LoadOptions { at: Some(EntryId(at.to_owned())), drops_turn: drops.map(str::to_owned) };
        match (home.store.load(id(1), None, &options), expected) {
            (Ok(past), Ok(messages)) => {
                assert_eq!(told(&past.api_messages()), messages, "{name}");
                assert_eq!(past.last, Some(EntryId(at.to_owned())), "{name}");
            }
            (Err(error), Err(text)) => assert!(error.to_string().contains(text), "{name}: {error}"),
            (got, _) => panic!("{name}: {got:?}"),
        }
        assert_eq!(fs::read(&path).unwrap(), before, "{name}: nothing is written");
    }
}

#[test]
fn a_branch_left_behind_can_be_taken_up() {
    let home = Home::new();
    let entries = [
        user("a", "", "one"),
        assistant("b", "a", "two"),
        user("c", "b", "left"),
        assistant("d", "c", "behind"),
        user("e", "b", "taken"),
    ];
    home.session(id(1), lines(&entries));
    let options = LoadOptions { at: Some(EntryId("d".to_owned())), drops_turn: None };
    let past = home.store.load(id(1), None, &options).unwrap();
    assert_eq!(
        told(&past.api_messages()),
        ["user: one", "assistant: two", "user: left", "assistant: behind"]
    );
    let mut transcript = past.go_on(stamp(&home));
    transcript.append(NewEntry::user(json!({ "role": "user", "content": "on" }))).unwrap();
    let (messages, _) = home.store.messages(id(1), None, &MessageOptions::default()).unwrap();
    let texts: Vec<String> = messages.iter().map(|message| message.text()).collect();
    assert_eq!(texts, ["one", "two", "left", "behind", "on"]);
}

#[test]
fn a_fork_has_the_past_and_a_new_id() {
    let home = Home::new();
    let entries = [
        user("a", "", "one"),
        attachment("x", "a"),
        assistant("b", "x", "two"),
        user("c", "b", "left"),
        user("e", "b", "taken"),
        json!({ "type": "custom-title", "customTitle": "t", "sessionId": id(1) }),
    ];
    let original = home.session(id(1), lines(&entries));
    let before = fs::read(&original).unwrap();
    let past = home.store.load(id(1), None, &LoadOptions::default()).unwrap();
    let mut fork = past.fork(&home.store, id(2), stamp(&home)).unwrap().mirrored();
    assert!(matches!(home.store.transcript(id(2), None), Err(StoreError::NotFound { .. })));
    fork.append(NewEntry::assistant(json!({ "role": "assistant", "content": [] }))).unwrap();
    assert_eq!(fs::read(&original).unwrap(), before);
    let text = fs::read_to_string(fork.path().unwrap()).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line["sessionId"] == json!(id(2))), "{text}");
    let uuids: Vec<&str> = lines.iter().filter_map(|line| line["uuid"].as_str()).collect();
    assert_eq!(uuids.get(..4), Some(["a", "x", "b", "e"].as_slice()), "uuids stay");
    assert_eq!(lines.last().unwrap()["parentUuid"], json!("e"));
    assert_eq!(fork.take_mirrored().unwrap().entries.len(), lines.len());
    assert_eq!(home.store.load(id(2), None, &LoadOptions::default()).unwrap().title.as_deref(), Some("t"));
}
