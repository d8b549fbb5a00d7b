//! What an edit changes, and what it leaves alone.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;

use pilothouse_settings::{Change, EditError, edit_file, edit_text};
use serde_json::json;
use similar::{ChangeTag, TextDiff};

/// Lines that left and lines that came.
fn changed_lines(old: &str, new: &str) -> (Vec<String>, Vec<String>) {
    let diff = TextDiff::from_lines(old, new);
    let of = |tag| {
        diff.iter_all_changes()
            .filter(|change| change.tag() == tag)
            .map(|change| change.to_string_lossy().trim_end().to_owned())
            .collect()
    };
    (of(ChangeTag::Delete), of(ChangeTag::Insert))
}

/// A file no formatter would write: tabs, aligned colons, several members on a line, escapes, blank lines.
fn hand_formatted() -> String {
    let mut text = String::from("{\n\n\t\"env\" : {\n");
    for index in 0..240 {
        let comma = if index == 239 { "" } else { "," };
        let _ = writeln!(text, "      \"KEY_{index:03}\"{:>4} \"v\\u0061l {index}\"{comma}", ":");
    }
    text.push_str("  },\n  \"permissions\":{\"allow\":[\n");
    for index in 0..240 {
        let comma = if index == 239 { "" } else { "," };
        let _ = writeln!(text, "    \"Bash(tool{index} *)\"  {comma}");
    }
    text.push_str("\n  ], \"deny\": [ ],   \"defaultMode\":   \"plan\" },\n");
    for index in 0..20 {
        let _ = writeln!(text, "  \"mine{index}\": {{ \"a\":1.50,\"b\" : [ 1,2 , 3 ] }},");
    }
    text.push_str("\n\n  \"model\":\"sonnet\" , \"last\": 1e3\n}\n\n");
    text
}

#[test]
fn editing_one_key_of_a_long_file_changes_one_line() {
    let text = hand_formatted();
    assert!(text.lines().count() >= 500);
    let cases = [
        (
            Change::set(&["env", "KEY_120"], "new"),
            "      \"KEY_120\"   : \"v\\u0061l 120\",",
            "      \"KEY_120\"   : \"new\",",
        ),
        (
            Change::set(&["model"], "opus"),
            "  \"model\":\"sonnet\" , \"last\": 1e3",
            "  \"model\":\"opus\" , \"last\": 1e3",
        ),
        (
            Change::set(&["permissions", "defaultMode"], "default"),
            "  ], \"deny\": [ ],   \"defaultMode\":   \"plan\" },",
            "  ], \"deny\": [ ],   \"defaultMode\":   \"default\" },",
        ),
        (
            Change::set(&["mine7", "a"], json!(2)),
            "  \"mine7\": { \"a\":1.50,\"b\" : [ 1,2 , 3 ] },",
            "  \"mine7\": { \"a\":2,\"b\" : [ 1,2 , 3 ] },",
        ),
    ];
    for (change, old, new) in cases {
        let edited = edit_text(&text, &[change]).expect("edited");
        assert_eq!(changed_lines(&text, &edited), (vec![old.to_owned()], vec![new.to_owned()]));
    }
    let edited = edit_text(&text, &[Change::remove(&["env", "KEY_007"])]).expect("edited");
    assert_eq!(
        changed_lines(&text, &edited),
        (vec!["      \"KEY_007\"   : \"v\\u0061l 7\",".to_owned()], vec![])
    );
    let edited = edit_text(&text, &[Change::take(&["permissions", "allow"], ["Bash(tool5 *)"])]);
    assert_eq!(
        changed_lines(&text, &edited.expect("edited")),
        (vec!["    \"Bash(tool5 *)\"  ,".to_owned()], vec![])
    );
    let same = edit_text(&text, &[Change::set(&["model"], "sonnet")]).expect("edited");
    assert_eq!(same, text);
}

