//! Files of users and projects that are read whole: only as far as makes sense, and never a pipe that nobody writes to.

use std::io::{self, Read as _};
use std::path::Path;

/// The first bytes of a regular file, at most `limit`.
pub(crate) fn read(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    if !fs_err::metadata(path)?.is_file() {
        return Err(io::Error::other(format!("{} is not a regular file", path.display())));
    }
    let mut bytes = Vec::new();
    fs_err::File::open(path)?.take(limit as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
