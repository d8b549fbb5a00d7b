use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// Why a child could not be started. Each message says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// No such program in `PATH` or at that path.
    #[error("`{}` was not found; install it, put it on PATH, or give its full path", program.display())]
    NotFound {
        /// The program as it was given.
        program: PathBuf,
    },
    /// The path names a directory.
    #[error("`{}` is a directory; give the path of the executable inside it", program.display())]
    IsDirectory {
        /// The program as it was given.
        program: PathBuf,
    },
    /// The file may not be executed.
    #[error("`{0}` is not executable; make it so with `chmod +x {0}`, or give another path", program.display())]
    NotExecutable {
        /// The program as it was given.
        program: PathBuf,
    },
    /// The system does not know how to run the file, or its interpreter is missing.
    #[error(
        "`{}` cannot be run on this machine; check its first line (`#!…`) or that it was built for this system",
        program.display()
    )]
    NotAProgram {
        /// The program as it was given.
        program: PathBuf,
    },
    /// The working directory does not exist or is not a directory.
    #[error("the working directory `{}` does not exist or is not a directory; create it or choose another", cwd.display())]
    BadDirectory {
        /// The directory as it was given.
        cwd: PathBuf,
    },
    /// Arguments and environment are larger than the system takes.
    #[error("the arguments for `{}` are too long for the system; pass large values on stdin or in a file", program.display())]
    TooLong {
        /// The program as it was given.
        program: PathBuf,
    },
    /// A NUL byte in an argument, a variable or the path.
    #[error("an argument or environment variable for `{}` holds a NUL byte; remove it", program.display())]
    NulByte {
        /// The program as it was given.
        program: PathBuf,
    },
    /// No user of that name or number.
    #[error("there is no user `{user}` on this system; give the name or number of one that exists")]
    NoSuchUser {
        /// The user as it was given.
        user: String,
    },
    /// We may not become that user.
    #[error("this process may not start a child as the user `{user}`; run it as root, or leave the user out")]
    UserRefused {
        /// The user as it was given.
        user: String,
    },
    /// The system could not say who that user is.
    #[error("cannot look up the user `{user}`; give a number, or leave the user out")]
    UserLookup {
        /// The user as it was given.
        user: String,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// Anything else the system reported.
    #[error("could not start `{}`: {cause}; try it in a shell, where the same should happen", program.display())]
    Io {
        /// The program as it was given.
        program: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
}

/// Finds out what is really wrong. The system reports a missing directory, a missing program and a missing
/// interpreter with the same error number, so we look at the files; this runs only after a failure.
pub(crate) fn diagnose(
    cause: io::Error,
    program: &OsStr,
    cwd: Option<&Path>,
    search: Option<OsString>,
) -> SpawnError {
    let given = PathBuf::from(program);
    if let Some(cwd) = cwd
        && !cwd.is_dir()
    {
        return SpawnError::BadDirectory { cwd: cwd.to_owned() };
    }
    match Errno::from_io_error(&cause) {
        Some(Errno::TOOBIG) => return SpawnError::TooLong { program: given },
        Some(Errno::NOEXEC) => return SpawnError::NotAProgram { program: given },
        None if cause.kind() == io::ErrorKind::InvalidInput => {
            return SpawnError::NulByte { program: given };
        }
        Some(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR | Errno::ISDIR | Errno::PERM) => {}
        _ => {
            return SpawnError::Io { program: given, cause };
        }
    }
    let candidates = candidates(&given, cwd, search);
    let found = candidates.iter().find_map(|path| path.metadata().ok().map(|meta| (path, meta)));
    match found {
        None => SpawnError::NotFound { program: given },
        Some((_, meta)) if meta.is_dir() => SpawnError::IsDirectory { program: given },
        Some((_, meta)) if meta.permissions().mode() & 0o111 == 0 => {
            SpawnError::NotExecutable { program: given }
        }
        Some(_) if cause.kind() == io::ErrorKind::NotFound => SpawnError::NotAProgram { program: given },
        Some(_) => SpawnError::Io { program: given, cause },
    }
}

/// The files that a program's name may mean.
pub(crate) fn candidates(program: &Path, cwd: Option<&Path>, search: Option<OsString>) -> Vec<PathBuf> {
    if program.components().count() > 1 || program.is_absolute() {
        let base = cwd.unwrap_or(Path::new(""));
        return vec![base.join(program)];
    }
    // Where the system itself looks when nobody says where.
    let search = search.unwrap_or_else(|| "/bin:/usr/bin".into());
    std::env::split_paths(&search).map(|dir| dir.join(program)).collect()
}
