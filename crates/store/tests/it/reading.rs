//! Conversations rebuilt from their entries.

use std::fs;

use pilothouse_store::{ChainKind, Entry, MessageKind, MessageOptions, StoreError};
use serde_json::{Value, json};

use crate::{Home, assistant, entry, id, lines, user};

fn call(uuid: &str, parent: &str, answer: &str, time: u32) -> Value {
    let message =
        json!({ "id": answer, "content": [{ "type": "tool_use", "id": uuid, "name": "Read", "input": {} }] });
    entry(
        "assistant",
        uuid,
        parent,
        message,
        json!({ "timestamp": format!("2026-11-15T10:00:{time:02}.000Z") }),
    )
}

fn result(uuid: &str, parent: &str, time: u32) -> Value {
    let message = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": parent, "content": "r" }] });
    entry("user", uuid, parent, message, json!({ "timestamp": format!("2026-11-15T10:00:{time:02}.000Z") }))
}

fn attachment(uuid: &str, parent: &str) -> Value {
    json!({ "type": "attachment", "uuid": uuid, "parentUuid": parent, "attachment": { "type": "date" } })
}

#[test]
fn the_conversation_is_rebuilt() {
    let more = |base: Value, more: Value| {
        let mut base = base;
        base.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        base
    };
    let cases: Vec<(&str, Vec<Value>, &str)> = vec![
        ("a line", vec![user("a", "", "1"), assistant("b", "a", "2"), user("c", "b", "3")], "a b c"),
        ("in any order", vec![user("c", "b", "3"), assistant("b", "a", "2"), user("a", "", "1")], "a b c"),
        (
            "attachments are links, not messages",
            vec![user("a", "", "1"), attachment("x", "a"), assistant("b", "x", "2"), attachment("y", "b")],
            "a b",
        ),
        (
            "the later branch counts",
            vec![
                user("a", "", "1"),
                assistant("b", "a", "2"),
                assistant("b2", "a", "2"),
                user("c", "b", "3"),
            ],
            "a b c",
        ),
        (
            "a branch of a subagent does not",
            vec![
                user("a", "", "1"),
                assistant("b", "a", "2"),
                more(user("s", "a", "x"), json!({ "isSidechain": true })),
            ],
            "a b",
        ),
        (
            "nor one of a team, nor one that the CLI made up",
            vec![
                user("a", "", "1"),
                assistant("b", "a", "2"),
                more(user("t", "a", "x"), json!({ "teamName": "t" })),
                more(user("m", "a", "x"), json!({ "isMeta": true })),
            ],
            "a b",
        ),
        (
            "meta entries within are hidden",
            vec![
                user("a", "", "1"),
                more(user("m", "a", "x"), json!({ "isMeta": true })),
                assistant("b", "m", "2"),
            ],
            "a b",
        ),
        (
            "a compacted conversation begins with its summary",
            vec![
                user("a", "", "1"),
                json!({ "type": "system", "uuid": "s", "parentUuid": null, "logicalParentUuid": "a" }),
                more(user("c", "s", "sum"), json!({ "isCompactSummary": true })),
                assistant("b", "c", "2"),
            ],
            "c b",
        ),
        (
            "parallel calls, going on from the last result",
            vec![
                user("a", "", "1"),
                call("c1", "a", "m", 1),
                call("c2", "c1", "m", 2),
                result("r1", "c1", 3),
                result("r2", "c2", 4),
                assistant("b", "r2", "2"),
            ],
            "a c1 c2 r1 r2 b",
        ),
        (
            "parallel calls, going on from the first result",
            vec![
                user("a", "", "1"),
                call("c1", "a", "m", 1),
                call("c2", "c1", "m", 2),
                call("c3", "c2", "m", 3),
                result("r3", "c3", 4),
                result("r2", "c2", 5),
                result("r1", "c1", 6),
                assistant("b", "r1", "2"),
            ],
            "a c1 c2 c3 r3 r2 r1 b",
        ),
        (
            "a parent that is missing is the beginning",
            vec![assistant("b", "gone", "2"), user("c", "b", "3")],
            "b c",
        ),
        ("a circle ends", vec![user("a", "b", "1"), assistant("b", "a", "2"), user("c", "b", "3")], "a b c"),
        ("only a circle is nothing", vec![user("a", "b", "1"), assistant("b", "a", "2")], ""),
        ("no messages at all", vec![json!({ "type": "queue-operation" })], ""),
        (
            "an entry without id is none",
            vec![user("a", "", "1"), json!({ "type": "user", "parentUuid": "a" })],
            "a",
        ),
    ];
    for (name, entries, expected) in cases {
        let home = Home::new();
        home.session(id(1), lines(&entries));
        let (messages, problems) = home.store.messages(id(1), None, &MessageOptions::default()).unwrap();
        let ids: Vec<&str> = messages.iter().map(|message| message.uuid.0.as_str()).collect();
        assert_eq!(ids.join(" "), expected, "{name}");
        assert_eq!(problems, [], "{name}");
    }
}

