//! A call that a hook put off is made once, whatever happens to the process that makes it.

use std::os::unix::process::ExitStatusExt as _;

use pilothouse_proc::{Finished, Limits, Outcome, Spawn};
use pilothouse_testkit::Sandbox;

const SESSION: &str = "33333333-3333-4333-8333-333333333333";

/// The command leaves a trace and then kills the agent, before there is a result.
const SCRIPT: &str = r#"
[[turn]]
when.user = "go"
calls = [{ tool = "Bash", input = { command = "echo made >> trace; kill -9 $PPID; sleep 5" } }]

[[turn]]
say = "and on"
"#;

const HOOK: &str = r#"test -e allowed || echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}'"#;

fn run(sandbox: &Sandbox, prompt: &str, session: &str) -> Finished {
    let script = sandbox.write("script.toml", SCRIPT).unwrap();
    let mut spawn = Spawn::new(env!("CARGO_BIN_EXE_pilothouse-agent"))
        .args(["-p", prompt, session, SESSION, "--allowedTools", "Bash", "--script"])
        .arg(script)
        .cwd(sandbox.project())
        .env_clear();
    for (name, value) in sandbox.env("http://127.0.0.1:9") {
        spawn = spawn.env(name, value);
    }
    spawn.run_blocking(b"", Limits::default()).unwrap()
}

#[test]
fn a_call_that_was_put_off_is_not_made_twice_after_a_kill() {
    let sandbox = Sandbox::new().unwrap();
    let settings =
        serde_json::json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": HOOK}]}]}});
    std::fs::create_dir_all(sandbox.config()).unwrap();
    std::fs::write(sandbox.config().join("settings.json"), settings.to_string()).unwrap();
    let trace = || sandbox.read("trace").unwrap_or_default();

    let first = run(&sandbox, "go", "--session-id");
    assert_eq!(trace(), "", "it is put off: {}", first.stderr_tail);

    sandbox.write("allowed", "").unwrap();
    let second = run(&sandbox, "later", "--resume");
    assert_eq!(trace(), "made\n", "it is made: {}", second.stderr_tail);
    let Outcome::Exited(exit) = second.outcome else { panic!("{:?}", second.outcome) };
    let signal = exit.status.and_then(|status| status.signal());
    assert_eq!(signal, Some(9), "the agent was killed in the middle of it");

    let third = run(&sandbox, "later", "--resume");
    assert_eq!(trace(), "made\n", "it is not made again");
    assert_eq!(String::from_utf8_lossy(&third.stdout), "and on\n", "{}", third.stderr_tail);
}
