use serde_json::{Value, json};

use super::Digest;
use crate::id::SessionId;
use crate::info::read_info;

/// Transcripts of every kind: what a digest says of them is what a list says of their files.
fn transcripts() -> Vec<Vec<Value>> {
    let user = |text: &str| json!({"type": "user", "message": {"role": "user", "content": text}});
    let titled = |name: &str, title: &str| json!({"type": "x", name: title});
    vec![
        vec![user("Fix  the\ntests"), titled("gitBranch", "main"), titled("gitBranch", "work")],
        vec![
            user(&"long ".repeat(100)),
            json!({"type": "tag", "tag": "old"}),
            json!({"type": "tag", "tag": ""}),
        ],
        vec![titled("aiTitle", "By the model"), user("p"), json!({"type": "tag", "tag": "kept"})],
        vec![
            titled("customTitle", "By a person"),
            titled("aiTitle", "By the model"),
            titled("customTitle", " "),
        ],
        vec![titled("summary", "hint"), titled("lastPrompt", "the last"), user("the first")],
        vec![
            json!({"type": "user", "isMeta": true, "message": {"content": "meta"}}),
            user("<command-name>/clear</command-name>"),
            json!({"type": "user", "timestamp": "2026-01-02T03:04:05.678Z", "cwd": "/p", "entrypoint": "sdk-py",
                "message": {"content": [{"type": "text", "text": "by list"}]}}),
        ],
        vec![
            user("<command-name>/clear</command-name>"),
            user("<local-command-stdout>x</local-command-stdout>"),
        ],
        vec![json!({"type": "user", "isSidechain": true, "message": {"content": "subagent"}})],
        vec![json!({"type": "progress"})],
    ]
}

#[test]
fn a_digest_says_what_a_list_says() {
    let folder = tempfile::tempdir().unwrap();
    let id: SessionId = "00000000-0000-4000-8000-00000000000a".parse().unwrap();
    for (number, entries) in transcripts().iter().enumerate() {
        let path = folder.path().join(format!("{number}.jsonl"));
        std::fs::write(&path, entries.iter().map(|entry| format!("{entry}\n")).collect::<String>()).unwrap();
        let mut listed = read_info(id, &path).unwrap();
        if let Some(listed) = &mut listed {
            (listed.path, listed.file_size, listed.last_modified) = (Default::default(), 0, 7);
        }
        let mut digest = Digest::default();
        for entry in entries {
            digest.add(entry.as_object());
            // It survives being kept between any two entries.
            digest = serde_json::from_str(&serde_json::to_string(&digest).unwrap()).unwrap();
        }
        assert_eq!(digest.info(id, 7), listed, "{entries:?}");
    }
}
