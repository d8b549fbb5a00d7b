//! The tour of the demo, from end to end: everything it says must be so.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pilothouse::{PermissionRequest, Tools};
use pilothouse_testkit::Sandbox;
use serde_json::Value;

use crate::scripted;

#[tokio::test]
async fn the_tour_shows_what_it_says() {
    let sandbox = Sandbox::new().unwrap();
    // What `serve --demo` puts into its scratch project.
    let server = include_str!("../../src/serve/harbour.sh");
    let servers = r#"{"mcpServers": {"harbour": {"command": "sh", "args": ["harbour.sh"]}}}"#;
    for (file, text) in [
        ("harbour.sh", server),
        (".mcp.json", servers),
        (".claude/settings.json", include_str!("../../src/serve/hook.json")),
    ] {
        let path = sandbox.project().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let tools = [
        "Agent",
        "AskUserQuestion",
        "Bash",
        "Edit",
        "EnterPlanMode",
        "ExitPlanMode",
        "Read",
        "TodoWrite",
        "Write",
    ];
    let asked = Arc::new(Mutex::new(Vec::new()));
    let note = asked.clone();
    let session = scripted(&sandbox, include_str!("../../../model/src/script/demo.toml"))
        .env("CLAUDE_CODE_ENABLE_TASKS", "0")
        .tools(Tools::Only(tools.map(str::to_owned).to_vec()))
        .on_permission(move |request: PermissionRequest| {
            note.lock().unwrap().push(request.tool_name.clone());
            async move { request.allow() }
        })
        .connect()
        .await
        .unwrap();
    let mut turn = session.send("tour").await.unwrap();
    let mut frames = Vec::new();
    let all = async {
        while let Some(event) = turn.next().await {
            if let Some(frame) = event.unwrap().frame() {
                frames.push(serde_json::to_value(frame).unwrap());
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all).await.unwrap();
    let result = turn.await.unwrap();
    assert!(result.text().contains("I see these files:"), "the subagent has reported: {}", result.text());
    assert!(result.text().contains("/compact"), "{}", result.text());

    let said = Value::Array(frames).to_string();
    for part in [
        "a model thinking",
        "steps are open",
        "High water is at",
        "a hook of the scratch project has seen the edit",
        "only its report comes back",
    ] {
        assert!(said.contains(part), "{part:?} is not in {said}");
    }
    assert!(!said.contains("did not happen"), "{said}");
    let asked = asked.lock().unwrap().clone();
    assert_eq!(asked, ["Write", "Edit", "mcp__harbour__tide", "AskUserQuestion", "ExitPlanMode"]);

    session.send("/compact").await.unwrap().await.unwrap().ok().unwrap();
    let result = session.send("hello").await.unwrap().await.unwrap();
    assert!(result.text().contains("This is the demo"), "{}", result.text());
    session.close().await;
}
