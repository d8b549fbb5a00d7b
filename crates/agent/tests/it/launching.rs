//! What the command line and the first requests decide.

use pilothouse_proto::control::{Initialize, SeedReadState};
use pilothouse_testkit::Turn;
use serde_json::json;

use crate::rig::Rig;

#[tokio::test]
async fn whoever_is_to_wait_for_initialize_takes_nothing_before_it() {
    let rig = Rig::new(&["--await-initialize"], vec![Turn::text("never")]);
    rig.say("too early").await;
    assert!(rig.api.main_calls().is_empty());
    assert_eq!(rig.finish().await.code, 1);

    let mut rig = Rig::new(&["--await-initialize"], vec![Turn::text("now")]);
    rig.host.request(Initialize::default()).await.unwrap();
    assert_eq!(rig.ask("in time").await, "now");
    assert_eq!(rig.finish().await.code, 0);
}

#[tokio::test]
async fn a_budget_for_the_task_reaches_the_api() {
    let mut rig = Rig::new(&["--task-budget", "50000"], vec![Turn::text("thrifty")]);
    rig.ask("go").await;
    let call = rig.api.main_calls().remove(0);
    assert_eq!(call.body["output_config"]["task_budget"], json!({"type": "tokens", "total": 50000}));
    assert!(
        call.headers.iter().any(|(name, value)| name == "anthropic-beta" && value.contains("task-budgets"))
    );
}

#[tokio::test]
async fn what_the_host_has_shown_counts_as_read() {
    let mut rig = Rig::new(&["--permission-mode", "acceptEdits"], vec![]);
    let path = rig.sandbox.write("a.txt", "old\n").unwrap();
    let modified = path.metadata().unwrap().modified().unwrap();
    let now = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64;
    // (the time that the host names, what the file has after the model wrote to it)
    for (mtime, content) in [(1_000, "old\n"), (now, "new\n")] {
        rig.api.push(Turn::tool("Write", json!({"file_path": path, "content": "new\n"})));
        rig.api.push(Turn::text("done"));
        let path = path.display().to_string();
        rig.host
            .request(SeedReadState { path, mtime: mtime.into(), extra: Default::default() })
            .await
            .unwrap();
        rig.ask("go").await;
        assert_eq!(rig.sandbox.read("a.txt").as_deref(), Some(content), "{mtime}");
    }
}
