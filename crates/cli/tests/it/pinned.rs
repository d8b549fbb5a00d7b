//! The same script and seed, the same bytes.

use pilothouse_proc::{Limits, Outcome, Spawn};
use pilothouse_testkit::Sandbox;
use serde_json::json;

const SCRIPT: &str = r#"
seed = 7

[[turn]]
think = "let me see"
say = "I will look."
calls = [{ tool = "Bash", input = { command = "echo one; echo two" } }, { tool = "Read", input = { file_path = "{{cwd}}/a.txt" } }]

[[turn]]
calls = [{ tool = "Agent", input = { description = "d", prompt = "p", run_in_background = false } }]

[[turn]]
error = { status = 529 }

[[turn]]
else = true
say = "done: {{tool.result}}"
"#;

/// Everything that the agent writes when it plays the script to two prompts.
fn written(sandbox: &Sandbox, flags: &[&str]) -> Vec<u8> {
    let script = sandbox.write("script.toml", SCRIPT).unwrap();
    sandbox.write("a.txt", "alpha\n").unwrap();
    let line = "-p --output-format stream-json --input-format stream-json --verbose --no-session-persistence";
    let mut spawn = Spawn::new(env!("CARGO_BIN_EXE_pilothouse-agent")).args(line.split(' ')).args(flags);
    spawn = spawn.arg("--script").arg(script).cwd(sandbox.project()).env_clear();
    for (name, value) in sandbox.env("http://127.0.0.1:9") {
        spawn = spawn.env(name, value);
    }
    let initialize =
        json!({"type": "control_request", "request_id": "r", "request": {"subtype": "initialize"}});
    let prompt =
        json!({"type": "user", "message": {"role": "user", "content": "go"}, "parent_tool_use_id": null});
    let done = spawn.run_blocking(format!("{initialize}\n{prompt}\n").as_bytes(), Limits::default()).unwrap();
    assert!(
        matches!(done.outcome, Outcome::Exited(exit) if exit.code() == Some(0)),
        "{:?} {}",
        done.outcome,
        done.stderr_tail
    );
    done.stdout
}

#[test]
fn the_same_script_and_seed_give_the_same_bytes() {
    for flags in [&[][..], &["--include-partial-messages", "--forward-subagent-text"]] {
        let sandbox = Sandbox::new().unwrap();
        let (first, second) = (written(&sandbox, flags), written(&sandbox, flags));
        let (first, second) = (String::from_utf8(first).unwrap(), String::from_utf8(second).unwrap());
        assert!(first.lines().count() > 8 && first.contains("task_notification"), "{first}");
        for (a, b) in first.lines().zip(second.lines()) {
            assert_eq!(a, b);
        }
        assert_eq!(first, second);
    }
}
