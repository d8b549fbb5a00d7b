use std::path::Path;

use pilothouse_rules::{Disk, Files, Listing};
use pilothouse_tools::Places;

/// Answers the engine's questions about files from the disk. A path that a call holds on to leads where it led when the
/// call came, so that what is judged is what is opened.
#[derive(Debug)]
pub(crate) struct HeldDisk(pub(crate) Places);

impl Files for HeldDisk {
    fn is_dir(&self, path: &str) -> Option<bool> {
        Disk.is_dir(path)
    }

    fn is_there(&self, path: &str) -> bool {
        Disk.is_there(path)
    }

    fn resolve(&self, path: &str) -> Option<String> {
        match self.0.held(Path::new(path)) {
            Some(real) => real.into_os_string().into_string().ok(),
            None => Disk.resolve(path),
        }
    }

    fn list(&self, directory: &str, most: usize) -> Option<Listing> {
        Disk.list(directory, most)
    }
}
