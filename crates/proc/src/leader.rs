//! A child that was started: its number and our ends of its pipes.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, WaitOptions, waitpid};

/// The leaders that were started and not collected.
static LIVING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Whoever holds this keeps others from starting and from collecting.
pub(crate) fn living() -> MutexGuard<'static, BTreeSet<u32>> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Nothing happens to the child when this is dropped.
#[derive(Debug)]
pub(crate) struct Leader {
    pub(crate) process: u32,
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) stdout: Option<OwnedFd>,
    pub(crate) stderr: Option<OwnedFd>,
}

impl Leader {
    /// Waits for its end and collects it.
    pub(crate) fn wait(&self) -> io::Result<ExitStatus> {
        loop {
            match self.collect(WaitOptions::empty()) {
                Ok(Some(status)) => return Ok(status),
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Collects it if it has ended.
    pub(crate) fn try_wait(&self) -> io::Result<Option<ExitStatus>> {
        self.collect(WaitOptions::NOHANG)
    }

    fn collect(&self, options: WaitOptions) -> io::Result<Option<ExitStatus>> {
        // No number is none of ours, and zero would be anybody.
        let pid = i32::try_from(self.process).ok().and_then(Pid::from_raw).ok_or(rustix::io::Errno::CHILD)?;
        let found = waitpid(Some(pid), options)?;
        if found.is_some() {
            living().remove(&self.process);
        }
        Ok(found.map(|(_, status)| ExitStatus::from_raw(status.as_raw())))
    }
}

impl From<Child> for Leader {
    fn from(child: Child) -> Self {
        Self {
            process: child.id(),
            stdin: child.stdin.map(Into::into),
            stdout: child.stdout.map(Into::into),
            stderr: child.stderr.map(Into::into),
        }
    }
}
