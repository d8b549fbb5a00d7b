//! Every example runs, with the polite side of the faulty CLI.

use std::path::PathBuf;
use std::time::Duration;

use pilothouse_proc::{Limits, Spawn};
use pilothouse_testkit::binary;

/// The path of a built example. Cargo builds them with the tests unless it is told to build one test alone.
async fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let path = profile.join("examples").join(name);
    if !path.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build =
            Spawn::new(cargo).args(["build", "--quiet", "--package", "pilothouse", "--example", name]);
        if profile.ends_with("release") {
            build = build.arg("--release");
        }
        let limits = Limits { timeout: Duration::from_secs(900), ..Limits::default() };
        let done = build.run(b"", limits).await.unwrap();
        assert!(done.success(), "{}", done.stderr_tail);
    }
    path
}

#[tokio::test]
async fn every_example_runs() {
    let cases = [
        ("one_shot", "", "You said: What is the capital of France?. (1 ms)"),
        ("chat", "hello there\n\n", "hello there\n[done]"),
        (
            "approvals",
            "",
            "Bash wants {\"command\":\"touch x\"}\nYou said: Create a file called x.. Approval: allow.",
        ),
        ("hooks", "", "You said: Create a file called x.. Hook: deny."),
        ("mcp_tools", "", "Tool: 4."),
        ("structured_output", "", "Paris has 2 people"),
        ("record_and_replay", "", "replayed: You said: What is the capital of France?."),
    ];
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples");
    let sources =
        std::fs::read_dir(folder).unwrap().filter(|file| file.as_ref().unwrap().path().is_file()).count();
    assert_eq!(sources, cases.len(), "an example is missing here");
    for (name, input, expected) in cases {
        let run = Spawn::new(example(name).await).arg(binary("faulty").unwrap()).env_remove("FAULTY");
        let done = run.run(input.as_bytes(), Limits::default()).await.unwrap();
        let said = String::from_utf8(done.stdout.clone()).unwrap();
        assert!(done.success() && said.contains(expected), "{name}: {said}\n{}", done.stderr_tail);
    }
}
