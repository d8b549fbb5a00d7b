//! The disk of this machine, for a context whose paths lie there.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::paths::{DirectoryEntry, EntryKind, Files, Listing};

/// Answers the engine's questions about files from the real disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Files for Disk {
    fn is_dir(&self, path: &str) -> Option<bool> {
        std::fs::metadata(path).ok().map(|metadata| metadata.is_dir())
    }

    fn is_there(&self, path: &str) -> bool {
        std::fs::symlink_metadata(path).is_ok()
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
/// creates its target. What leads in a circle, or up again from what is not there, leads nowhere that anybody can say;
/// this is said by the root, where no project lies. So no answer has `..` in it.
fn follow(path: &Path) -> PathBuf {
    const MOST_LINKS: usize = 40;
    let mut real = PathBuf::from("/");
    let mut there = true;
    let mut links = 0;
    // What is still to be walked, the next part last.
    let mut ahead: Vec<OsString> = Vec::new();
    let queue = |ahead: &mut Vec<OsString>, path: &Path| {
        ahead.extend(path.components().rev().map(|part| part.as_os_str().to_owned()));
    };
    queue(&mut ahead, path);
    while let Some(part) = ahead.pop() {
        match Path::new(&part).components().next() {
            Some(Component::RootDir) => (real, there) = (PathBuf::from("/"), true),
            Some(Component::ParentDir) if !there => return PathBuf::from("/"),
            Some(Component::ParentDir) => _ = real.pop(),
            Some(Component::Normal(name)) => {
                real.push(name);
                match std::fs::read_link(&real) {
                    Ok(_) if links >= MOST_LINKS => return PathBuf::from("/"),
                    Ok(target) => {
                        links += 1;
                        real.pop();
                        queue(&mut ahead, &target);
                    }
                    // It is there, and no link.
                    Err(error) if error.kind() == ErrorKind::InvalidInput => {}
                    Err(_) => there = false,
                }
            }
            Some(Component::CurDir | Component::Prefix(_)) | None => {}
        }
    }
    real
}
