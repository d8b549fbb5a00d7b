//! Who is at the other end of the control socket: a process of the same user that no session has started.
//!
//! Everything that a session starts descends from the bridge, for good: the bridge is a child subreaper, so a process whose
//! parents have ended becomes its child. So whatever a session's processes can read or run, they cannot ask the bridge for
//! a token or a pairing code.

use std::os::fd::{AsFd, OwnedFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{getsockopt, sockopt};
use rustix::process::{Pid, PidfdFlags, geteuid, pidfd_open};

/// Lets a peer through, or says why not.
pub(super) fn check(socket: &impl AsFd) -> Result<(), String> {
    let unknown = |error: &dyn std::fmt::Display| format!("the bridge cannot tell who asks: {error}");
    let peer = getsockopt(socket, sockopt::PeerCredentials).map_err(|error| unknown(&error))?;
    if peer.uid() != geteuid().as_raw() {
        return Err("the bridge belongs to another user".to_owned());
    }
    // Zero is a process outside of this PID namespace.
    let pid = Pid::from_raw(peer.pid()).ok_or_else(|| unknown(&"it runs in another PID namespace"))?;
    let number = u32::try_from(peer.pid()).map_err(|error| unknown(&error))?;
    let handle = handle(socket, pid).map_err(|error| unknown(&error))?;
    if pilothouse_proc::is_descendant(number).map_err(|error| unknown(&error))? {
        return Err(
            "a process of a session may not ask this: run the command in a terminal of your own".to_owned()
        );
    }
    // The number was looked at. It was the peer's as long as the peer has not ended.
    if has_ended(&handle).map_err(|error| unknown(&error))? {
        return Err(unknown(&"it has ended"));
    }
    Ok(())
}

/// A handle to the process that connected.
fn handle(socket: &impl AsFd, pid: Pid) -> std::io::Result<OwnedFd> {
    // Linux 6.5 and later give a handle to the very process. Before, its number may have gone to another one between its
    // connect and this call.
    match getsockopt(socket, sockopt::PeerPidfd) {
        Ok(handle) => Ok(handle),
        Err(_) => Ok(pidfd_open(pid, PidfdFlags::empty())?),
    }
}

fn has_ended(handle: &OwnedFd) -> std::io::Result<bool> {
    let mut polled = [PollFd::new(handle.as_fd(), PollFlags::POLLIN)];
    Ok(poll(&mut polled, PollTimeout::ZERO)? > 0)
}
