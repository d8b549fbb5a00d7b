//! The mark beside a log: which log it is and how many commits are safe on its disk, so that a log that vanished or fell
//! back is noticed.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::auth::write_private;

const HEAD: &str = "pilothouse log";

/// The mark's file. It is always as long: writing it anew never leaves half of it.
#[derive(Debug)]
pub(super) struct Mark {
    file: File,
    id: String,
    commits: u64,
}

/// What a mark says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) id: String,
    pub(super) commits: u64,
}

/// Where the mark of a log is.
pub(super) fn place(log: &Path) -> PathBuf {
    log.with_extension("mark")
}

impl Marked {
    /// What the mark of a log says; none if there is no mark.
    pub(super) fn read(log: &Path) -> io::Result<Option<Self>> {
        let place = place(log);
        let opened = OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(&place);
        let mut text = String::new();
        match opened {
            Ok(file) => drop(file.take(1024).read_to_string(&mut text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        let mut words = text.strip_prefix(HEAD).unwrap_or_default().split_whitespace();
        let read = words.next().zip(words.next().and_then(|commits| commits.parse().ok()));
        let (id, commits) = read.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{} is no mark", place.display()))
        })?;
        Ok(Some(Self { id: id.to_owned(), commits }))
    }

    fn text(&self) -> String {
        format!("{HEAD} {} {:020}\n", self.id, self.commits)
    }
}

impl Mark {
    /// Makes the mark of a log, or replaces it.
    pub(super) fn make(log: &Path, marked: &Marked) -> io::Result<Self> {
        let place = place(log);
        write_private(&place, marked.text().as_bytes())?;
        let file = OpenOptions::new().write(true).custom_flags(NO_FOLLOW).open(&place)?;
        Ok(Self { file, id: marked.id.clone(), commits: marked.commits })
    }

    /// Notes that so many commits are safe on the disk. The note itself is not synced: after a power cut it may say fewer.
    pub(super) fn advance(&mut self, commits: u64) -> io::Result<()> {
        if commits > self.commits {
            self.commits = commits;
            let marked = Marked { id: self.id.clone(), commits };
            self.file.write_all_at(marked.text().as_bytes(), 0)?;
        }
        Ok(())
    }
}

/// A link in place of a file is refused.
pub(super) const NO_FOLLOW: i32 = OFlags::NOFOLLOW.bits().cast_signed();
