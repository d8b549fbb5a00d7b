use std::path::{Path, PathBuf};

use serde_json::json;

use super::*;
use crate::record;
use crate::scenario::Scenario;

fn workspace(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn all_scenarios() -> Vec<Scenario> {
    let sets = ["", "claims", "neighbours", "background", "corners", "tools"];
    sets.iter().flat_map(|set| Scenario::load(&workspace("fixtures").join(set)).unwrap()).collect()
}

#[test]
fn every_scenario_has_a_tape_that_agrees_with_itself() {
    for scenario in all_scenarios() {
        let tape = scenario.folder.join("tapes/2.1.325").join(format!("{}.ndjson", scenario.name));
        let rows = record::load(&tape).unwrap();
        assert_eq!(compare(&rows, &rows).levels, [], "{}", scenario.name);
    }
}

#[test]
fn each_level_sees_what_it_is_for() {
    let out = |message: Value| json!({"dir": "out", "msg": message});
    let init = out(json!({"type": "system", "subtype": "init", "cwd": "/p", "uuid": "1"}));
    let said = out(json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "hi"}]}}));
    let end = |text: &str| {
        out(
            json!({"type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "result": text}),
        )
    };
    let exit = json!({"dir": "meta", "exit": 0, "ended_by": null});
    let recorded = vec![init.clone(), said.clone(), end("hi"), exit.clone()];
    let without_cwd = out(json!({"type": "system", "subtype": "init"}));
    let title = out(json!({"type": "system", "subtype": "session_title_changed"}));
    let other_exit = json!({"dir": "meta", "exit": 1, "ended_by": null});
    let cases = [
        ("a lost frame", vec![init.clone(), end("hi"), exit.clone()], vec![Level::Sequence, Level::Fields]),
        ("another order", vec![said.clone(), init.clone(), end("hi"), exit.clone()], vec![Level::Sequence]),
        ("a lost field", vec![without_cwd, said.clone(), end("hi"), exit.clone()], vec![Level::Fields]),
        ("another result", vec![init.clone(), said.clone(), end("ho"), exit.clone()], vec![Level::Values]),
        (
            "another exit code",
            vec![init.clone(), said.clone(), end("hi"), other_exit],
            vec![Level::Sequence, Level::Values],
        ),
        ("the vendor's own business", vec![init, title, said, end("hi"), exit], vec![]),
    ];
    for (what, new, levels) in cases {
        assert_eq!(compare(&recorded, &new).levels, levels, "{what}");
    }
}

#[test]
fn control_traffic_may_swap_places() {
    let ask = |id: &str| json!({"dir": "out", "msg": {"type": "control_request", "request": {"subtype": "hook_callback", "callback_id": id}}});
    let levels = compare(&[ask("a"), ask("b")], &[ask("b"), ask("a")]).levels;
    assert_eq!(levels, []);
}

#[test]
fn claims_are_pinned_by_scenarios_that_exist() {
    let names: Vec<String> = all_scenarios().into_iter().map(|scenario| scenario.name).collect();
    let document = std::fs::read_to_string(workspace("docs/claims.md")).unwrap();
    let mut rows = 0;
    for row in document.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| who")) {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        for test in tests.split(", ").map(|test| test.trim_matches('`')) {
            assert!(names.iter().any(|name| name == test), "`{test}` of {row}");
        }
        rows += 1;
    }
    assert!(rows >= 86, "{rows} rows");
}
