use std::collections::HashMap;
use std::fs;
use std::io;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::guard;
use crate::leader::Leader;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// A child's process group. It refuses to signal once the leader is reaped, because its number may then belong to
/// somebody else.
#[derive(Debug)]
pub(crate) struct Group {
    leader: u32,
    reaped: Mutex<bool>,
    /// Whether the group was to end: then nothing of it stays.
    killed: AtomicBool,
}

impl Group {
    pub(crate) fn new(leader: u32) -> Self {
        Self { leader, reaped: Mutex::new(false), killed: AtomicBool::new(false) }
    }

    pub(crate) fn leader(&self) -> u32 {
        self.leader
    }

    /// Asks everybody in the group to end.
    pub(crate) fn terminate(&self) {
        self.unless_reaped(|| signal_group(self.leader, Signal::TERM));
    }

    /// Ends everybody in the group.
    pub(crate) fn kill(&self) {
        self.unless_reaped(|| signal_group(self.leader, Signal::KILL));
    }

    /// Ends the group and also those descendants that moved to groups of their own.
    pub(crate) fn kill_tree(&self) {
        self.unless_reaped(|| {
            let descendants = descendants(self.leader);
            signal_group(self.leader, Signal::KILL);
            for pid in descendants {
                signal_one(pid, Signal::KILL);
            }
        });
    }

    /// Collects a leader that has exited, after ending what it left behind in its group, unless that is to stay.
    pub(crate) fn reap(&self, leader: &Leader, leave_rest: bool) -> io::Result<ExitStatus> {
        let mut reaped = self.reaped.lock().unwrap_or_else(PoisonError::into_inner);
        if !leave_rest || self.killed.load(Ordering::Relaxed) {
            signal_group(self.leader, Signal::KILL);
        }
        *reaped = true;
        guard::ended(self.leader);
        leader.wait()
    }

    fn unless_reaped(&self, act: impl FnOnce()) {
        self.killed.store(true, Ordering::Relaxed);
        let reaped = self.reaped.lock().unwrap_or_else(PoisonError::into_inner);
        if !*reaped {
            act();
        }
    }
}

/// Ends the group of a leader that is known not to be reaped yet.
pub(crate) fn kill_unreaped(leader: u32) {
    signal_group(leader, Signal::KILL);
}

fn signal_group(leader: u32, signal: Signal) {
    // A group that is already gone is what we want, so errors are of no interest.
    if let Some(pid) = pid(leader) {
        let _ = kill_process_group(pid, signal);
    }
}

fn signal_one(process: u32, signal: Signal) {
    if let Some(pid) = pid(process) {
        let _ = kill_process(pid, signal);
    }
}

fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

/// Every process below `root` at this moment, found by parent numbers in `/proc`.
fn descendants(root: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for entry in entries {
        let Some(process) = entry.file_name().to_str().and_then(|n| n.parse().ok()) else {
            continue;
        };
        if let Some(parent) = parent(process) {
            children.entry(parent).or_default().push(process);
        }
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            found.push(child);
            open.push(child);
        }
    }
    found
}

fn parent(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The command name in brackets may hold anything, so count from the last bracket: state, then parent.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}
