//! Where paths really lead: found out once per call, and held to.
//!
//! Between the moment a call is judged and the moment it runs somebody may turn a folder into a link. So a path is followed
//! once, the judge and the tool both go by what was found, and the tool opens it without following anything more.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// The paths that calls name at present, and where each led when its call was judged. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Places(Arc<Mutex<HashMap<PathBuf, Held>>>);

#[derive(Debug)]
struct Held {
    real: PathBuf,
    holders: usize,
}

/// Keeps a path where it led; dropping it lets go.
#[derive(Debug)]
pub struct Hold {
    places: Places,
    path: PathBuf,
}

/// A path as the call names it, and where it leads.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) real: PathBuf,
}

impl Places {
    /// Follows a path, and holds on to where it leads until the value goes. A path that is held already stays as it is.
    #[must_use]
    pub fn hold(&self, path: &Path) -> Hold {
        let mut held = self.lock();
        match held.get_mut(path) {
            Some(held) => held.holders += 1,
            None => drop(held.insert(path.to_owned(), Held { real: followed(path), holders: 1 })),
        }
        Hold { places: self.clone(), path: path.to_owned() }
    }

    /// Where a path led when it was taken hold of; none if nobody holds it.
    pub fn held(&self, path: &Path) -> Option<PathBuf> {
        self.lock().get(path).map(|held| held.real.clone())
    }

    pub(crate) fn place(&self, path: &Path) -> Place {
        let real = self.held(path).unwrap_or_else(|| followed(path));
        Place { path: path.to_owned(), real }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut all = self.places.lock();
        if let Some(held) = all.get_mut(&self.path) {
            held.holders -= 1;
            if held.holders == 0 {
                all.remove(&self.path);
            }
        }
    }
}

impl Place {
    /// Opens what is there for reading. It does not wait for anybody, so a pipe cannot hang the tool.
    pub(crate) fn open(&self) -> io::Result<File> {
        open(&self.real, OFlags::RDONLY | OFlags::NONBLOCK)
    }

    /// What is there, without opening it: nothing waits for whoever is at the other end of a pipe.
    pub(crate) fn look(&self) -> io::Result<Metadata> {
        open(&self.real, OFlags::PATH)?.metadata()
    }

    /// Something below it, by where it really lies.
    pub(crate) fn below(&self, real: &Path) -> Self {
        let path = match real.strip_prefix(&self.real) {
            Ok(rest) if !rest.as_os_str().is_empty() => self.path.join(rest),
            _ => self.path.clone(),
        };
        Self { path, real: real.to_owned() }
    }

    /// The folder it is in, made if it is missing: a path through which no link can lead elsewhere while the file is open.
    pub(crate) fn folder(&self) -> io::Result<(File, PathBuf)> {
        let folder = self.real.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder)?;
        let opened = open(folder, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let through = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
        let path = if through.exists() { through } else { folder.to_owned() };
        Ok((opened, path))
    }
}

/// A path with every link followed; what does not exist yet lies where its nearest existing folder really is.
fn followed(path: &Path) -> PathBuf {
    let known = path.ancestors().find_map(|above| Some((above.canonicalize().ok()?, above)));
    let followed = known.and_then(|(real, known)| {
        let rest = path.strip_prefix(known).ok()?;
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    });
    followed.unwrap_or_else(|| path.to_owned())
}

fn open(real: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::CLOEXEC;
    let opened = match rustix::fs::openat2(CWD, real, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Kernels and sandboxes that do not know the call: at least the last part is no link.
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::open(real, flags | OFlags::NOFOLLOW, Mode::empty()),
        opened => opened,
    };
    match opened {
        Ok(file) => Ok(File::from(file)),
        Err(Errno::LOOP) => {
            Err(io::Error::other("a folder on the way has become a link since the call was judged"))
        }
        Err(error) => Err(error.into()),
    }
}
