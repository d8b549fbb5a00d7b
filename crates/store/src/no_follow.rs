//! Writes files whose names can be guessed: a link that somebody put in the place of one is refused, not followed.

use std::io::{self, Write as _};
use std::path::Path;

use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use rustix::fs::OFlags;

/// Options for a file of the user alone, to which no link leads.
pub(crate) fn options() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.mode(0o600).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options
}

/// Writes a file as a whole.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    options().write(true).create(true).truncate(true).open(path)?.write_all(content)
}
