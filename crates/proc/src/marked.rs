//! Processes known by a variable in their environment: it is inherited, whatever group or session a process moves to.

use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// How often the list is gone through again, because a dying process may just have started another.
const ROUNDS: usize = 20;

/// For a moment a process that becomes another program has no environment, so nothing is looked for twice, this long apart.
const BECOMING: Duration = Duration::from_millis(5);

/// Every living process that was started with `variable=value`, this one aside.
///
/// Zombies have no environment and are not counted. Only Linux has `/proc`; elsewhere nothing is found.
pub fn marked(variable: &str, value: &str) -> Vec<u32> {
    let wanted = format!("{variable}={value}");
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut found: Vec<u32> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|process| *process != std::process::id() && is_marked(*process, &wanted))
        .collect();
    found.sort_unstable();
    found
}

/// Kills every process that [`marked`] finds, until there is none.
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use pilothouse_proc::{Spawn, kill_marked, marked};
///
/// let script = "setsid sleep 60 & echo started; wait";
/// let child = Spawn::new("sh").args(["-c", script]).env("HARBOUR_MARK", "doc").start().await?;
/// kill_marked("HARBOUR_MARK", "doc");
/// child.exited().await;
/// assert!(marked("HARBOUR_MARK", "doc").is_empty());
/// # Ok::<(), pilothouse_proc::SpawnError>(()) }).unwrap();
/// ```
pub fn kill_marked(variable: &str, value: &str) {
    let wanted = format!("{variable}={value}");
    let mut seen_none = false;
    for _ in 0..ROUNDS {
        let found = marked(variable, value);
        match (found.is_empty(), seen_none) {
            (true, true) => return,
            (true, false) => thread::sleep(BECOMING),
            (false, _) => {}
        }
        seen_none = found.is_empty();
        for process in found {
            // One that has gone meanwhile is what we want.
            let _ = kill(process, &wanted);
        }
    }
}

/// The number may go to another process at any time, so it is turned into a handle before it is looked at again.
fn kill(process: u32, wanted: &str) -> io::Result<()> {
    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return Ok(()) };
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    if is_marked(process, wanted) {
        pidfd_send_signal(&handle, Signal::KILL)?;
    }
    Ok(())
}

fn is_marked(process: u32, wanted: &str) -> bool {
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|item| item == wanted.as_bytes())
}
