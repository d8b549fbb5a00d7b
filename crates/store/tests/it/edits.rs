//! Renaming, tagging, putting aside, deleting and forking.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use pilothouse_store::{EntryId, ForkOptions, MessageOptions, StoreError};
use serde_json::{Value, json};

use crate::{Home, assistant, entry, id, lines, user};

#[test]
fn rename_and_tag_append_a_line() {
    let home = Home::new();
    let text = lines(&[user("a", "", "one")]);
    // A line that breaks off must not swallow what is appended.
    let path = home.session(id(1), format!("{text}{{\"type\":\"us"));
    home.store.rename(id(1), None, "  A title  ").unwrap();
    home.store.tag(id(1), Some(&home.project()), Some("ｗｉｄｅ\u{200b}\u{e000}\u{7} x ")).unwrap();
    let expected = format!(
        "{text}{{\"type\":\"us\n{{\"type\":\"custom-title\",\"customTitle\":\"A title\",\"sessionId\":\"{0}\"}}\n\
         {{\"type\":\"tag\",\"tag\":\"wide x\",\"sessionId\":\"{0}\"}}\n",
        id(1)
    );
    assert_eq!(fs::read_to_string(path).unwrap(), expected);
    let info = home.store.info(id(1), None).unwrap().unwrap();
    assert_eq!((info.summary.as_str(), info.tag.as_deref()), ("A title", Some("wide x")));

    home.store.tag(id(1), None, None).unwrap();
    assert_eq!(home.store.info(id(1), None).unwrap().unwrap().tag, None);
    assert!(matches!(home.store.rename(id(1), None, " \n"), Err(StoreError::EmptyText("title"))));
    assert!(matches!(home.store.tag(id(1), None, Some("\u{200b}")), Err(StoreError::EmptyText("tag"))));
    assert!(matches!(home.store.rename(id(2), None, "x"), Err(StoreError::NotFound { .. })));
}

#[test]
fn archive_and_delete() {
    let home = Home::new();
    let path = home.session(id(1), lines(&[user("a", "", "one")]));
    let archived = || home.store.info(id(1), None).unwrap().unwrap().archived;
    home.store.archive(id(1), None).unwrap();
    assert!(archived());
    home.store.unarchive(id(1), None).unwrap();
    home.store.unarchive(id(1), None).unwrap();
    assert!(!archived());
    home.store.archive(id(1), None).unwrap();

    let outside = home.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("keep"), "").unwrap();
    symlink(&outside, path.with_extension("")).unwrap();
    home.store.delete(id(1), None).unwrap();
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
    assert!(outside.join("keep").exists(), "a link is removed, not what it leads to");
}

#[test]
fn a_fork_is_a_session_of_its_own() {
    let home = Home::new();
    let path = home.session(
        id(1),
        lines(&[
            json!({ "type": "queue-operation" }),
            user("a", "", "one"),
            entry("progress", "p", "a", Value::Null, json!({})),
            entry(
                "assistant",
                "b",
                "p",
                json!({ "id": "m", "content": [] }),
                json!({ "slug": "s", "new": { "kept": 1 } }),
            ),
            entry("user", "side", "b", json!({ "content": "x" }), json!({ "isSidechain": true })),
            json!({ "type": "content-replacement", "replacements": [{ "r": 1 }], "sessionId": id(1) }),
            entry("system", "s", "", Value::Null, json!({ "logicalParentUuid": "b" })),
            user("c", "s", "three"),
            json!({ "type": "custom-title", "customTitle": "The title", "sessionId": id(1) }),
        ]),
    );
    let (copy, problems) = home.store.fork(id(1), None, &ForkOptions::default()).unwrap();
    assert_eq!(problems, []);
    let copied = path.with_file_name(format!("{copy}.jsonl"));
    assert_eq!(fs::metadata(&copied).unwrap().permissions().mode() & 0o777, 0o600);
    let entries: Vec<Value> = fs::read_to_string(&copied)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = entries.iter().map(|entry| entry["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["user", "assistant", "system", "user", "content-replacement", "custom-title"]);

    let [a, b, s, c, replacement, title] = entries.as_slice() else { panic!("six entries") };
    for (entry, origin) in [(a, "a"), (b, "b"), (s, "s"), (c, "c")] {
        assert_eq!(entry["forkedFrom"], json!({ "sessionId": id(1), "messageUuid": origin }));
        assert_ne!(entry["uuid"], origin);
        assert_eq!(entry["sessionId"], json!(copy));
    }
    assert_eq!((&a["parentUuid"], &b["parentUuid"]), (&Value::Null, &a["uuid"]), "progress is passed over");
    assert_eq!((&s["logicalParentUuid"], &c["parentUuid"]), (&b["uuid"], &s["uuid"]));
    assert_eq!((b.get("slug"), &b["new"]), (None, &json!({ "kept": 1 })));
    assert_eq!(a["timestamp"], "2026-11-15T10:00:00.000Z");
    let now = c["timestamp"].as_str().unwrap();
    assert!(now.ends_with('Z') && now.len() == 24 && now != "2026-11-15T10:00:00.000Z", "{now}");
    assert_eq!(replacement["replacements"], json!([{ "r": 1 }]));
    assert_eq!(title["customTitle"], "The title (fork)");
}

#[test]
fn a_fork_can_end_early() {
    let home = Home::new();
    home.session(id(1), lines(&[user("a", "", "one"), assistant("b", "a", "two"), user("c", "b", "three")]));
    let fork = |up_to: &str| {
        let options = ForkOptions { up_to: Some(EntryId(up_to.to_owned())), title: Some("Mine".to_owned()) };
        home.store.fork(id(1), None, &options)
    };
    let (copy, _) = fork("b").unwrap();
    let (messages, _) = home.store.messages(copy, None, &MessageOptions::default()).unwrap();
    assert_eq!(messages.iter().map(|message| message.text()).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(home.store.info(copy, None).unwrap().unwrap().summary, "Mine");
    assert!(matches!(fork("nope"), Err(StoreError::NoSuchMessage { .. })));
    home.session(id(2), lines(&[json!({ "type": "queue-operation" })]));
    let nothing = home.store.fork(id(2), None, &ForkOptions::default());
    assert!(matches!(nothing, Err(StoreError::NothingToFork(_))));
}
