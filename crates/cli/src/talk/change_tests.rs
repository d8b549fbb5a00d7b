//! What is shown of a change, as `sign text` lines.

use std::fs;

use serde_json::json;

use super::*;

fn shown(rows: &[Row]) -> Vec<String> {
    let sign = |kind| match kind {
        RowKind::Added => '+',
        RowKind::Removed => '-',
        RowKind::Context => ' ',
        RowKind::Place => '@',
        RowKind::Note => '!',
        RowKind::Value => '>',
    };
    rows.iter().map(|row| format!("{}{}", sign(row.kind), row.text)).collect()
}

#[test]
fn changes_are_shown_against_the_file_on_disk() {
    let home = tempfile::tempdir().unwrap();
    let cwd = home.path();
    fs::write(cwd.join("a"), "one\ntwo\nthree\ntwo\n").unwrap();
    fs::write(cwd.join("bare"), "one").unwrap();
    fs::write(cwd.join("binary"), b"\xff\xfe").unwrap();
    fs::create_dir(cwd.join("dir")).unwrap();
    let cell = json!({"cells": [
        {"id": "x", "cell_type": "code", "source": ["a = 1\n", "b = 2"]}, {"cell_type": "markdown", "source": "hi"}
    ]});
    fs::write(cwd.join("n.ipynb"), cell.to_string()).unwrap();
    let cases = [
        (
            "Edit",
            json!({"file_path": "a", "old_string": "two\nthree", "new_string": "2\nthree"}),
            vec!["@@@ -1,4 +1,4 @@", " one", "-two", "+2", " three", " two"],
        ),
        (
            "Edit",
            json!({"file_path": "a", "old_string": "two", "new_string": "2", "replace_all": true}),
            vec!["@@@ -1,4 +1,4 @@", " one", "-two", "+2", " three", "-two", "+2"],
        ),
        (
            "Edit",
            json!({"file_path": "a", "old_string": "four", "new_string": "4"}),
            vec![
                "!the text to replace is not in the file as it is now; the call is likely to fail",
                "@@@ -1 +1 @@",
                "-four",
                "!\\ no newline at the end",
                "+4",
                "!\\ no newline at the end",
            ],
        ),
        (
            "MultiEdit",
            json!({"file_path": "a", "edits": [
                {"old_string": "one", "new_string": "1"}, {"old_string": "1", "new_string": "I"}
            ]}),
            vec!["@@@ -1,4 +1,4 @@", "-one", "+I", " two", " three", " two"],
        ),
        ("Write", json!({"file_path": "new", "content": "x\n"}), vec!["!a new file", "@@@ -0,0 +1 @@", "+x"]),
        ("Write", json!({"file_path": "new", "content": ""}), vec!["!a new file", "!empty"]),
        ("Write", json!({"file_path": "a", "content": "one\ntwo\nthree\ntwo\n"}), vec!["!no change"]),
        (
            "Write",
            json!({"file_path": "bare", "content": "one\n", "mode": "0777"}),
            vec!["@@@ -1 +1 @@", "-one", "!\\ no newline at the end", "+one", "!mode: 0777"],
        ),
        (
            "Write",
            json!({"file_path": "binary", "content": "x\n"}),
            vec!["!the file cannot be compared: it is not UTF-8 text", "@@@ -0,0 +1 @@", "+x"],
        ),
        (
            "Write",
            json!({"file_path": "dir", "content": "x\n"}),
            vec!["!the file cannot be compared: it is not a regular file", "@@@ -0,0 +1 @@", "+x"],
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "n.ipynb", "cell_id": "x", "new_source": "a = 1\nb = 3"}),
            vec![
                "@replace cell x",
                "@@@ -1,2 +1,2 @@",
                " a = 1",
                "-b = 2",
                "!\\ no newline at the end",
                "+b = 3",
                "!\\ no newline at the end",
            ],
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "n.ipynb", "cell_id": "cell-1", "edit_mode": "delete", "new_source": ""}),
            vec!["@delete cell cell-1", "@@@ -1 +0,0 @@", "-hi", "!\\ no newline at the end"],
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "n.ipynb", "cell_number": 7, "new_source": "c\n"}),
            vec![
                "@replace cell number 7",
                "!this cell is not in the notebook as it is now",
                "@@@ -0,0 +1 @@",
                "+c",
            ],
        ),
    ];
    for (tool, input, expected) in cases {
        let (_, rows) = of(tool, input.as_object().unwrap(), cwd).unwrap();
        assert_eq!(shown(&rows), expected, "{tool} {input}");
    }
}

#[test]
fn a_call_that_makes_no_sense_is_left_to_be_shown_as_it_is() {
    for (tool, input) in [
        ("Edit", json!({"file_path": "a"})),
        ("Write", json!({"file_path": "a", "content": 7})),
        ("MultiEdit", json!({"file_path": "a", "edits": [7]})),
        ("Edit", json!({"file_path": 7, "old_string": "", "new_string": ""})),
        ("Bash", json!({"command": "ls"})),
    ] {
        assert_eq!(of(tool, input.as_object().unwrap(), Path::new("/")), None, "{tool} {input}");
    }
}

#[test]
fn a_link_tells_where_it_leads() {
    let home = tempfile::tempdir().unwrap();
    let (cwd, other) = (home.path().join("project"), home.path().join("other"));
    fs::create_dir(&cwd).unwrap();
    fs::create_dir(&other).unwrap();
    fs::write(other.join("keys"), "k\n").unwrap();
    std::os::unix::fs::symlink(&other, cwd.join("docs")).unwrap();
    std::os::unix::fs::symlink(other.join("keys"), cwd.join("notes")).unwrap();
    let other = fs::canonicalize(other).unwrap();
    for (path, target, line) in [("docs/keys", "keys", 0), ("notes", "keys", 0), ("docs/new", "new", 1)] {
        let input = json!({"file_path": cwd.join(path), "content": "x\n"});
        let (_, rows) = of("Write", input.as_object().unwrap(), &cwd).unwrap();
        let note = format!("!the path is a link: the file is {}", other.join(target).display());
        assert_eq!(shown(&rows).get(line), Some(&note), "{path}");
    }
}
