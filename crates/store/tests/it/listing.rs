//! Lists of sessions, and what they say of each.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use pilothouse_store::{ListOptions, SessionId};
use serde_json::{Value, json};

use crate::{Home, assistant, entry, id, lines, user};

#[test]
fn a_transcript_is_read_again_only_when_it_has_changed() {
    let home = Home::new();
    let write = |text: &str, modified: SystemTime| {
        let path = home.session(id(1), lines(&[user("a", "", text)]));
        File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
    };
    let shown = || home.store.clone().list(&ListOptions::default()).0.pop().unwrap().summary;
    let (now, old) = (SystemTime::now(), SystemTime::now() - Duration::from_secs(60));
    write("one", old);
    assert_eq!(shown(), "one");
    write("two", old);
    assert_eq!(shown(), "one", "it looks as it did, so nobody opens it");
    write("two", old + Duration::from_secs(1));
    assert_eq!(shown(), "two");
    write("three", old + Duration::from_secs(1));
    assert_eq!(shown(), "three");
    for (text, time) in [("seven", now), ("eight", now), ("never", now + Duration::from_secs(60))] {
        write(text, time);
        assert_eq!(shown(), text, "just written, or from the future: it may look the same and be another");
    }
    write("later", now + Duration::from_secs(60));
    assert_eq!(shown(), "later");
}

#[test]
fn what_is_shown_of_a_session() {
    let filler = user("f", "", &"x".repeat(200_000));
    let custom = |title: &str| json!({ "type": "custom-title", "customTitle": title, "sessionId": id(1) });
    let wrapped = |text: &str| user("w", "", text);
    let cases: Vec<(&str, Vec<Value>, Option<&str>)> = vec![
        (
            "first prompt",
            vec![user("a", "", " Hello\n  there "), assistant("b", "a", "Hi")],
            Some("Hello there"),
        ),
        (
            "last prompt before first",
            vec![user("a", "", "one"), json!({ "type": "last-prompt", "lastPrompt": "two" })],
            Some("two"),
        ),
        (
            "summary after last prompt",
            vec![json!({ "type": "summary", "summary": "sum" }), json!({ "lastPrompt": "two" })],
            Some("two"),
        ),
        ("summary", vec![user("a", "", "one"), json!({ "type": "summary", "summary": "sum" })], Some("sum")),
        (
            "title of the model",
            vec![
                user("a", "", "one"),
                json!({ "type": "ai-title", "aiTitle": "ai" }),
                json!({ "lastPrompt": "two" }),
            ],
            Some("ai"),
        ),
        ("last title", vec![custom("first"), json!({ "aiTitle": "ai" }), custom("second")], Some("second")),
        (
            "title at the beginning of a long file",
            vec![custom("early"), filler.clone(), filler.clone()],
            Some("early"),
        ),
        ("title at the end of a long file", vec![custom("early"), filler, custom("late")], Some("late")),
        ("empty title", vec![custom("real"), custom(" ")], Some("real")),
        (
            "a title inside of a tool's input is none",
            vec![
                user("a", "", "one"),
                entry("assistant", "b", "a", json!({ "input": { "customTitle": "no" } }), json!({})),
            ],
            Some("one"),
        ),
        (
            "what the CLI wrote is no prompt",
            vec![
                wrapped("<local-command-stdout>x</local-command-stdout>"),
                wrapped("<session-start-hook>x</session-start-hook>"),
                wrapped("[Request interrupted by user]"),
                entry("user", "m", "", json!({ "content": "meta" }), json!({ "isMeta": true })),
                entry("user", "c", "", json!({ "content": "sum" }), json!({ "isCompactSummary": true })),
                entry(
                    "user",
                    "t",
                    "",
                    json!({ "content": [{ "type": "tool_result", "content": "r" }] }),
                    json!({}),
                ),
                entry(
                    "user",
                    "p",
                    "",
                    json!({ "content": [{ "type": "text", "text": "<b>real</b>" }] }),
                    json!({}),
                ),
            ],
            Some("<b>real</b>"),
        ),
        (
            "a command counts if there is nothing else",
            vec![wrapped("<command-name>/init</command-name>\n<command-args></command-args>")],
            Some("/init"),
        ),
        ("nothing to show", vec![json!({ "type": "queue-operation" })], None),
        (
            "a subagent",
            vec![entry("user", "a", "", json!({ "content": "x" }), json!({ "isSidechain": true }))],
            None,
        ),
    ];
    for (name, entries, expected) in cases {
        let home = Home::new();
        home.session(id(1), lines(&entries));
        let info = home.store.info(id(1), None).unwrap();
        assert_eq!(info.map(|info| info.summary).as_deref(), expected, "{name}");
    }
}

