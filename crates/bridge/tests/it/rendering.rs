//! What a page shows: made by the bridge, safe to insert, once for everybody.

use serde_json::{Value, json};

use crate::harness::{Peer, Place};

pub(crate) fn assistant(content: Value) -> Value {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": content,
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 40_000, "output_tokens": 10_000}});
    json!({"type": "assistant", "parent_tool_use_id": null, "message": message})
}

pub(crate) fn tool_result(id: &str, content: &str, details: &Value) -> Value {
    let content = json!([{"type": "tool_result", "tool_use_id": id, "content": content}]);
    json!({"type": "user", "parent_tool_use_id": null, "message": {"role": "user", "content": content},
        "tool_use_result": details})
}

/// Has the CLI write these frames in one turn.
pub(crate) async fn tell(peer: &mut Peer, session: &str, frames: &Value) {
    peer.say(json!({"type": "input", "text": frames.to_string(), "sessionId": session})).await;
}

#[tokio::test]
async fn words_are_html_that_can_do_no_harm() {
    let place = Place::new("as_told");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    let content = json!([
        {"type": "thinking", "thinking": "*hm*", "signature": ""},
        {"type": "text", "text": "a <script>alert(1)</script> [x](javascript:alert(1)) **b**\n\n```rust\nfn\n```"},
        {"type": "tool_use", "id": "toolu_1", "name": "<img src=x onerror=alert(1)>", "input": {}},
    ]);
    tell(&mut peer, &session, &json!([assistant(content)])).await;
    let input = peer.until("user_input").await;
    assert!(input["rendered"].as_str().unwrap().starts_with("<p>[{"), "{input}");
    let said = peer.until("assistant").await;
    let rendered = said["rendered"].as_array().unwrap();
    assert_eq!((rendered.len(), &rendered[2]), (3, &Value::Null), "one for each block");
    assert_eq!(rendered[0], "<p><em>hm</em></p>\n");
    let html = rendered[1].as_str().unwrap();
    assert!(html.contains("&lt;script&gt;") && html.contains("<strong>b</strong>"), "{html}");
    assert!(html.contains("<code class=\"language-rust\"><span class=\"hl-keyword\">fn</span>"), "{html}");
    assert!(!html.contains("<script") && !html.contains("javascript:"), "{html}");
    assert_eq!(said["message"]["content"][2]["name"], "<img src=x onerror=alert(1)>", "data stays as it is");
    peer.until("result").await;
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn changes_of_files_are_shown_before_and_after() {
    let place = Place::new("as_told");
    let file = place.sandbox.project().join("a.rs");
    std::fs::write(&file, "one\ntwo\nthree\n").unwrap();
    let file = format!("{}/a.rs", place.project());
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    let input = json!({"file_path": file, "old_string": "two", "new_string": "<two>"});
    let ask = |tool: &str, id: &str, input: &Value| json!({"ask": {"subtype": "can_use_tool", "tool_name": tool, "tool_use_id": id, "input": input}});
    let patch =
        json!([{"oldStart": 2, "oldLines": 1, "newStart": 2, "newLines": 1, "lines": ["-two", "+<two>"]}]);
    let details = json!({"filePath": file, "oldString": "two", "newString": "<two>", "originalFile": "one",
        "structuredPatch": patch, "userModified": false, "replaceAll": false});
    let call = json!([{"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": input}]);
    let outside = json!({"file_path": "/etc/passwd", "content": "x"});
    let frames = json!([
        assistant(call),
        ask("Edit", "toolu_1", &input),
        tool_result("toolu_1", "ok", &details),
        ask("Write", "toolu_2", &outside),
        ask("ExitPlanMode", "toolu_3", &json!({"plan": "1. *go*"})),
        ask("Bash", "toolu_4", &json!({"command": "echo '</code><script>'"})),
    ]);
    tell(&mut peer, &session, &frames).await;

    let asked = peer.until("permission_request").await;
    let lines = &asked["preview"]["diff"]["hunks"][0]["lines"];
    assert_eq!(asked["preview"]["kind"], "diff");
    assert_eq!(lines[0], json!({"kind": " ", "html": "one"}), "the lines around it come from the file");
    assert_eq!(lines[2], json!({"kind": "+", "html": "&lt;two&gt;"}));
    peer.say(json!({"type": "list_sessions"})).await;
    let listed = peer.until("session_list").await["sessions"][0].clone();
    assert_eq!(listed["approvals"][0]["preview"], asked["preview"], "the list has the whole approval");
    assert_eq!(listed["contextPercent"], Value::Null, "nobody has said yet how large the window is");
    assert!(listed["turnStartedAt"].as_i64().unwrap() >= listed["createdAt"].as_i64().unwrap());
    peer.say(json!({"type": "approve", "id": "toolu_1"})).await;

    let done = peer.until("tool_result").await;
    assert_eq!((&done["toolName"], &done["diff"]["hunks"][0]["oldStart"]), (&json!("Edit"), &json!(2)));
    assert_eq!(done["diff"]["added"], 1);
    let rows = [
        ("toolu_2", "diff", "x"),
        ("toolu_3", "plan", "<em>go</em>"),
        ("toolu_4", "command", "&lt;/code&gt;"),
    ];
    for (id, kind, part) in rows {
        let asked = peer.until("permission_request").await;
        assert_eq!(asked["preview"]["kind"], kind, "{asked}");
        let preview = asked["preview"].to_string();
        assert!(
            preview.contains(part) && !preview.contains("root:") && !preview.contains("<script>"),
            "{preview}"
        );
        peer.say(json!({"type": "approve", "id": id})).await;
    }
    peer.until("result").await;
    peer.say(json!({"type": "list_sessions"})).await;
    let listed = peer.until("session_list").await["sessions"][0].clone();
    assert_eq!((&listed["turnStartedAt"], &listed["contextPercent"]), (&Value::Null, &json!(25)));
    hub.shut_down("the test").await;
}

/// Why a call has no result of its own, and what kind of error an answer stands for.
#[tokio::test]
async fn refusals_and_api_errors_are_told_apart_from_failures_and_answers() {
    let place = Place::new("as_told");
    let hub = place.hub().await;
    let (mut peer, session) = place.started(&hub).await;
    let metas = [
        (json!({"non_execution_kind": "user-rejected"}), json!("denied")),
        (json!({"permission_decision": {"decision": "reject", "source": "config"}}), json!("denied")),
        (json!({"non_execution_kind": "automode-unavailable"}), json!("denied")),
        (json!({"non_execution_kind": "interrupted"}), json!("stopped")),
        (json!({"permission_decision": {"decision": "accept", "source": "config"}}), Value::Null),
        (json!({"non_execution_kind": "unheard-of"}), Value::Null),
    ];
    let mut frames: Vec<Value> = Vec::new();
    for (number, (meta, _)) in metas.iter().enumerate() {
        let id = format!("toolu_{number}");
        let mut frame = tool_result(&id, "no", &json!({}));
        frame["tool_result_meta"] = json!([meta]);
        frame["tool_result_meta"][0]["id"] = json!(id);
        frames.push(frame);
    }
    let mut error = assistant(json!([{"type": "text", "text": "API Error: 429\nslow down"}]));
    error["message"]["model"] = json!("<synthetic>");
    error["error"] = json!("rate_limit");
    error["api_error_status"] = json!(429);
    frames.push(error);
    tell(&mut peer, &session, &json!(frames)).await;
    for (meta, expected) in metas {
        assert_eq!(peer.until("tool_result").await["notRun"], expected, "{meta}");
    }
    let said = peer.until("assistant").await;
    assert_eq!((&said["error"], &said["errorStatus"]), (&json!("rate_limit"), &json!(429)));
    assert_eq!(
        said["rendered"][0], "<p>API Error: 429<br>\nslow down</p>\n",
        "the CLI's own words are lines"
    );
    peer.until("result").await;
    hub.shut_down("the test").await;
}

#[tokio::test]
async fn the_branch_is_read_wherever_it_is_kept() {
    let place = Place::new("plain");
    let git = place.sandbox.project().join(".git");
    let elsewhere = place.sandbox.project().join("main/.git/worktrees/x");
    std::fs::create_dir_all(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("HEAD"), "0123456789abcdef\n").unwrap();
    let outside = place.sandbox.home().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("HEAD"), "ref: refs/heads/secret\n").unwrap();
    let hub = place.hub().await;
    let in_a_directory = |head: &str| {
        drop(std::fs::remove_file(&git));
        std::fs::create_dir_all(&git).unwrap();
        std::fs::write(git.join("HEAD"), head).unwrap();
    };
    let in_a_file = |path: &std::path::Path| {
        drop(std::fs::remove_dir_all(&git));
        std::fs::write(&git, format!("gitdir: {}\n", path.display())).unwrap();
    };
    let mut peer = place.modern(&hub, "laptop").await;
    for row in 0..4 {
        let expected = match row {
            0 => Value::Null,
            1 => {
                in_a_directory("ref: refs/heads/fix/a\n");
                json!("fix/a")
            }
            2 => {
                in_a_file(&elsewhere.canonicalize().unwrap());
                json!("01234567")
            }
            _ => {
                in_a_file(&outside.canonicalize().unwrap());
                Value::Null
            }
        };
        peer.say(json!({"type": "start", "projectPath": place.project()})).await;
        let session = peer.until("system").await["sessionId"].clone();
        peer.say(json!({"type": "list_sessions"})).await;
        let listed = peer.until("session_list").await;
        let found =
            listed["sessions"].as_array().unwrap().iter().find(|listed| listed["id"] == session).unwrap();
        assert_eq!(found["branch"], expected, "row {row}");
    }
    hub.shut_down("the test").await;
}
