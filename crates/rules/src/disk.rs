//! The disk of this machine, for a context whose paths lie there.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::paths::{DirectoryEntry, EntryKind, Files, Listing};

/// Answers the engine's questions about files from the real disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Files for Disk {
    fn is_dir(&self, path: &str) -> Option<bool> {
        std::fs::metadata(path).ok().map(|metadata| metadata.is_dir())
    }

    /// A file that does not exist yet lies where its nearest existing directory really is.
    fn resolve(&self, path: &str) -> Option<String> {
        follow(Path::new(path)).into_os_string().into_string().ok()
    }

    fn list(&self, directory: &str, most: usize) -> Option<Listing> {
        let entries = match std::fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Some(Listing::Absent);
            }
            Err(_) => return Some(Listing::Unreadable),
        };
        let mut listed = Vec::new();
        for entry in entries {
            let Ok(entry) = entry else { return Some(Listing::Unreadable) };
            // A name that is not UTF-8 cannot be compared with a pattern.
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                return Some(Listing::Unreadable);
            };
            if listed.len() >= most {
                return Some(Listing::Unreadable);
            }
            let kind = match kind {
                kind if kind.is_dir() => EntryKind::Directory,
                kind if kind.is_symlink() => EntryKind::Link,
                _ => EntryKind::Other,
            };
            listed.push(DirectoryEntry { name, kind });
        }
        Some(Listing::Entries(listed))
    }
}

/// Follows links by hand where the system does not, because what they lead to is not there yet: writing to such a link
/// creates its target. A loop leads nowhere, which is said by the root, where no project lies.
fn follow(path: &Path) -> PathBuf {
    const MOST_LINKS: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let known = path.ancestors().find_map(|above| Some((above.canonicalize().ok()?, above)));
        let Some((real, above)) = known else { return path };
        let mut rest = path.strip_prefix(above).map(Path::components).into_iter().flatten();
        let Some(first) = rest.next() else { return real };
        let next = real.join(first);
        let (link, mut led) = match std::fs::read_link(&next) {
            Ok(target) => (true, real.join(target)),
            Err(_) => (false, next),
        };
        led.extend(rest);
        if !link {
            return led;
        }
        path = led;
    }
    PathBuf::from("/")
}