#[test]
fn messages_as_they_are_shown() {
    let home = Home::new();
    let system =
        json!({ "type": "system", "uuid": "s", "parentUuid": "b", "subtype": "info", "content": "note" });
    home.session(
        id(1),
        lines(&[user("a", "", "one"), assistant("b", "a", "two"), system, user("c", "s", "three")]),
    );
    let read = |system, offset, limit| {
        let options = MessageOptions { system, offset, limit };
        home.store.messages(id(1), Some(&home.project()), &options).unwrap().0
    };
    let messages = read(true, 0, None);
    let kinds: Vec<MessageKind> = messages.iter().map(|message| message.kind).collect();
    assert_eq!(kinds, [MessageKind::User, MessageKind::Assistant, MessageKind::System, MessageKind::User]);
    assert_eq!(
        messages.iter().map(|message| message.text()).collect::<Vec<_>>(),
        ["one", "two", "note", "three"]
    );
    assert_eq!(messages.first().unwrap().message, json!({ "role": "user", "content": "one" }));
    assert_eq!(messages.first().unwrap().session_id, id(1));
    assert_eq!(read(false, 1, Some(1)).first().unwrap().uuid.0, "b");
    assert_eq!(read(false, 9, None), []);
}

#[test]
fn subagents_have_their_own_conversations() {
    let home = Home::new();
    let path = home.session(id(1), lines(&[user("a", "", "one")]));
    let dir = path.with_extension("").join("subagents/workflows/run1");
    fs::create_dir_all(&dir).unwrap();
    let side = |uuid: &str, parent: &str| {
        entry(
            "user",
            uuid,
            parent,
            json!({ "content": uuid }),
            json!({ "isSidechain": true, "agentId": "x1" }),
        )
    };
    fs::write(dir.join("agent-x1.jsonl"), lines(&[side("p", ""), side("q", "p")])).unwrap();
    fs::write(
        dir.join("agent-x1.meta.json"),
        r#"{"toolUseId":"toolu_1","parentAgentId":"x0","agentType":"Plan"}"#,
    )
    .unwrap();
    fs::write(dir.join("../../agent-a0.jsonl"), lines(&[side("r", "")])).unwrap();
    fs::write(dir.join("../../agent-a0.meta.json"), "{").unwrap();
    fs::write(dir.join("../../notes.jsonl"), "").unwrap();

    let (subagents, problems) = home.store.subagents(id(1), None).unwrap();
    assert_eq!(subagents.iter().map(|subagent| subagent.id.as_str()).collect::<Vec<_>>(), ["a0", "x1"]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(subagents.last().unwrap().meta["agentType"], "Plan");

    let read = |agent| home.store.subagent_messages(id(1), agent, None, &MessageOptions::default());
    let (messages, _) = read("x1").unwrap();
    assert_eq!(messages.iter().map(|message| message.uuid.0.as_str()).collect::<Vec<_>>(), ["p", "q"]);
    assert_eq!(messages.first().unwrap().parent_tool_use_id.as_deref(), Some("toolu_1"));
    assert_eq!(messages.first().unwrap().parent_agent_id.as_deref(), Some("x0"));
    assert!(matches!(read("nope"), Err(StoreError::NoSubagent { .. })));
    assert!(matches!(read("../x1"), Err(StoreError::BadAgentId(_))));
    assert!(home.store.messages(id(1), None, &MessageOptions::default()).unwrap().0.len() == 1);
}

#[test]
fn entries_keep_what_is_not_known() {
    let Entry::Chain(entry) = Entry::decode(r#"{"type":"progress","uuid":"a","new":{"x":1}}"#).unwrap()
    else {
        panic!("a chain entry")
    };
    assert_eq!((entry.kind, &entry.extra["new"]), (ChainKind::Progress, &json!({ "x": 1 })));
    for line in [r#"{"type":"new-thing","x":1}"#, r#"{"x":1}"#, r#"{"type":"progress","x":1}"#] {
        let whole: Value = serde_json::from_str(line).unwrap();
        assert_eq!(Entry::decode(line).unwrap(), Entry::Other(whole.as_object().unwrap().clone()), "{line}");
    }
    assert_eq!(Entry::decode(r#"{"type":"tag","tag":"t"}"#).unwrap(), Entry::Tag("t".to_owned()));
    for line in [
        r#"{"type":"user","uuid":1}"#,
        r#"{"type":"tag"}"#,
        r#"{"type":"custom-title","customTitle":1}"#,
        "[]",
    ] {
        assert!(Entry::decode(line).is_err(), "{line}");
    }
}
