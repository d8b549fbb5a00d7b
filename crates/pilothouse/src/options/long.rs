//! Arguments that the system would not take, because they are longer than one may be.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use super::OptionsError;
use super::argv::LONGEST_ARGUMENT;
use crate::error::Error;

/// The longest argument or variable that Linux takes: 32 pages of 4 KiB, with the NUL byte at its end.
const LONGEST: usize = 128 * 1024 - 1;

/// Flags whose value may be a file as well as JSON.
const TAKE_A_FILE: &[&str] = &["--settings", "--mcp-config"];

/// Replaces JSON that is too long for an argument by files that only this user may read. They are there as long as the
/// folder is.
///
/// # Errors
/// When something else is too long, or the files cannot be written.
pub(crate) fn to_files(
    args: &mut [OsString],
    env: &BTreeMap<OsString, OsString>,
    for_other_user: bool,
) -> Result<Option<TempDir>, Error> {
    let mut folder = None;
    for (number, argument) in args.iter_mut().enumerate() {
        if argument.len() <= LONGEST_ARGUMENT {
            continue;
        }
        let Some((flag, json)) = split(argument) else {
            check(&name(argument), argument.len())?;
            continue;
        };
        if for_other_user {
            return Err(OptionsError::TooLongForUser(flag.to_owned()).into());
        }
        let cannot =
            |error: std::io::Error| Error::Unwritable { name: flag.to_owned(), cause: Arc::new(error) };
        let folder = match &mut folder {
            Some(folder) => folder,
            none => none.insert(private_folder().map_err(cannot)?),
        };
        let path = folder.path().join(format!("{number}.json"));
        write(&path, json.as_bytes()).map_err(cannot)?;
        let mut token = OsString::from(format!("{flag}="));
        token.push(path);
        *argument = token;
    }
    for (variable, value) in env {
        check(&format!("the variable {}", variable.to_string_lossy()), variable.len() + 1 + value.len())?;
    }
    Ok(folder)
}

/// The flag and the JSON of an argument that may be a file instead.
fn split(argument: &OsString) -> Option<(&'static str, &str)> {
    let (flag, value) = argument.to_str()?.split_once('=')?;
    let flag = TAKE_A_FILE.iter().find(|known| **known == flag)?;
    value.starts_with('{').then_some((*flag, value))
}

fn check(name: &str, bytes: usize) -> Result<(), OptionsError> {
    if bytes <= LONGEST {
        return Ok(());
    }
    Err(OptionsError::TooLong { name: name.to_owned(), bytes, longest: LONGEST })
}

/// An argument by its flag: the value is too long to be shown.
fn name(argument: &OsString) -> String {
    let start = argument.as_bytes().get(..argument.len().min(64)).unwrap_or_default();
    let start = String::from_utf8_lossy(start);
    match start.split_once('=') {
        Some((flag, _)) if flag.starts_with("--") => flag.to_owned(),
        _ => format!("the argument `{start}…`"),
    }
}

/// A new folder that only this user may look into, and that goes when it is dropped.
pub(crate) fn private_folder() -> std::io::Result<TempDir> {
    tempfile::Builder::new().prefix("pilothouse-").permissions(Permissions::from_mode(0o700)).tempdir()
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(bytes)
}

#[cfg(test)]
#[path = "long_tests.rs"]
mod tests;
