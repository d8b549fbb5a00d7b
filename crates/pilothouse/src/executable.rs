//! Finding the CLI. Nothing is started here: a version probe would cost a whole CLI start per session.

use std::path::{Path, PathBuf};

use thiserror::Error;

pub use crate::version::{is_too_old, oldest};

/// Why no usable CLI was found, and what to do about it.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExecutableError {
    /// No program of that name on `PATH`.
    #[error("no `{name}` on PATH: install Claude Code, or give its path with `Options::executable`")]
    NotOnPath {
        /// The name that was looked up.
        name: String,
    },
    /// The given path leads nowhere.
    #[error("{path} does not exist: check the path given to `Options::executable`")]
    Missing {
        /// The path as given.
        path: PathBuf,
    },
    /// The given path is a directory or a device.
    #[error("{path} is not a file: give the path of the CLI itself")]
    NotAFile {
        /// The path as given.
        path: PathBuf,
    },
    /// The file lacks the permission to run.
    #[error("{path} is not executable: `chmod +x` it, or choose another with `Options::executable`")]
    NotExecutable {
        /// The path as given.
        path: PathBuf,
    },
    /// The path could not be looked at.
    #[error(
        "{path} cannot be looked at: {reason}: check its permissions, or choose another with `Options::executable`"
    )]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// What the operating system said.
        reason: String,
    },
}

/// The name that is looked up when no path is given.
pub const DEFAULT_NAME: &str = "claude";

/// Finds the CLI: a path with a separator is taken as it is, a bare name is looked up on `PATH`, nothing means [`DEFAULT_NAME`].
///
/// # Errors
/// Says what is wrong with the path and what to do.
pub fn find(given: Option<&Path>) -> Result<PathBuf, ExecutableError> {
    match given {
        Some(path) if path.components().count() > 1 || path.is_absolute() => check(path),
        Some(name) => on_path(&name.to_string_lossy()),
        None => on_path(DEFAULT_NAME),
    }
}

fn on_path(name: &str) -> Result<PathBuf, ExecutableError> {
    which::which(name).map_err(|_| ExecutableError::NotOnPath { name: name.to_owned() })
}

fn check(path: &Path) -> Result<PathBuf, ExecutableError> {
    use std::os::unix::fs::PermissionsExt as _;
    let path_buf = || path.to_path_buf();
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => ExecutableError::Missing { path: path_buf() },
        _ => ExecutableError::Unreadable { path: path_buf(), reason: error.to_string() },
    })?;
    if !metadata.is_file() {
        return Err(ExecutableError::NotAFile { path: path_buf() });
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err(ExecutableError::NotExecutable { path: path_buf() });
    }
    // The child may run in another directory, so a relative path has to be made absolute here.
    std::path::absolute(path)
        .map_err(|error| ExecutableError::Unreadable { path: path_buf(), reason: error.to_string() })
}

#[cfg(test)]
#[path = "executable_tests.rs"]
mod tests;
