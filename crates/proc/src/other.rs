//! Looking at other processes. Only Linux has `/proc`; elsewhere there are none to be seen.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// The numbers of all processes.
pub(crate) fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// What the system tells of a process behind its name, in words: first its state, then its parent, then the rest.
pub(crate) fn stat(process: u32) -> Option<String> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name is in parentheses and may hold anything, parentheses too.
    line.rsplit_once(')').map(|(_, rest)| rest.to_owned())
}

/// A handle that stays with the process: its number may go to another one at any time.
pub(crate) fn handle(process: u32) -> io::Result<OwnedFd> {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}
