//! A session leaves no process behind, however far it went.

use std::time::Duration;

use pilothouse_testkit::{Sandbox, processes_marked};

use crate::scripted;

/// The command leaves its group and its session, and has forked twice.
const SCRIPT: &str = r#"
[[turn]]
calls = [{ tool = "Bash", input = { command = "(setsid sh -c '(sleep 598 & touch away) &' > /dev/null 2>&1 &); until [ -e away ]; do sleep 0.02; done" } }]

[[turn]]
calls = [{ tool = "Bash", input = { command = "sleep 599", run_in_background = true } }]

[[turn]]
say = "they are on their way"
"#;

#[tokio::test]
async fn what_commands_left_running_is_gone_with_the_session() {
    let sandbox = Sandbox::new().unwrap();
    let session = scripted(&sandbox, SCRIPT).allow_tools(["Bash"]).connect().await.unwrap();
    let turn = session.send("go").await.unwrap();
    let result = tokio::time::timeout(Duration::from_secs(60), turn.into_future()).await.unwrap().unwrap();
    assert_eq!(result.text(), "they are on their way");
    // A process that was just forked still carries the name of its parent.
    for wanted in ["sleep 598", "sleep 599"] {
        let runs = || processes_marked(&sandbox.marker()).iter().any(|process| process.command == wanted);
        until(runs, wanted).await;
    }
    session.close().await;
    let left = sandbox.leftovers(Duration::from_secs(60)).await;
    assert!(left.is_empty(), "still running: {left:?}");
}

/// Nobody can end anything after SIGKILL, so somebody else does.
#[tokio::test]
async fn what_commands_left_running_is_gone_when_the_agent_is_killed() {
    const SCRIPT: &str = r#"
[[turn]]
calls = [{ tool = "Bash", input = { command = "setsid sleep 592 & env -i sleep 593 & sleep 594", run_in_background = true } }]

[[turn]]
calls = [{ tool = "Bash", input = { command = "(setsid sh -c '(sleep 595 &) &' &); sleep 591 & wait" } }]
"#;
    let sandbox = Sandbox::new().unwrap();
    let session = scripted(&sandbox, SCRIPT).allow_tools(["Bash"]).connect().await.unwrap();
    let all = ["sleep 591", "sleep 592", "sleep 593", "sleep 594", "sleep 595"];
    let running = || all.map(|command| processes_called(command).len());
    // Counted before the turn begins: the first of them may run before the next line does.
    let before = running();
    let _turn = session.send("go").await.unwrap();
    until(|| running().iter().all(|count| *count > 0), "they run").await;
    let agent = processes_marked(&sandbox.marker())
        .into_iter()
        .find(|process| process.command.contains("pilothouse-agent"))
        .unwrap();
    let pid = nix::unistd::Pid::from_raw(i32::try_from(agent.pid).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    until(|| running() == before, "all of them are gone").await;
    let left = sandbox.leftovers(Duration::from_secs(20)).await;
    assert!(left.is_empty(), "still running: {left:?}");
}

/// Every process with this command line, whatever its environment says.
fn processes_called(command: &str) -> Vec<String> {
    let wanted = format!("{}\0", command.replace(' ', "\0"));
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
    lines.filter(|line| *line == wanted).collect()
}

/// It has no environment, no group and no parent that anybody could know it by.
#[tokio::test]
async fn a_process_that_has_cut_every_tie_is_gone_with_the_session() {
    let sandbox = Sandbox::new().unwrap();
    let seconds = format!("596.{}", std::process::id());
    let script = format!(
        r#"
[[turn]]
calls = [{{ tool = "Bash", input = {{ command = "(setsid env -i /bin/sh -c 'cd /; /bin/sleep {seconds} & echo $! > $0; exec /bin/true' $PWD/away > /dev/null 2>&1 &); until [ -s away ]; do sleep 0.02; done" }} }}]

[[turn]]
say = "it is on its way"
"#
    );
    let session = scripted(&sandbox, &script).allow_tools(["Bash"]).connect().await.unwrap();
    let turn = session.send("go").await.unwrap();
    let result = tokio::time::timeout(Duration::from_secs(60), turn.into_future()).await.unwrap().unwrap();
    assert_eq!(result.text(), "it is on its way");
    let process = std::fs::read_to_string(sandbox.project().join("away")).unwrap();
    let place = format!("/proc/{}/cmdline", process.trim());
    let command = || std::fs::read_to_string(&place).unwrap_or_default();
    until(|| command().contains(&seconds), "it runs").await;
    session.close().await;
    until(|| !command().contains(&seconds), "gone").await;
}

/// Waits for something that happens soon.
async fn until(holds: impl Fn() -> bool, what: &str) {
    for _ in 0..400 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("not within ten seconds: {what}");
}
