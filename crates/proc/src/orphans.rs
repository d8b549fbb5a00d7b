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
/// No process has more ancestors.
const LONGEST_LINE: usize = 10_000;
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

/// Reaps adopted children that have ended: they stay zombies as long as this process lives otherwise. Does nothing without
/// [`adopt_orphans`]. Children that were started here are left to those who started them.
pub fn reap_orphans() {
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

/// Whether a process descends from this one. Only certain after [`adopt_orphans`]: without it a process whose parent has
/// ended is a child of init.
///
/// # Errors
/// When the line of its parents cannot be read to its end, or changes again and again meanwhile: then it is not known.
pub fn is_descendant(process: u32) -> io::Result<bool> {
    let mut before = lineage(process);
    for _ in 0..ROUNDS {
        let now = lineage(process);
        // A parent may end, and its number go to another process, between two reads. Numbers and start times that are the
        // same in two walks were all there at the moment between them, and a process is never given back to a former parent.
        if let (Some(line), true) = (&now, now == before) {
            let here = std::process::id();
            return Ok(line.iter().any(|(ancestor, _)| *ancestor == here));
        }
        before = now;
    }
    Err(io::Error::other(format!("the parents of process {process} cannot be read in /proc")))
}

/// A process and all its ancestors, each with its start time; none if one of them cannot be read.
fn lineage(process: u32) -> Option<Vec<(u32, String)>> {
    let mut line = Vec::new();
    let mut next = process;
    // Parent 0: init, or a process whose parent is outside of this PID namespace.
    while next != 0 {
        let stat = other::stat(next)?;
        let mut fields = stat.split_whitespace();
        let parent = fields.nth(1)?.parse().ok()?;
        // Field 22 of the whole line; the state is field 3.
        line.push((next, fields.nth(17)?.to_owned()));
        next = parent;
        if line.len() > LONGEST_LINE {
            return None;
        }
    }
    Some(line)
}

/// The parent of a process; none if it is dead.
fn living_parent(process: u32) -> Option<u32> {
    let stat = other::stat(process)?;
    let mut fields = stat.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(parent)
}
