//! Files and flags that `pilothouse-agent` finds when it starts, and that mean no good.

use nix::sys::stat::Mode;
use pilothouse_proc::{Finished, Limits, Outcome, Spawn};
use pilothouse_testkit::Sandbox;

const SCRIPT: &str = r#"
[[turn]]
say = "here I am"
"#;

fn started(sandbox: &Sandbox, flags: &[&str]) -> Finished {
    let script = sandbox.write("script.toml", SCRIPT).unwrap();
    let mut spawn = Spawn::new(env!("CARGO_BIN_EXE_pilothouse-agent")).args(["-p", "hello"]).args(flags);
    spawn = spawn.arg("--script").arg(script).cwd(sandbox.project()).env_clear();
    for (name, value) in sandbox.env("http://127.0.0.1:9") {
        spawn = spawn.env(name, value);
    }
    spawn.run_blocking(b"", Limits::default()).unwrap()
}

fn code(done: &Finished) -> Option<i32> {
    match done.outcome {
        Outcome::Exited(exit) => exit.code(),
        _ => None,
    }
}

#[test]
fn a_policy_that_cannot_be_read_is_no_leave_to_do_anything() {
    let sandbox = Sandbox::new().unwrap();
    for policy in ["{bad", r#"{"permissions":{"deny":"Bash"}}"#] {
        let done = started(&sandbox, &["--managed-settings", policy]);
        assert_eq!(code(&done), Some(1), "{policy}: {}", done.stderr_tail);
        assert!(done.stderr_tail.contains("--managed-settings"), "{policy}: {}", done.stderr_tail);
        assert!(!String::from_utf8_lossy(&done.stdout).contains("here I am"), "{policy}");
    }
    let done = started(&sandbox, &["--managed-settings", r#"{"permissions":{"deny":["Bash"]}}"#]);
    assert_eq!(code(&done), Some(0), "{}", done.stderr_tail);
}

#[test]
fn a_pipe_in_the_place_of_a_file_holds_nothing_up() {
    let sandbox = Sandbox::new().unwrap();
    for name in ["CLAUDE.md", "CLAUDE.local.md", ".mcp.json"] {
        nix::unistd::mkfifo(&sandbox.project().join(name), Mode::S_IRUSR).unwrap();
    }
    let done = started(&sandbox, &[]);
    assert_eq!(code(&done), Some(0), "{:?} {}", done.outcome, done.stderr_tail);
    assert_eq!(String::from_utf8(done.stdout).unwrap(), "here I am\n");
}
