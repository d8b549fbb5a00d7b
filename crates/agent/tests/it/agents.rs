//! Subagents: handed on, in modes of their own, with skills.

use std::sync::Arc;

use pilothouse_link::{Host, Inbound};
use pilothouse_proto::AgentRequest;
use pilothouse_proto::{AgentFrame, System};
use pilothouse_testkit::{Sandbox, Turn};
use serde_json::json;

use crate::rig::Rig;

#[tokio::test]
async fn a_subagent_hands_work_on_and_waits_for_it() {
    let job = |prompt: &str| json!({"description": prompt, "prompt": prompt, "run_in_background": false});
    let script = vec![
        Turn::tool("Agent", job("OUTER")),
        Turn::tool("Agent", job("INNER")).when("OUTER"),
        Turn::text("inner report").when("INNER"),
        Turn::text("outer report"),
        Turn::text("main report"),
    ];
    let mut rig = Rig::new(&[], script);
    rig.say("go").await;
    let (frames, result) = rig.turn().await;
    assert_eq!(result.result.as_ref().map(String::as_str), Some("main report"));
    let stats = result.subagent_stats.as_ref().unwrap();
    assert_eq!(
        (stats.spawned, stats.max_depth.as_ref(), stats.spawned_by_subagents.as_ref()),
        (2, Some(&2), Some(&1))
    );
    let started: Vec<_> = frames
        .iter()
        .filter_map(|frame| match frame {
            AgentFrame::System(System::TaskStarted(started)) => Some(started),
            _ => None,
        })
        .collect();
    let depths: Vec<_> = started.iter().map(|task| task.spawn_depth.as_ref().copied()).collect();
    assert_eq!(depths, [Some(1), Some(2)]);
    assert_eq!(started[1].parent_task_id.as_ref(), Some(&started[0].task_id));
    let asked = rig.asked();
    assert!(asked[3].to_string().contains("inner report"), "{}", asked[3]);
    assert!(asked[4].to_string().contains("outer report"), "{}", asked[4]);
    assert_eq!(rig.finish().await.code, 0);
}

#[tokio::test]
async fn an_agent_works_under_its_own_mode_and_knows_its_skills() {
    let sandbox = Arc::new(Sandbox::new().unwrap());
    sandbox
        .write(".claude/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: tidies\n---\nSWEEP THE DECK\n")
        .unwrap();
    let made = sandbox.project().join("made.txt");
    let job =
        json!({"description": "d", "prompt": "p", "subagent_type": "writer", "run_in_background": false});
    let write = json!({"file_path": made, "content": "x"});
    let script = vec![
        Turn::tool("Agent", job),
        Turn::tool("Write", write.clone()),
        Turn::text("written"),
        Turn::tool("Write", json!({"file_path": sandbox.project().join("other.txt"), "content": "x"})),
        Turn::text("done"),
    ];
    let agents = json!({"writer": {
        "description": "writes", "prompt": "You write.", "permissionMode": "acceptEdits", "skills": ["tidy"],
    }});
    let deny = |inbound: Inbound<Host>| {
        assert!(matches!(inbound.request, AgentRequest::CanUseTool(_)), "{:?}", inbound.request);
        inbound.responder.success(&json!({"behavior": "deny", "message": "not by you"}));
    };
    let mut rig = Rig::with_host(sandbox, &["--agents", &agents.to_string()], script, deny);
    assert_eq!(rig.ask("go").await, "done");
    assert!(made.exists(), "the agent may write without asking");
    assert!(rig.sandbox.read("other.txt").is_none(), "the main conversation may not");
    assert!(rig.asked()[1].to_string().contains("SWEEP THE DECK"), "{}", rig.asked()[1]);
    assert_eq!(rig.finish().await.code, 0);
}

#[tokio::test]
async fn an_agent_cannot_let_everything_through_unless_the_session_may() {
    let job = json!({"description": "d", "prompt": "p", "subagent_type": "bold", "run_in_background": false});
    let script = vec![
        Turn::tool("Agent", job),
        Turn::tool("Bash", json!({"command": "touch bold"})),
        Turn::text("tried"),
        Turn::text("done"),
    ];
    let agents = json!({"bold": {"description": "b", "prompt": "p", "permissionMode": "bypassPermissions"}});
    let deny = |inbound: Inbound<Host>| {
        inbound.responder.success(&json!({"behavior": "deny", "message": "no"}));
    };
    let sandbox = Arc::new(Sandbox::new().unwrap());
    let mut rig = Rig::with_host(sandbox, &["--agents", &agents.to_string()], script, deny);
    assert_eq!(rig.ask("go").await, "done");
    assert!(rig.sandbox.read("bold").is_none());
}