#[test]
fn all_members() {
    let home = Home::new();
    let mut last = assistant("b", "a", "Hi");
    last["gitBranch"] = json!("other");
    last["cwd"] = json!("/elsewhere");
    let text = lines(&[
        json!({ "type": "queue-operation", "timestamp": "2026-11-15T09:59:59.500Z" }),
        user("a", "", &"ä".repeat(300)),
        json!({ "type": "tag", "tag": "old", "sessionId": id(1) }),
        json!({ "type": "tag", "tag": "new", "sessionId": id(1) }),
        last,
    ]);
    let path = home.session(id(1), &text);
    let info = home.store.info(id(1), Some(&home.project())).unwrap().unwrap();
    assert_eq!(info.first_prompt, Some(format!("{}…", "ä".repeat(200))));
    assert_eq!(info.tag.as_deref(), Some("new"));
    assert_eq!((info.cwd.as_deref(), info.git_branch.as_deref()), (Some("/work"), Some("other")));
    assert_eq!(info.created_at, Some(1_794_736_799_500));
    assert_eq!((info.file_size, info.path), (text.len() as u64, path));
    assert!(!info.archived && info.custom_title.is_none());
}

#[test]
fn newest_first_with_offset_and_limit() {
    let home = Home::new();
    for number in 1..=5 {
        let path = home.session(id(number), lines(&[user("a", "", &number.to_string())]));
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 + u64::from(number));
        File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
    }
    let programmatic =
        entry("user", "a", "", json!({ "content": "by a program" }), json!({ "entrypoint": "sdk-py" }));
    home.session(id(9), lines(&[programmatic]));
    let listed = |options: ListOptions| -> Vec<SessionId> {
        let (sessions, problems) = home.store.list(&options);
        assert_eq!(problems, []);
        sessions.into_iter().map(|session| session.id).collect()
    };
    let all = ListOptions::default();
    let cases = [
        (all.clone(), vec![9, 5, 4, 3, 2, 1]),
        (ListOptions { limit: Some(2), ..all.clone() }, vec![9, 5]),
        (ListOptions { limit: Some(2), offset: 3, ..all.clone() }, vec![3, 2]),
        (ListOptions { offset: 9, ..all.clone() }, vec![]),
        (ListOptions { programmatic: false, limit: Some(2), ..all.clone() }, vec![5, 4]),
        (ListOptions { project: Some(home.project()), limit: Some(1), ..all.clone() }, vec![9]),
        (ListOptions { project: Some("/nowhere".into()), ..all }, vec![]),
    ];
    for (options, expected) in cases {
        let name = format!("{options:?}");
        assert_eq!(listed(options), expected.into_iter().map(id).collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn working_trees_count_as_the_project() {
    let home = Home::new();
    let tree = home.dir.path().join("tree");
    fs::create_dir_all(home.project().join(".git/worktrees/tree")).unwrap();
    fs::create_dir_all(tree.join("sub")).unwrap();
    fs::write(home.project().join(".git/worktrees/tree/gitdir"), format!("{}/.git\n", tree.display()))
        .unwrap();
    fs::write(home.project().join(".git/worktrees/tree/commondir"), "../..\n").unwrap();
    let link = format!("gitdir: {}/.git/worktrees/tree\n", home.project().display());
    fs::write(tree.join(".git"), link).unwrap();
    home.session(id(1), lines(&[user("a", "", "main")]));
    home.session_in(&tree, id(2), lines(&[user("a", "", "tree")]));

    let count = |project: &std::path::Path, worktrees| {
        let options = ListOptions { project: Some(project.to_owned()), worktrees, ..ListOptions::default() };
        home.store.list(&options).0.len()
    };
    assert_eq!((count(&home.project(), true), count(&tree, true)), (2, 2));
    assert_eq!((count(&home.project(), false), count(&tree, false)), (1, 1));
}

#[test]
fn a_project_is_found_through_links_and_by_the_beginning_of_a_long_key() {
    let home = Home::new();
    home.session(id(1), lines(&[user("a", "", "x")]));
    let link = home.dir.path().join("link");
    std::os::unix::fs::symlink(home.project(), &link).unwrap();
    assert!(home.store.info(id(1), Some(&link)).unwrap().is_some());

    let long = home.dir.path().join("d".repeat(220));
    fs::create_dir(&long).unwrap();
    let ours = home.project_dir(&long);
    let name = ours.file_name().unwrap().to_str().unwrap();
    let theirs = ours.with_file_name(format!("{}-other1", name.get(..200).unwrap()));
    fs::create_dir_all(&theirs).unwrap();
    fs::write(theirs.join(format!("{}.jsonl", id(2))), lines(&[user("a", "", "x")])).unwrap();
    assert!(home.store.info(id(2), Some(&long)).unwrap().is_some());
}
