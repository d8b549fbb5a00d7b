//! The folder for large output. It lies where everybody may make folders, under a name that can be guessed.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

/// What only its owner may look into.
const PRIVATE: u32 = 0o700;
const EVERYBODY_ELSE: u32 = 0o077;

/// Makes the folder for this user alone. One that somebody else has put there is refused: what is kept in it could be
/// read, or replaced.
///
/// # Errors
/// When it cannot be made, or is somebody else's.
pub fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(PRIVATE).create(folder)?;
    let meta = std::fs::symlink_metadata(folder)?;
    if !meta.is_dir() || meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other(format!("{} belongs to somebody else", folder.display())));
    }
    match meta.mode() & EVERYBODY_ELSE {
        0 => Ok(()),
        _ => std::fs::set_permissions(folder, Permissions::from_mode(PRIVATE)),
    }
}

/// Removes the folder, and folders in it, as far as nothing is kept there.
pub(crate) fn remove_empty(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        // A file is no folder, and one with files is not empty: both stay.
        let _ = std::fs::remove_dir(entry.path());
    }
    let _ = std::fs::remove_dir(folder);
}
