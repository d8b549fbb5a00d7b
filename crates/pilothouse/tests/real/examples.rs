//! Every example, run as a user would run it.

use std::path::{Path, PathBuf};

use pilothouse_proc::{Limits, Spawn};
use pilothouse_testkit::Turn;
use serde_json::json;

use crate::stage::{Stage, bash};

/// An example, what the model says to it, and what comes of it.
struct Case {
    name: &'static str,
    script: Vec<Turn>,
    stdin: &'static str,
    /// What it prints, in this order.
    prints: &'static [&'static str],
    /// Whether the file `x` is there afterwards.
    makes_x: bool,
}

fn cases() -> Vec<Case> {
    let case = |name, script, prints| Case { name, script, stdin: "", prints, makes_x: false };
    let sum = Turn::tool("mcp__calc__add", json!({"a": 2, "b": 3}));
    let city = Turn::tool("StructuredOutput", json!({"name": "Paris", "population": 2_100_000}));
    vec![
        Case {
            makes_x: true,
            ..case("approvals", vec![bash("touch x"), Turn::text("made")], &["Bash wants", "touch x", "made"])
        },
        Case {
            stdin: "first\nsecond\n\n",
            ..case(
                "chat",
                vec![Turn::text("one answer"), Turn::text("another")],
                &["one answer", "[done]", "another", "[done]"],
            )
        },
        case("hooks", vec![bash("touch x"), Turn::text("as you like")], &["Stop in", "as you like"]),
        case("mcp_tools", vec![sum, Turn::text("five")], &["five"]),
        case("one_shot", vec![Turn::text("Paris")], &["Paris ("]),
        case(
            "record_and_replay",
            vec![Turn::text("Paris")],
            &["0 problems", "recorded: Paris", "replayed: Paris"],
        ),
        case("structured_output", vec![city, Turn::text("there")], &["Paris has 2100000 people"]),
    ]
}

#[tokio::test]
async fn each_does_what_it_says() {
    for Case { name, script, stdin, prints, makes_x } in cases() {
        let Some(stage) = Stage::open(script) else { return };
        let mut example = Spawn::new(built(name)).cwd(stage.sandbox.project()).env_clear();
        for (name, value) in stage.environment() {
            example = example.env(name, value);
        }
        let done = example.run(stdin.as_bytes(), Limits::default()).await.expect("the example is built");
        let printed = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.success(), "{name}: {printed} {}", done.stderr_tail);
        let mut rest = printed.as_str();
        for part in prints {
            let at = rest.find(part).unwrap_or_else(|| panic!("{name}: no {part} in {printed}"));
            rest = rest.split_at(at + part.len()).1;
        }
        assert_eq!(stage.has("x"), makes_x, "{name}");
        assert_eq!(stage.api.turns_left(), usize::from(name == "structured_output"), "{name}");
        stage.nothing_left().await;
    }
}

#[test]
fn none_is_forgotten() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .expect("examples")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".rs").map(str::to_owned))
        .collect();
    found.sort();
    let known: Vec<&str> = cases().iter().map(|case| case.name).collect();
    assert_eq!(found, known);
}

/// Cargo puts examples beside the folder of the test binaries.
fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this program");
    let profile = test.parent().and_then(Path::parent).expect("target/PROFILE/deps/real");
    profile.join("examples").join(name)
}
