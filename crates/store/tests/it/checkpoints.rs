//! Edits that are taken back.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use pilothouse_store::{Checkpoints, EntryId, LoadOptions, NewEntry, RewindError, Stamp};
use serde_json::{Map, Value, json};

use crate::{Home, id};

fn prompt(number: u32) -> EntryId {
    EntryId(format!("prompt {number}"))
}

/// A project with `a.txt`, changed in turn 1 and 2, and `new.txt`, created in turn 1. Gives the lines of the transcript.
fn two_turns(home: &Home, checkpoints: &mut Checkpoints) -> Vec<Map<String, Value>> {
    let (a, new) = (home.project().join("a.txt"), home.project().join("new.txt"));
    fs::write(&a, "orig\n").unwrap();
    let mut notes = Vec::new();
    let mut snapshot = |checkpoints: &mut Checkpoints, number| {
        let line = checkpoints.prompt(&prompt(number)).unwrap();
        notes.push(("file-history-snapshot", line));
    };
    snapshot(checkpoints, 1);
    let first = checkpoints.before_change(&a).unwrap().unwrap();
    fs::write(&a, "CHANGED\n").unwrap();
    assert_eq!(checkpoints.before_change(&a).unwrap(), None, "once a turn is enough");
    let second = checkpoints.before_change(&new).unwrap().unwrap();
    assert_eq!(second["backup"]["backupFileName"], json!(null));
    assert_eq!(second["trackingPath"], json!("new.txt"));
    fs::write(&new, "N").unwrap();
    notes.extend([("file-history-delta", first), ("file-history-delta", second)]);
    let line = checkpoints.prompt(&prompt(2)).unwrap();
    notes.push(("file-history-snapshot", line));
    fs::write(&a, "AGAIN\n").unwrap();
    let typed = |(kind, mut line): (&str, Map<String, Value>)| {
        line.insert("type".to_owned(), kind.into());
        line
    };
    notes.into_iter().map(typed).collect()
}

fn checkpoints(home: &Home, file_history: &[Map<String, Value>]) -> Checkpoints {
    Checkpoints::new(&home.store, id(1), &home.project(), file_history)
}

fn names(files: &[PathBuf]) -> Vec<&str> {
    files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect()
}

#[test]
fn a_turn_is_taken_back() {
    let home = Home::new();
    let mut made = checkpoints(&home, &[]);
    let notes = two_turns(&home, &mut made);
    let read = |name: &str| fs::read_to_string(home.project().join(name)).ok();
    // A process that comes later knows the same from the transcript.
    for kept in [made, checkpoints(&home, &notes)] {
        fs::write(home.project().join("a.txt"), "AGAIN\n").unwrap();
        fs::write(home.project().join("new.txt"), "N").unwrap();

        let dry = kept.rewind(&prompt(1), true).unwrap();
        assert_eq!(names(&dry.files_changed), ["a.txt", "new.txt"]);
        assert_eq!((dry.insertions, dry.deletions, dry.skipped_links), (1, 2, 0));
        assert_eq!(read("a.txt").as_deref(), Some("AGAIN\n"), "a dry run changes nothing");

        assert_eq!(names(&kept.rewind(&prompt(2), false).unwrap().files_changed), ["a.txt"]);
        assert_eq!((read("a.txt").as_deref(), read("new.txt").as_deref()), (Some("CHANGED\n"), Some("N")));

        assert_eq!(kept.rewind(&prompt(1), false).unwrap().files_changed.len(), 2);
        assert_eq!((read("a.txt").as_deref(), read("new.txt")), (Some("orig\n"), None));
        assert_eq!(kept.rewind(&prompt(1), false).unwrap().files_changed.len(), 0);
        assert!(matches!(kept.rewind(&prompt(9), true), Err(RewindError::UnknownPrompt)));
    }
}

#[test]
fn the_transcript_carries_it() {
    let home = Home::new();
    let mut made = checkpoints(&home, &[]);
    let mut transcript = home.store.begin(id(1), Stamp::new(home.project(), "1", "sdk-cli"));
    transcript.append(NewEntry::user(json!({ "role": "user", "content": "x" }))).unwrap();
    for mut line in two_turns(&home, &mut made) {
        let kind = line.shift_remove("type").unwrap();
        transcript.note(kind.as_str().unwrap(), line).unwrap();
    }
    let past = home.store.load(id(1), None, &LoadOptions::default()).unwrap();
    assert_eq!(past.file_history.len(), 4);
    let kept = checkpoints(&home, &past.file_history);
    assert_eq!(kept.rewind(&prompt(1), true).unwrap().files_changed.len(), 2);
}

#[test]
fn links_are_not_written_through() {
    let home = Home::new();
    let mut made = checkpoints(&home, &[]);
    two_turns(&home, &mut made);
    let secret = home.dir.path().join("secret");
    fs::write(&secret, "keep").unwrap();
    let a = home.project().join("a.txt");
    fs::remove_file(&a).unwrap();
    symlink(&secret, &a).unwrap();
    let rewound = made.rewind(&prompt(1), false).unwrap();
    assert_eq!((rewound.skipped_links, names(&rewound.files_changed)), (1, vec!["new.txt"]));
    assert_eq!(fs::read_to_string(&secret).unwrap(), "keep");

    // The same by way of the directory.
    let home = Home::new();
    let folder = home.project().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("f"), "old").unwrap();
    let mut made = checkpoints(&home, &[]);
    made.prompt(&prompt(1)).unwrap();
    made.before_change(&folder.join("f")).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let elsewhere = home.dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, &folder).unwrap();
    assert_eq!(made.rewind(&prompt(1), false).unwrap().skipped_links, 1);
    assert!(!elsewhere.join("f").exists());
}

#[test]
fn a_hostile_transcript_points_nowhere_else() {
    let home = Home::new();
    let secret = home.dir.path().join("secret");
    fs::write(&secret, "private").unwrap();
    let backup =
        json!({ "backupFileName": "../../../secret", "backupTime": "", "realParentDir": home.project() });
    let line = json!({
        "type": "file-history-snapshot", "messageId": "prompt 1",
        "snapshot": { "trackedFileBackups": { "out.txt": backup } },
    });
    let odd =
        [json!({ "type": "file-history-delta" }), json!({ "type": "file-history-snapshot", "messageId": 7 })];
    let lines: Vec<Map<String, Value>> =
        std::iter::once(line).chain(odd).map(|line| line.as_object().unwrap().clone()).collect();
    let kept = checkpoints(&home, &lines);
    assert_eq!(kept.rewind(&prompt(1), false).unwrap().files_changed.len(), 0);
    assert!(!home.project().join("out.txt").exists());
}
