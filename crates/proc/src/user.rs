//! Running a child as another user of the system.

use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::unistd::{Gid, Uid, User, geteuid};

use crate::error::SpawnError;

/// Makes the command change to the user before it runs; nothing is changed if we are that user already.
pub(crate) fn become_user(command: &mut Command, name: &str) -> Result<(), SpawnError> {
    let (uid, gid) = find(name)?;
    if uid == geteuid() {
        return Ok(());
    }
    // Asked now, because the system's refusal between fork and exec looks like that of a file.
    if !geteuid().is_root() {
        return Err(SpawnError::UserRefused { user: name.to_owned() });
    }
    // The standard library also drops all supplementary groups when root becomes somebody else.
    command.uid(uid.as_raw()).gid(gid.as_raw());
    Ok(())
}

/// The user by name, or by number if nobody has that name. A number without an entry is its own group.
fn find(name: &str) -> Result<(Uid, Gid), SpawnError> {
    let unknown = || SpawnError::NoSuchUser { user: name.to_owned() };
    let looked_up = |cause: nix::Error| SpawnError::UserLookup { user: name.to_owned(), cause: cause.into() };
    // A name with a NUL byte could not be asked for.
    if name.contains('\0') {
        return Err(unknown());
    }
    if let Some(user) = User::from_name(name).map_err(looked_up)? {
        return Ok((user.uid, user.gid));
    }
    let number: u32 = name.parse().map_err(|_| unknown())?;
    let user = User::from_uid(Uid::from_raw(number)).map_err(looked_up)?;
    Ok((Uid::from_raw(number), user.map_or_else(|| Gid::from_raw(number), |user| user.gid)))
}
