//! Processes known by a variable in their environment: it is inherited, whatever group or session a process moves to.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::thread;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::process::{Signal, getuid, pidfd_send_signal};

use crate::other;

/// How often the list is gone through again, because a dying process may just have started another.
const ROUNDS: usize = 20;

/// For a moment a process that becomes another program has no environment, so nothing is looked for twice, this long apart.
const BECOMING: Duration = Duration::from_millis(5);

/// How long the killed get to be gone. One that waits for a slow disk hears of its death only when the disk has answered.
const DYING: Duration = Duration::from_secs(10);

/// The bit among a process's flags that says that it is ending.
const ENDING: u64 = 0x4;

/// Every living process that was started with `variable=value`, this one aside.
///
/// Zombies have no environment and are not counted. Only Linux has `/proc`; elsewhere nothing is found.
pub fn marked(variable: &str, value: &str) -> Vec<u32> {
    let wanted = format!("{variable}={value}");
    let mut found: Vec<u32> = other::all()
        .filter(|process| *process != std::process::id() && is_marked(*process, &wanted))
        .collect();
    found.sort_unstable();
    found
}

/// Kills every process that [`marked`] finds, until there is none, and gives how many there were. When this comes back they
/// have closed their files and let go of their locks, unless the system takes ten seconds to end one.
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use pilothouse_proc::{Spawn, kill_marked, marked};
///
/// let script = "setsid sleep 60 & echo started; wait";
/// let child = Spawn::new("sh").args(["-c", script]).env("HARBOUR_MARK", "doc").start().await?;
/// assert!(kill_marked("HARBOUR_MARK", "doc") >= 1);
/// child.exited().await;
/// assert!(marked("HARBOUR_MARK", "doc").is_empty());
/// # Ok::<(), pilothouse_proc::SpawnError>(()) }).unwrap();
/// ```
pub fn kill_marked(variable: &str, value: &str) -> usize {
    let wanted = format!("{variable}={value}");
    let deadline = Instant::now() + DYING;
    let mut killed = BTreeSet::new();
    let mut seen_none = false;
    for _ in 0..ROUNDS {
        let found = marked(variable, value);
        match (found.is_empty(), seen_none) {
            (true, true) => break,
            (true, false) => thread::sleep(BECOMING),
            (false, _) => {}
        }
        seen_none = found.is_empty();
        // One that has gone meanwhile is what we want.
        let handles: Vec<OwnedFd> = found.iter().filter_map(|process| kill(*process, &wanted).ok()).collect();
        handles.iter().for_each(|handle| until_gone(handle, deadline));
        killed.extend(found);
    }
    killed.len()
}

/// Waits until every process of this user is gone that was ending when this was called, at most so long. Such a process has
/// lost its environment already, so that nobody can say whose it was, but may still hold files and locks.
pub fn until_the_dying_are_gone(within: Duration) {
    let deadline = Instant::now() + within;
    for process in other::all().filter(|process| is_ending(*process)) {
        if let Ok(handle) = other::handle(process) {
            until_gone(&handle, deadline);
        }
    }
}

/// The number may go to another process at any time, so it is turned into a handle before it is looked at again.
fn kill(process: u32, wanted: &str) -> io::Result<OwnedFd> {
    let handle = other::handle(process)?;
    if is_marked(process, wanted) {
        pidfd_send_signal(&handle, Signal::KILL)?;
    }
    Ok(handle)
}

/// A handle can be read when the last thread of its process has ended.
fn until_gone(handle: &OwnedFd, deadline: Instant) {
    let left = deadline.saturating_duration_since(Instant::now());
    let left = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
    // One that takes longer, or cannot be waited for, is left to the system.
    let _ = poll(&mut [PollFd::new(handle.as_fd(), PollFlags::POLLIN)], left);
}

fn is_ending(process: u32) -> bool {
    let ours = fs::metadata(format!("/proc/{process}")).is_ok_and(|about| about.uid() == getuid().as_raw());
    let flags = || other::stat(process)?.split_whitespace().nth(6)?.parse::<u64>().ok();
    ours && flags().is_some_and(|flags| flags & ENDING != 0)
}

fn is_marked(process: u32, wanted: &str) -> bool {
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|item| item == wanted.as_bytes())
}
