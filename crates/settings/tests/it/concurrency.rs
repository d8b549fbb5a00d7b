//! Many editors at once, and editors that are killed. The editors are processes: this test binary, started again.
#![expect(
    clippy::disallowed_methods,
    reason = "the children are killed on purpose and must not be supervised"
)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pilothouse_settings::{Change, edit_file};
use serde_json::{Value, json};

const FILE: &str = "SETTINGS_TEST_FILE";
const EDITOR: &str = "SETTINGS_TEST_EDITOR";
const EDITORS: usize = 50;

/// Does nothing in a normal run; the other tests start this binary again with the variables set.
#[test]
fn act_as_an_editor() {
    let (Some(file), Some(editor)) = (std::env::var_os(FILE), std::env::var_os(EDITOR)) else {
        return;
    };
    let file = PathBuf::from(file);
    let editor = editor.into_string().expect("UTF-8");
    match editor.strip_prefix("endless") {
        Some(_) => {
            for round in 0_u64.. {
                let filler = "x".repeat(40_000);
                let value = json!({"round": round, "filler": filler, "again": round});
                edit_file(&file, &[Change::set(&["state"], value)]).expect("edited");
            }
        }
        None => {
            for round in 0..3 {
                let rule = format!("Bash(editor{editor} {round})");
                let mine = [
                    Change::append(&["permissions", "allow"], [rule]),
                    Change::set(&["env", &format!("E{editor}")], round.to_string()),
                ];
                edit_file(&file, &mine).expect("edited");
            }
        }
    }
}

fn start(file: &Path, editor: &str) -> Child {
    Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "concurrency::act_as_an_editor", "--nocapture"])
        .env(FILE, file)
        .env(EDITOR, editor)
        .stdout(Stdio::null())
        .spawn()
        .expect("started")
}

fn read(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).expect("read");
    serde_json::from_str(&text).expect("whole JSON")
}

#[test]
fn fifty_editors_lose_no_edit() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("settings.json");
    std::fs::write(&file, "{\"keep\": [1, 2]}\n").expect("written");
    let children: Vec<Child> = (0..EDITORS).map(|editor| start(&file, &editor.to_string())).collect();
    for mut child in children {
        assert!(child.wait().expect("waited").success());
    }
    let settings = read(&file);
    assert_eq!(settings["keep"], json!([1, 2]));
    let allow = settings["permissions"]["allow"].as_array().expect("a list");
    assert_eq!(allow.len(), EDITORS * 3);
    for editor in 0..EDITORS {
        assert_eq!(settings["env"][format!("E{editor}")], json!("2"));
        assert!(allow.contains(&json!(format!("Bash(editor{editor} 1)"))));
    }
    let left: Vec<_> = std::fs::read_dir(dir.path()).expect("read").collect();
    assert_eq!(left.len(), 1, "nothing but the file is left");
}

#[test]
fn a_killed_editor_leaves_the_old_file_or_the_new_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("settings.json");
    std::fs::write(&file, "{}\n").expect("written");
    let mut progress = 0;
    for kill in 0..40_u64 {
        let mut child = start(&file, "endless");
        let before = read(&file)["state"]["round"].as_u64();
        let give_up = Instant::now() + Duration::from_secs(20);
        while read(&file)["state"]["round"].as_u64() == before && Instant::now() < give_up {
            std::thread::sleep(Duration::from_millis(1));
        }
        // A different moment of the write each time.
        std::thread::sleep(Duration::from_micros(kill * 137 % 5_000));
        child.kill().expect("SIGKILL");
        child.wait().expect("waited");
        let state = read(&file)["state"].clone();
        assert_eq!(state["round"], state["again"]);
        assert_eq!(state["filler"].as_str().map(str::len), Some(40_000));
        progress += u64::from(state["round"].as_u64() != before);
    }
    assert!(progress > 0, "the editors never got to write");
    // The next writer clears away what the killed ones left.
    edit_file(&file, &[Change::set(&["done"], json!(true))]).expect("edited");
    let left: Vec<_> = std::fs::read_dir(dir.path()).expect("read").collect();
    assert_eq!(left.len(), 1);
}
