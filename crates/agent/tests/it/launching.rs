//! What the command line and the first requests decide.

use pilothouse_link::Event;
use pilothouse_proto::control::{Initialize, SeedReadState};
use pilothouse_proto::{HostFrame, HostRequest, Unknown};
use pilothouse_testkit::Turn;
use serde_json::{Value, json};

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

#[tokio::test]
async fn servers_of_the_first_initialize_are_taken_only_where_the_command_line_waits_for_them() {
    let servers = |name: &str| json!({name: {"command": "/bin/false"}, "broken": {"command": 7}});
    for (flags, taken) in [(&["--await-initialize"][..], true), (&[], false)] {
        let rig = Rig::new(flags, vec![]);
        assert_eq!(initialized(&rig, servers("ext")).await["mcp_servers_applied"], taken, "{flags:?}");
        let status = rig.ctl(json!({"subtype": "mcp_status"})).await.unwrap();
        let names: Vec<&Value> =
            status["mcpServers"].as_array().unwrap().iter().map(|server| &server["name"]).collect();
        assert_eq!(names.contains(&&json!("ext")), taken, "{flags:?}: {names:?}");
        assert!(!names.contains(&&json!("broken")), "{flags:?}: {names:?}");
        let again = initialized(&rig, servers("ext")).await;
        assert_eq!(again["mcp_servers_applied"], taken, "{flags:?}: the same once more");
        let other = initialized(&rig, servers("late")).await;
        assert_eq!(other["mcp_servers_applied"], false, "{flags:?}: too late for others");
        let none = initialized(&rig, json!({})).await;
        assert_eq!(none.get("mcp_servers_applied"), None);
        assert_eq!(rig.finish().await.code, 0);
    }
}

/// Sends `initialize` with servers that need not be readable, and gives the answer.
async fn initialized(rig: &Rig, servers: Value) -> Value {
    let fields = json!({ "mcpServers": servers }).as_object().unwrap().clone().into();
    let request = HostRequest::Unknown(Unknown { tag: "initialize".to_owned(), fields });
    rig.host.ask("initialize", request, None).await.unwrap().payload().unwrap()
}

#[tokio::test]
async fn a_mode_for_one_server_is_refused_unless_it_is_stricter() {
    let rig = Rig::new(&[], vec![]);
    let hold = |name: Value, mode: Value| json!({"subtype": "set_mcp_permission_mode_override", "serverName": name, "mode": mode});
    for mode in [json!("default"), json!("auto"), json!(null)] {
        let reply = rig.ctl(hold(json!("nobody"), mode)).await.unwrap();
        assert!(reply["warning"].as_str().unwrap().contains("'nobody'"), "{reply}");
    }
    for mode in ["plan", "bypassPermissions", "acceptEdits", "dontAsk", "tomorrow"] {
        assert!(rig.ctl(hold(json!("nobody"), json!(mode))).await.is_err(), "{mode}");
    }
    let bare = json!({"subtype": "set_mcp_permission_mode_override", "serverName": "nobody"});
    assert!(rig.ctl(bare).await.unwrap_err().contains("must be one of"));
}

#[tokio::test]
async fn progress_of_a_request_without_an_id_names_none() {
    let mut rig = Rig::new(&[], vec![Turn::text("aside")]);
    let request = json!({"request": {"subtype": "side_question", "question": "why"}});
    let fields = request.as_object().unwrap().clone().into();
    let line = HostFrame::Unknown(Unknown { tag: "control_request".to_owned(), fields });
    rig.host.send(&line).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 2 {
        match rig.events.next().await.unwrap() {
            Event::Frame { raw, .. } | Event::StrayReply { raw, .. } => {
                seen.push(serde_json::from_slice::<Value>(&raw).unwrap());
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((&seen[0]["subtype"], seen[0].get("request_id")), (&json!("control_request_progress"), None));
    assert_eq!(seen[1]["response"].get("request_id"), None);
    assert_eq!(seen[1]["response"]["response"]["response"], "aside");
}
