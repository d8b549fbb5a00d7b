//! What a session takes along when another process goes on with it.

use std::sync::Arc;

use pilothouse_proto::TurnResult;
use pilothouse_proto::control::RewindFiles;
use pilothouse_testkit::{Sandbox, Turn};
use serde_json::json;

use crate::rig::Rig;

fn cost(result: &TurnResult) -> f64 {
    result.total_cost_usd.as_ref().and_then(|cost| cost.as_f64()).unwrap()
}

#[tokio::test]
async fn what_was_spent_is_carried_over() {
    // Whether the first process came to write down what it spent.
    for in_peace in [true, false] {
        let sandbox = Arc::new(Sandbox::new().unwrap());
        let mut first = Rig::in_home(sandbox.clone(), &[], vec![Turn::text("one").usage(1_000, 100)]);
        first.say("first").await;
        let (_, result) = first.turn().await;
        let spent = cost(&result);
        assert!(spent > 0.0);
        assert_eq!(first.finish().await.code, 0);
        if !in_peace {
            forget_cost_lines(&sandbox);
        }
        let mut second = Rig::in_home(sandbox, &["--continue"], vec![Turn::text("two").usage(1_000, 100)]);
        second.say("second").await;
        let (_, result) = second.turn().await;
        // Lines of answers were written while the answers were, so their last tokens are not in them.
        let least = if in_peace { 2.0 * spent } else { 1.5 * spent };
        let total = cost(&result);
        assert!(total > least - 1e-9 && total < 2.0 * spent + 1e-9, "{in_peace}: {total} after {spent}");
        let since = result.model_usage_since_last_result.as_ref().unwrap();
        assert_eq!(since.values().map(|usage| usage.input_tokens).sum::<u64>(), 1_000);
        assert_eq!(second.finish().await.code, 0);
    }
}

#[tokio::test]
async fn what_a_killed_process_spent_comes_on_top_of_what_was_written_down() {
    let sandbox = Arc::new(Sandbox::new().unwrap());
    let answer = || vec![Turn::text("well").usage(1_000, 100)];
    let mut first = Rig::in_home(sandbox.clone(), &[], answer());
    first.say("first").await;
    let spent = cost(&first.turn().await.1);
    assert_eq!(first.finish().await.code, 0);
    // Each scripted API counts from one, and no two real answers have the same id.
    let path = transcript(&sandbox);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"msg_", "\"msg_first_")).unwrap();
    let line = cost_line(&sandbox);

    let mut second = Rig::in_home(sandbox.clone(), &["--continue"], answer());
    second.say("second").await;
    second.turn().await;
    assert_eq!(second.finish().await.code, 0);
    // As if the second had been killed: only what the first wrote down is there.
    forget_cost_lines(&sandbox);
    append(&sandbox, &line);

    let mut third = Rig::in_home(sandbox, &["--continue"], answer());
    third.say("third").await;
    let total = cost(&third.turn().await.1);
    assert!(total > 2.5 * spent - 1e-9 && total < 3.0 * spent + 1e-9, "{total} after {spent} each");
    assert_eq!(third.finish().await.code, 0);
}

fn transcript(sandbox: &Sandbox) -> std::path::PathBuf {
    let folder = std::fs::read_dir(sandbox.config().join("projects")).unwrap().next().unwrap().unwrap();
    let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
    files.into_iter().find(|path| path.extension().is_some_and(|end| end == "jsonl")).unwrap()
}

fn cost_line(sandbox: &Sandbox) -> String {
    let text = std::fs::read_to_string(transcript(sandbox)).unwrap();
    text.lines().find(|line| line.contains("cost-state")).unwrap().to_owned()
}

fn append(sandbox: &Sandbox, line: &str) {
    let path = transcript(sandbox);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{line}\n")).unwrap();
}

/// As if the process had been killed before its end.
fn forget_cost_lines(sandbox: &Sandbox) {
    let folders = std::fs::read_dir(sandbox.config().join("projects")).unwrap();
    for file in folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap()) {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("cost-state"), "{text}");
        let kept: Vec<&str> = text.lines().filter(|line| !line.contains("cost-state")).collect();
        std::fs::write(&path, kept.join("\n") + "\n").unwrap();
    }
}

#[tokio::test]
async fn a_fork_can_take_back_edits_from_before_it() {
    const PROMPT: &str = "6f1d5a52-7c7e-4f53-9d0b-1f0d5a8f6a11";
    let sandbox = Arc::new(Sandbox::new().unwrap());
    let path = sandbox.write("a.txt", "before\n").unwrap();
    let script = vec![
        Turn::tool("Read", json!({"file_path": path})),
        Turn::tool("Write", json!({"file_path": path, "content": "after\n"})),
        Turn::text("done"),
    ];
    let mut first = Rig::in_home(sandbox.clone(), &["--permission-mode", "acceptEdits"], script);
    first.say_as("change it", PROMPT).await;
    first.turn().await;
    assert_eq!(sandbox.read("a.txt").as_deref(), Some("after\n"));
    assert_eq!(first.finish().await.code, 0);

    let mut fork =
        Rig::in_home(sandbox.clone(), &["--continue", "--fork-session"], vec![Turn::text("forked")]);
    assert_eq!(fork.ask("go on").await, "forked");
    let rewind = RewindFiles { user_message_id: PROMPT.into(), ..RewindFiles::default() };
    fork.host.request(rewind).await.unwrap();
    assert_eq!(sandbox.read("a.txt").as_deref(), Some("before\n"));
    assert_eq!(fork.finish().await.code, 0);

    // The fork's own transcript knows it, too.
    std::fs::write(&path, "later\n").unwrap();
    let mut again = Rig::in_home(sandbox.clone(), &["--continue"], vec![Turn::text("again")]);
    assert_eq!(again.ask("and now").await, "again");
    let rewind = RewindFiles { user_message_id: PROMPT.into(), ..RewindFiles::default() };
    again.host.request(rewind).await.unwrap();
    assert_eq!(sandbox.read("a.txt").as_deref(), Some("before\n"));
}
