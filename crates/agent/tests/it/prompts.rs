//! What reaches the API as the system prompt.

use std::sync::Arc;

use pilothouse_proto::control::Initialize;
use pilothouse_testkit::{Sandbox, Turn};
use serde_json::Value;

use crate::rig::Rig;

const ID: &str = "55555555-5555-4555-8555-555555555555";

/// The texts of the system prompt of the last request.
fn system(rig: &Rig) -> Vec<String> {
    let body = rig.asked().pop().unwrap();
    let blocks = body["system"].as_array().cloned().unwrap_or_default();
    blocks.iter().filter_map(|block| block["text"].as_str()).map(str::to_owned).collect()
}

fn texts(parts: &[&str]) -> Value {
    parts.iter().copied().map(Value::from).collect::<Vec<_>>().into()
}

#[tokio::test]
async fn parts_of_a_prompt_are_one_text_and_the_boundary_is_none_of_it() {
    const BOUNDARY: &str = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";
    for (parts, appended, expected) in [
        (vec!["first", "second"], None, "first\n\nsecond"),
        (vec!["first", BOUNDARY, "third"], None, "first\n\nthird"),
        (vec![BOUNDARY, "third"], Some("more"), "third\n\nmore"),
        (vec!["one __SYSTEM_PROMPT_DYNAMIC_BOUNDARY__ two"], None, "one \n\n two"),
    ] {
        let mut rig = Rig::new(&[], vec![Turn::text("ok")]);
        let mut initialize = serde_json::json!({"systemPrompt": texts(&parts)});
        if let Some(appended) = appended {
            initialize["appendSystemPrompt"] = appended.into();
        }
        let initialize: Initialize = serde_json::from_value(initialize).unwrap();
        rig.host.request(initialize).await.unwrap();
        rig.ask("go").await;
        assert_eq!(system(&rig), [expected], "{parts:?}");
    }
}

#[tokio::test]
async fn a_conversation_keeps_the_prompt_it_began_with() {
    let off = ["--system-prompt-snapshot", "off"];
    for (first, between, second, expected) in [
        (&[][..], "more", &[][..], "one"),
        (&[], "more", &["--fork-session"], "one"),
        (&[], "/compact", &[], "two"),
        (&off, "more", &[], "two"),
        (&[], "more", &off, "two"),
        (&["--bare"], "more", &["--bare"], "two"),
    ] {
        let sandbox = Arc::new(Sandbox::new().unwrap());
        let answers = || vec![Turn::text("ok"), Turn::text("<summary>so far</summary>"), Turn::text("ok")];
        let flags = [&["--session-id", ID, "--system-prompt", "one"][..], first].concat();
        let mut rig = Rig::in_home(sandbox.clone(), &flags, answers());
        rig.ask("go").await;
        rig.ask(between).await;
        assert_eq!(system(&rig), ["one"], "{flags:?}");
        assert_eq!(rig.finish().await.code, 0);
        let flags = [&["--resume", ID, "--system-prompt", "two"][..], second].concat();
        let mut rig = Rig::in_home(sandbox.clone(), &flags, answers());
        rig.ask("go on").await;
        assert_eq!(system(&rig), [expected], "{between} {flags:?}");
        rig.ask("and on").await;
        assert_eq!(system(&rig), [expected], "{between} {flags:?}");
    }
}

#[tokio::test]
async fn where_a_session_runs_can_be_said_with_the_first_prompt_instead() {
    for (flags, in_system) in [(&[][..], true), (&["--exclude-dynamic-system-prompt-sections"], false)] {
        let mut rig = Rig::new(flags, vec![Turn::text("ok")]);
        rig.ask("go").await;
        let body = rig.asked().pop().unwrap();
        let place = rig.sandbox.project().display().to_string();
        assert_eq!(body["system"].to_string().contains(&place), in_system, "{flags:?}");
        assert_eq!(body["messages"].to_string().contains(&place), !in_system, "{flags:?}");
    }
}
