//! Descendants that nobody looks after: processes that left their group, their session and their parents.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getpid, pidfd_send_signal, set_child_subreaper, waitpid};

use crate::{guard, leader, other};

/// How often the list is gone through again, because a dying process may just have started another.
const ROUNDS: usize = 20;
/// How long the killed get to be gone before the list is looked at again.
const PAUSE: Duration = Duration::from_millis(2);

/// From now on a descendant whose parent ends becomes a child of this process, so that [`kill_descendants`] finds it
/// whatever it has done to be forgotten. For a program of its own, not for a library in somebody else's.
///
/// # Errors
/// The system knows nothing of this.
pub fn adopt_orphans() -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    ADOPTS.store(true, Ordering::Relaxed);
    Ok(())
}

/// Whether orphans come to this process, which then has to collect them when they end.
static ADOPTS: AtomicBool = AtomicBool::new(false);

/// Collects adopted children that have ended; they would stay in the system's table as long as this process lives.
pub(crate) fn collect() {
    if !ADOPTS.load(Ordering::Relaxed) {
        return;
    }
    let ours = leader::living();
    let orphans =
        children().into_iter().filter(|process| !ours.contains(process) && !guard::is_guard(*process));
    for process in orphans {
        if let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) {
            // One that still runs stays.
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

/// The children of all threads of this process.
fn children() -> Vec<u32> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|n| n.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// Kills every process below this one, until there is none. Only Linux has `/proc`; elsewhere nothing is found.
pub fn kill_descendants() {
    for _ in 0..ROUNDS {
        let found = descendants();
        if found.is_empty() {
            return;
        }
        for process in found {
            // One that has gone meanwhile is what we want.
            let _ = kill(process);
        }
        std::thread::sleep(PAUSE);
    }
}

/// The number may go to another process at any time, so it is turned into a handle before it is looked at again.
fn kill(process: u32) -> io::Result<()> {
    let handle = other::handle(process)?;
    if descendants().contains(&process) {
        pidfd_send_signal(&handle, Signal::KILL)?;
    }
    Ok(())
}

/// Every living process below this one. Zombies are as good as gone.
fn descendants() -> Vec<u32> {
    let parents: HashMap<u32, u32> =
        other::all().filter_map(|process| Some((process, living_parent(process)?))).collect();
    let here = std::process::id();
    let mut found: Vec<u32> =
        parents.keys().copied().filter(|process| is_below(*process, here, &parents)).collect();
    found.sort_unstable();
    found
}

fn is_below(process: u32, ancestor: u32, parents: &HashMap<u32, u32>) -> bool {
    let mut line = std::iter::successors(parents.get(&process), |parent| parents.get(parent));
    // Processes come and go while they are listed, so that a line could lead in a circle.
    line.by_ref().take(parents.len()).any(|parent| *parent == ancestor)
}

/// The parent of a process; none if it is dead.
fn living_parent(process: u32) -> Option<u32> {
    let stat = other::stat(process)?;
    let mut fields = stat.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(parent)
}
