//! The directory that a bridge keeps everything in. One bridge at a time.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, fchmod, flock, fstat, open};
use rustix::io::Errno;
use rustix::process::geteuid;
use thiserror::Error;

use crate::auth::{DeviceError, Devices, write_private};
use crate::log::{Loss, SqliteStore, StorageError};
use crate::push::{Push, PushError, PushSetup};

/// The variable that processes of a bridge's sessions are known by.
const MARK: &str = "PILOTHOUSE_BRIDGE";

/// Older versions kept a bearer token of the user in this file, where any process of a session could read it.
const OLD_TOKEN: &str = "token";

/// How long processes that are ending anyway get for it before this bridge begins.
const DYING: Duration = Duration::from_secs(2);

/// Why the directory cannot be used.
#[derive(Debug, Error)]
pub enum StateDirError {
    /// Another bridge uses it.
    #[error("another bridge uses {0}: stop it, or choose another state directory")]
    InUse(PathBuf),
    /// Others have, or had, a hand in it.
    #[error("the state directory {path} is not safe: {why}")]
    Unsafe {
        /// The directory.
        path: PathBuf,
        /// What is wrong, and what to do.
        why: String,
    },
    /// It cannot be made or written.
    #[error("the state directory {path} cannot be used: {error}")]
    Io {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        error: io::Error,
    },
}

/// The directory that a bridge keeps everything in, locked until this is dropped.
#[derive(Debug)]
pub struct StateDir {
    path: PathBuf,
    id: String,
    _locks: [File; 2],
}

impl StateDir {
    /// Makes the directory if needed, for its user alone, and locks it.
    ///
    /// # Errors
    /// When another bridge has it, or it cannot be made.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StateDirError> {
        let path = path.into();
        let failed = |error: io::Error| StateDirError::Io { path: path.clone(), error };
        make_private(&path)?;
        // The directory itself is locked: a file in it could be removed, and the next bridge would lock another one.
        let directory = File::open(&path).map_err(failed)?;
        // Bridges before this one know only the lock of this file.
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(path.join("lock"))
            .map_err(failed)?;
        fchmod(&file, Mode::RUSR | Mode::WUSR).map_err(|error| failed(error.into()))?;
        for lock in [&directory, &file] {
            match flock(lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Err(StateDirError::InUse(path)),
                Err(error) => return Err(failed(error.into())),
            }
        }
        let id = read_id(&path.join("id")).map_err(failed)?;
        forget_token(&path.join(OLD_TOKEN)).map_err(failed)?;
        let path = path.canonicalize().map_err(failed)?;
        Ok(Self { path, id, _locks: [directory, file] })
    }

    /// What every process of a session has in its environment: a name, and what tells this bridge's processes from those
    /// of any other. A copy of the directory is another bridge.
    pub(crate) fn mark(&self) -> (&'static str, String) {
        (MARK, format!("{} {}", self.id, self.path.display()))
    }

    /// Ends what a bridge left running that was killed. The kernel has ended the CLIs that it started itself, but not
    /// those behind a wrapper, nor what they have started: two processes on one Claude session destroy its transcript.
    pub(crate) fn end_orphans(&self) {
        let (name, value) = self.mark();
        let ended = pilothouse_proc::kill_marked(name, &value);
        if ended > 0 {
            tracing::warn!(processes = ended, "the last bridge left processes running: they were ended");
        }
        pilothouse_proc::until_the_dying_are_gone(DYING);
    }

    /// Tells bridges on one machine apart: cookies do not know ports.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The key that messages to browsers are signed with, and the browsers that want them.
    ///
    /// # Errors
    /// When they cannot be read or made.
    pub(crate) fn push(&self, setup: PushSetup, url: &str) -> Result<Push, PushError> {
        Push::open(&self.path, setup, url)
    }

    /// The devices.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn devices(&self) -> Result<Devices, DeviceError> {
        Devices::open(self.path.join("devices.json"))
    }

    /// The log.
    ///
    /// # Errors
    /// When it cannot be opened, or is not all there.
    pub fn log(&self) -> Result<SqliteStore, StorageError> {
        self.log_with(Loss::Refuse)
    }

    /// The log, with a choice of what to do if it is not all there.
    ///
    /// # Errors
    /// As [`StateDir::log`].
    pub fn log_with(&self, loss: Loss) -> Result<SqliteStore, StorageError> {
        SqliteStore::open_with(&Self::log_file(&self.path), loss)
    }

    /// The log's file in a state directory.
    pub fn log_file(state_dir: &Path) -> PathBuf {
        state_dir.join("log.db")
    }
}

/// Makes a directory that its user alone can enter, whatever the umask, or tightens one that is there.
///
/// # Errors
/// When it cannot be made, is a symbolic link, belongs to another user, or others could write to it.
pub fn make_private(path: &Path) -> Result<(), StateDirError> {
    let failed = |error: io::Error| StateDirError::Io { path: path.to_owned(), error };
    let refused = |why: String| Err(StateDirError::Unsafe { path: path.to_owned(), why });
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = match open(path, flags, Mode::empty()) {
        Ok(directory) => directory,
        Err(Errno::LOOP | Errno::NOTDIR) => {
            return refused("it is a symbolic link: name the directory itself with --state-dir".to_owned());
        }
        Err(error) => return Err(failed(error.into())),
    };
    let found = fstat(&directory).map_err(|error| failed(error.into()))?;
    if found.st_uid != geteuid().as_raw() {
        return refused("it belongs to another user: choose another --state-dir".to_owned());
    }
    if found.st_mode & 0o022 != 0 {
        let place = path.display();
        return refused(format!(
            "others can write to it: look whether all its files are yours, then run `chmod 700 '{place}'`"
        ));
    }
    fchmod(&directory, Mode::RWXU).map_err(|error| failed(error.into()))
}

fn forget_token(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Ok(()) => {
            tracing::warn!("the token file of an older version was removed: use `pilothouse serve token`")
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

fn read_id(path: &Path) -> io::Result<String> {
    match std::fs::read_to_string(path) {
        Ok(id) if id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) => Ok(id),
        _ => {
            let id: String = crate::auth::random::<4>()?.iter().map(|byte| format!("{byte:02x}")).collect();
            write_private(path, id.as_bytes())?;
            Ok(id)
        }
    }
}
