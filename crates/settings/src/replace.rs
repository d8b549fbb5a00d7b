//! Replaces a file so that readers see the old one or the new one, and writers wait for each other.

use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// How many links are followed before a chain counts as a loop; the kernel's own limit.
const LONGEST_LINK_CHAIN: usize = 40;
/// Mode of a new file before the process's mask is applied.
const NEW_FILE_MODE: u32 = 0o666;

/// A step of replacing a file that failed; the file is as it was.
#[derive(Debug, thiserror::Error)]
#[error("cannot {step} {}", path.display())]
pub struct ReplaceError {
    /// What was tried.
    pub step: &'static str,
    /// On which path.
    pub path: PathBuf,
    /// Why it failed.
    #[source]
    pub source: std::io::Error,
}

/// Reads a file, hands its bytes (none if it does not exist) to `change`, and puts what comes back in its place.
/// `None` from `change` leaves the file alone.
///
/// Symbolic links are followed first, so that the link stays and its target changes. Mode and owner are kept. All
/// callers in all processes take turns through a lock on the file's directory, which leaves nothing behind; readers
/// need no lock because the file is swapped by a rename. Returns the path that the links led to.
///
/// # Errors
/// What `change` returns, or the step that failed.
pub fn replace_file<E: From<ReplaceError>>(
    path: &Path,
    change: impl FnOnce(Option<Vec<u8>>) -> Result<Option<Vec<u8>>, E>,
) -> Result<PathBuf, E> {
    let target = follow_links(path)?;
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    fs_err::create_dir_all(&directory).map_err(failed("create", &directory))?;
    let handle = File::open(&directory).map_err(failed("open", &directory))?;
    let mut lock = fd_lock::RwLock::new(handle);
    let guard = loop {
        match lock.write() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => break other.map_err(failed("lock", &directory))?,
        }
    };

    let old = match std::fs::read(&target) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(failed("read", &target)(error).into()),
    };
    if let Some(new) = change(old)? {
        remove_left_overs(&directory, &target);
        swap(&directory, &target, &new)?;
        // The rename itself must survive a power cut, so the directory is flushed too.
        guard.sync_all().map_err(failed("flush", &directory))?;
    }
    Ok(target)
}

fn swap(directory: &Path, target: &Path, bytes: &[u8]) -> Result<(), ReplaceError> {
    let (prefix, suffix) = temporary_name(target);
    let mut temporary = tempfile::Builder::new()
        .prefix(&prefix)
        .suffix(suffix)
        .permissions(Permissions::from_mode(NEW_FILE_MODE))
        .tempfile_in(directory)
        .map_err(failed("create a file in", directory))?;
    if let Ok(old) = std::fs::metadata(target) {
        // Giving a file away needs privileges; without them the owner is us anyway or the write would have failed.
        let _ = std::os::unix::fs::fchown(temporary.as_file(), Some(old.uid()), Some(old.gid()));
        temporary
            .as_file()
            .set_permissions(old.permissions())
            .map_err(failed("set the mode of", temporary.path()))?;
    }
    temporary
        .write_all(bytes)
        .and_then(|()| temporary.as_file().sync_all())
        .map_err(failed("write", target))?;
    temporary.persist(target).map_err(|error| failed("replace", target)(error.error))?;
    Ok(())
}

/// A writer that was killed leaves its temporary file. We hold the lock, so none of them is alive.
fn remove_left_overs(directory: &Path, target: &Path) {
    let (prefix, suffix) = temporary_name(target);
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.starts_with(prefix.as_encoded_bytes()) && name.ends_with(suffix.as_bytes()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn temporary_name(target: &Path) -> (OsString, &'static str) {
    let mut prefix = OsString::from(".");
    prefix.push(target.file_name().unwrap_or_default());
    prefix.push(".pilothouse-");
    (prefix, ".tmp")
}

/// The path behind all links, also when the last one points to nothing yet.
fn follow_links(path: &Path) -> Result<PathBuf, ReplaceError> {
    let mut current = path.to_owned();
    for _ in 0..LONGEST_LINK_CHAIN {
        match std::fs::read_link(&current) {
            Ok(next) => {
                current = match current.parent() {
                    Some(parent) => parent.join(next),
                    None => next,
                };
            }
            // Not a link, or nothing there.
            Err(_) => return Ok(current),
        }
    }
    Err(failed("follow the links of", path)(std::io::Error::other("too many symbolic links")))
}

fn failed(step: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> ReplaceError {
    let path = path.to_owned();
    move |source| ReplaceError { step, path, source }
}
