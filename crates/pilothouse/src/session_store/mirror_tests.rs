use super::*;
use crate::session_store::materialize::safe;

#[test]
fn files_are_keys() {
    let projects = [PathBuf::from("/h/projects"), PathBuf::from("/real/projects")];
    let cases: &[(&str, Option<&str>)] = &[
        ("/h/projects/-p/s.jsonl", Some("-p/s")),
        ("/real/projects/-p/s.jsonl", Some("-p/s")),
        ("/h/projects/-p/s/subagents/agent-1.jsonl", Some("-p/s/subagents/agent-1")),
        ("/h/projects/-p/s/subagents/workflows/r/agent-1.jsonl", Some("-p/s/subagents/workflows/r/agent-1")),
        ("/h/projects/s.jsonl", None),
        ("/h/projects/-p/s.txt", None),
        ("/h/projects/-p/../s.jsonl", None),
        ("/elsewhere/-p/s.jsonl", None),
        ("s.jsonl", None),
    ];
    for (file, expected) in cases {
        let key = key_of(Path::new(file), &projects);
        assert_eq!(key.map(|key| key.to_string()).as_deref(), *expected, "{file}");
    }
}

#[test]
fn only_paths_that_stay_inside_are_written() {
    for good in ["subagents/agent-1", "a"] {
        assert!(safe(good).is_some(), "{good}");
    }
    for bad in ["", "/etc/x", "../x", "a/../../x", "a/./x", "a//x", "C:/x", "a\\x", "a\0x", "a/"] {
        assert!(safe(bad).is_none(), "{bad:?}");
    }
}
