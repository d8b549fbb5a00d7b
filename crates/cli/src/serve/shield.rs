//! Keeps the bridge's own process out of its sessions' reach: they run as the same user.

use std::time::Duration;

use anyhow::Context as _;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use tokio_util::task::AbortOnDropHandle;

/// How often orphans that have ended are reaped. The end of any CLI reaps them, too.
const REAP_EVERY: Duration = Duration::from_secs(10);

/// From now on no process of the same user can trace this one, or read its memory, files or environment in `/proc`; and
/// every process that a session starts stays a descendant of this one.
///
/// # Errors
/// When the system cannot do that: the control socket would not know a session's processes.
pub(super) fn raise() -> anyhow::Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .context("cannot keep other processes out of this one")?;
    pilothouse_proc::adopt_orphans().context("cannot become the parent of orphans")
}

/// Reaps orphans until the handle is dropped.
pub(super) fn reap_orphans() -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async {
        loop {
            tokio::time::sleep(REAP_EVERY).await;
            pilothouse_proc::reap_orphans();
        }
    }))
}