#[test]
fn edits_read_as_a_person_would_write_them() {
    let allow = &["permissions", "allow"];
    for (old, change, new) in [
        // The layout the agent CLI itself writes.
        (
            "",
            Change::append(allow, ["Bash(touch:*)"]),
            "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(touch:*)\"\n    ]\n  }\n}\n",
        ),
        ("{}", Change::set(&["model"], "x"), "{\n  \"model\": \"x\"\n}"),
        (
            "{\n  \"a\": 1\n}\n",
            Change::append(allow, ["Read"]),
            "{\n  \"a\": 1,\n  \"permissions\": {\n    \"allow\": [\n      \"Read\"\n    ]\n  }\n}\n",
        ),
        (
            "{\"permissions\": {\"allow\": [\"a\", \"b\"]}}",
            Change::append(allow, ["c", "a"]),
            "{\"permissions\": {\"allow\": [\"a\", \"b\", \"c\"]}}",
        ),
        (
            "{\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"a\"\n\t\t]\n\t}\n}",
            Change::append(allow, ["b"]),
            "{\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"a\",\n\t\t\t\"b\"\n\t\t]\n\t}\n}",
        ),
        (
            "{\r\n  \"a\": 1\r\n}\r\n",
            Change::set(&["b"], json!(2)),
            "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n",
        ),
        ("\u{feff}{\"a\": 1}", Change::set(&["a"], json!(2)), "\u{feff}{\"a\": 2}"),
        ("{\"a\": 1, \"a\": 2}", Change::set(&["a"], json!(3)), "{\"a\": 1, \"a\": 3}"),
        ("{\"a\": 1, \"a\": 2, \"b\": 1}", Change::remove(&["a"]), "{ \"b\": 1}"),
        ("{\"\\u0061\": 1}", Change::set(&["a"], "q\"\\\n"), "{\"\\u0061\": \"q\\\"\\\\\\n\"}"),
    ] {
        let edited = edit_text(old, std::slice::from_ref(&change)).expect("edited");
        assert_eq!(edited, new, "{change:?}");
    }
}

#[test]
fn a_file_that_does_not_fit_is_not_touched() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("settings.json");
    let change = [Change::append(&["permissions", "allow"], ["Read"])];
    for (bytes, told) in [
        (&b"{bad"[..], "settings.json:1:2: "),
        (b"{} // note", "settings.json:1:4: "),
        (b"[]", "`settings` is not an object"),
        (b"{\"permissions\": 1}", "`permissions` is not an object"),
        (b"{\"permissions\": {\"allow\": \"x\"}}", "`permissions.allow` is not a list"),
        (b"\xff", "is not UTF-8"),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", "settings.json:1:1: "),
    ] {
        std::fs::write(&file, bytes).expect("written");
        let error = edit_file(&file, &change).expect_err("refused");
        assert!(error.to_string().contains(told), "{error}");
        assert_eq!(std::fs::read(&file).expect("read"), bytes);
    }
    assert!(matches!(edit_text("{}", &[Change::Remove { path: Vec::new() }]), Err(EditError::NoPath)));
    let deep = "[".repeat(100_000);
    assert!(edit_text(&deep, &change).is_err());
}

#[test]
fn links_modes_and_missing_directories() {
    let dir = tempfile::tempdir().expect("a directory");
    let real = dir.path().join("dotfiles/real.json");
    std::fs::create_dir_all(real.parent().expect("a parent")).expect("made");
    std::fs::write(&real, "{}\n").expect("written");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).expect("mode");
    let link = dir.path().join("link.json");
    std::os::unix::fs::symlink("dotfiles/real.json", &link).expect("linked");

    let edited = edit_file(&link, &[Change::set(&["model"], "x")]).expect("edited");
    assert!(edited.changed);
    assert!(link.is_symlink());
    assert_eq!(std::fs::read_to_string(&real).expect("read"), "{\n  \"model\": \"x\"\n}\n");
    let mode = std::fs::metadata(&real).expect("metadata").permissions().mode();
    assert_eq!(mode & 0o7777, 0o640);
    let again = edit_file(&link, &[Change::set(&["model"], "x")]).expect("edited");
    assert!(!again.changed);

    // A link to nothing yet, and directories that are not there yet.
    let dangling = dir.path().join("dangling.json");
    std::os::unix::fs::symlink("a/b/new.json", &dangling).expect("linked");
    edit_file(&dangling, &[Change::set(&["model"], "y")]).expect("edited");
    assert!(dir.path().join("a/b/new.json").is_file());

    let turning = dir.path().join("turning.json");
    std::os::unix::fs::symlink("turning.json", &turning).expect("linked");
    let error = edit_file(&turning, &[Change::set(&["model"], "y")]).expect_err("a loop");
    assert!(error.to_string().contains("follow the links of"), "{error}");
}
