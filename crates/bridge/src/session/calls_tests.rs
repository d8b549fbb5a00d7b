use serde_json::{Value, json};

use super::*;

/// The plan that is shown after these calls.
fn plan_after(calls: &[(&str, Value)]) -> Option<Value> {
    let mut noted = Calls::default();
    for (tool, input) in calls {
        noted.begin("call", tool, || Json::of(input));
    }
    noted.plan_for(SHOWS_A_PLAN).map(|plan| serde_json::from_str(plan.get()).unwrap())
}

#[test]
fn a_plan_is_found_where_the_model_wrote_it() {
    let file = |path: &str, content: &str| ("Write", json!({"file_path": path, "content": content}));
    let shown = |plan: &str| Some(json!({ "plan": plan }));
    let leave = |input: Value| (SHOWS_A_PLAN, input);
    let cases = [
        (vec![leave(json!({"plan": "sail"}))], shown("sail")),
        (vec![file("/home/me/.claude/plans/calm-sea.md", "row"), leave(json!({}))], shown("row")),
        (vec![file("/plans/a.md", "old"), file("/plans/a.md", "new"), leave(json!({}))], shown("new")),
        (vec![file("/plans/a.md", "file"), leave(json!({"plan": "call"}))], shown("call")),
        (vec![file("/project/notes.md", "no plan"), leave(json!({}))], None),
        (vec![leave(json!("no object"))], None),
    ];
    for (calls, expected) in cases {
        assert_eq!(plan_after(&calls), expected, "{calls:?}");
    }
}

#[test]
fn other_tools_have_no_plan() {
    let mut calls = Calls::default();
    calls.begin("call", SHOWS_A_PLAN, || Json::of(&json!({"plan": "sail"})));
    assert!(calls.plan_for("Bash").is_none());
}
