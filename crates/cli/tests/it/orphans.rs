//! Processes whose parents ended become children of the agent, which collects them when they end.

use pilothouse_proc::{Limits, Spawn};
use pilothouse_testkit::Sandbox;

/// The first call leaves twenty processes in sessions of their own, which end by themselves; the last one counts the
/// agent's dead children.
const SCRIPT: &str = r#"
[[turn]]
when.user = "go"
calls = [{ tool = "Bash", input = { command = "for i in $(seq 20); do (setsid -f sleep 0.3 >/dev/null 2>&1 </dev/null); done" } }]

[[turn]]
calls = [{ tool = "Bash", input = { command = "sleep 1" } }]

[[turn]]
calls = [{ tool = "Bash", input = { command = "cat /proc/[0-9]*/stat 2>/dev/null | grep -c \") Z $PPID \" > dead; true" } }]

[[turn]]
say = "done"
"#;

#[test]
fn processes_that_forked_away_are_collected_when_they_end() {
    let sandbox = Sandbox::new().unwrap();
    let script = sandbox.write("script.toml", SCRIPT).unwrap();
    let mut spawn = Spawn::new(env!("CARGO_BIN_EXE_pilothouse-agent"))
        .args(["-p", "go", "--allowedTools", "Bash", "--script"])
        .arg(script)
        .cwd(sandbox.project())
        .env_clear();
    for (name, value) in sandbox.env("http://127.0.0.1:9") {
        spawn = spawn.env(name, value);
    }
    let ran = spawn.run_blocking(b"", Limits::default()).unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "done\n", "{}", ran.stderr_tail);
    assert_eq!(sandbox.read("dead").unwrap().trim(), "0", "dead children that nobody collected");
}
