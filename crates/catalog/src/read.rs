//! Reads prompt files within limits.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::problem::{Problem, ProblemKind};

/// The largest prompt file that is used.
pub(crate) const LARGEST_FILE: u64 = 1024 * 1024;
/// How much of a file is read to find its front matter and first line.
const HEAD: u64 = 16 * 1024;

/// A file that cannot be used now, though it may have been found before.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ReadError(pub Box<Problem>);

/// The beginning of a file, enough for its front matter: lists need no more.
pub(crate) fn read_head(path: &Path) -> Result<String, Problem> {
    let (mut file, length) = open(path)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(HEAD)).unwrap_or_default());
    let whole = |bytes: &[u8]| u64::try_from(bytes.len()).is_ok_and(|read| read < HEAD);
    file.by_ref().take(HEAD).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if whole(&bytes) || has_whole_front_matter(&bytes) {
        return text(path, bytes, HEAD);
    }
    file.take(LARGEST_FILE).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    text(path, bytes, LARGEST_FILE)
}

/// The whole file.
pub(crate) fn read_all(path: &Path) -> Result<String, Problem> {
    let (file, _) = open(path)?;
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if u64::try_from(bytes.len()).is_ok_and(|read| read > LARGEST_FILE) {
        return Err(too_large(path));
    }
    text(path, bytes, u64::MAX)
}

fn has_whole_front_matter(bytes: &[u8]) -> bool {
    !bytes.starts_with(b"---") && !bytes.starts_with(b"\xef\xbb\xbf---")
        || bytes.windows(4).skip(3).any(|window| window == b"\n---")
}

/// Only regular files are opened: a pipe or a device under this name would block or never end.
fn open(path: &Path) -> Result<(std::fs::File, u64), Problem> {
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        return Err(unreadable(path, &std::io::Error::new(ErrorKind::InvalidInput, "not a regular file")));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(too_large(path));
    }
    let file = std::fs::File::open(path).map_err(|error| unreadable(path, &error))?;
    Ok((file, metadata.len()))
}

/// A text that was cut may end inside a character, which is no fault of the file.
fn text(path: &Path, bytes: Vec<u8>, cut_at: u64) -> Result<String, Problem> {
    let was_cut = u64::try_from(bytes.len()).is_ok_and(|read| read >= cut_at);
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if was_cut && error.utf8_error().error_len().is_none() => {
            let good = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(good);
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        }
        Err(_) => Err(problem(path, ProblemKind::NotUtf8)),
    }
}

pub(crate) fn problem(path: impl Into<PathBuf>, kind: ProblemKind) -> Problem {
    Problem { path: path.into(), line: None, kind }
}

pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    problem(path, ProblemKind::Unreadable(error.to_string()))
}

fn too_large(path: &Path) -> Problem {
    problem(path, ProblemKind::TooLarge { limit: LARGEST_FILE })
}
