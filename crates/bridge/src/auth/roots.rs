//! Which directories sessions may work in.

use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};
use rustix::io::Errno;
use thiserror::Error;

use crate::trust::Clearance;

/// Longer files are not read.
const LONGEST_FILE: u64 = 1024 * 1024;

/// How much of a commit's name is shown where there is no branch.
const COMMIT: usize = 8;

/// How much of a branch's name is shown, in characters.
const LONGEST_BRANCH: usize = 200;

/// Why a directory cannot be worked in.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RootsError {
    /// A root is not there.
    #[error("the root {path} cannot be opened: {reason}")]
    Root {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It is not beneath a root, or not there. Which of these is not told.
    #[error("{0} is not a directory beneath an allowed root: start the bridge with `--root` for it")]
    Outside(PathBuf),
    /// The bridge lacks what it takes to look.
    #[error(
        "{path} cannot be opened: {reason}; the bridge has too many open files or too little memory: close sessions or \
         connections, or raise its limit of open files"
    )]
    Exhausted {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
}

/// The directories beneath which sessions may work.
///
/// A directory is opened beneath the handle of its root, so that neither `..` nor a symbolic link leads out, not even
/// one that is put there while it is being opened.
#[derive(Debug, Clone)]
pub struct Roots {
    roots: Arc<[Root]>,
}

#[derive(Debug)]
struct Root {
    path: PathBuf,
    handle: OwnedFd,
}

/// A directory that was found to be allowed. While this is kept, nobody can put another in its place.
#[derive(Debug)]
pub struct Project {
    /// Where it really is.
    path: PathBuf,
    handle: OwnedFd,
    roots: Roots,
    clearance: Clearance,
}

impl Project {
    /// Where it really is, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a path is beneath the roots that this directory is beneath.
    pub(crate) fn is_in_reach(&self, path: &str) -> bool {
        self.roots.covers(path.as_ref())
    }

    /// The text of a file beneath a root, named from there or from this directory; nothing if it is not there, too
    /// long, or no text.
    pub(crate) fn read(&self, file: &Path) -> Option<String> {
        self.roots.read(&self.path.join(file))
    }

    /// The branch that is checked out here, or the beginning of the commit.
    pub(crate) fn branch(&self) -> Option<String> {
        let within = |directory: &&Path| self.roots.covers(directory);
        let head = self.path.ancestors().take_while(within).find_map(|directory| {
            let git = directory.join(".git");
            // In a worktree of its own it is a file that says where the rest is.
            let elsewhere =
                self.roots.read(&git).and_then(|text| Some(text.strip_prefix("gitdir:")?.trim().to_owned()));
            self.roots.read(&elsewhere.map_or(git, |path| directory.join(path)).join("HEAD"))
        })?;
        let head = head.trim();
        let name = match head.strip_prefix("ref:") {
            Some(name) => name.trim().trim_start_matches("refs/heads/"),
            None => head.get(..COMMIT).unwrap_or(head),
        };
        Some(name.chars().filter(|char| !char.is_control()).take(LONGEST_BRANCH).collect())
    }

    /// With what a session may take from its files.
    pub(crate) fn with(self, clearance: Clearance) -> Self {
        Self { clearance, ..self }
    }

    /// What a session may take from its files.
    pub(crate) fn clearance(&self) -> &Clearance {
        &self.clearance
    }

    /// A path to the very directory that was opened, for a child to start in.
    pub fn start_in(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.handle.as_raw_fd()))
    }
}

impl Roots {
    /// These directories and what is beneath them.
    ///
    /// # Errors
    /// When one of them is not there.
    pub fn new(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Self, RootsError> {
        let root = |path: &Path| -> Result<Root, String> {
            let path = path.canonicalize().map_err(|error| error.to_string())?;
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let handle = open(&path, flags, Mode::empty()).map_err(|error| error.to_string())?;
            Ok(Root { path, handle })
        };
        let roots: Result<Vec<Root>, RootsError> = paths
            .into_iter()
            .map(|path| {
                let path = path.as_ref();
                root(path).map_err(|reason| RootsError::Root { path: path.to_owned(), reason })
            })
            .collect();
        Ok(Self { roots: roots?.into() })
    }

    /// The roots.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.path.as_path())
    }

    /// Opens a directory that a client names.
    ///
    /// # Errors
    /// When it is not an existing directory beneath a root.
    pub fn open(&self, asked: &str) -> Result<Project, RootsError> {
        let asked = Path::new(asked);
        let outside = || RootsError::Outside(asked.to_owned());
        if !asked.is_absolute() || asked.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(outside());
        }
        for root in self.roots.iter() {
            let Ok(beneath) = asked.strip_prefix(&root.path) else { continue };
            // An empty path is not one to the kernel.
            let beneath = if beneath.as_os_str().is_empty() { Path::new(".") } else { beneath };
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let stay = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            let handle = match openat2(&root.handle, beneath, flags, Mode::empty(), stay) {
                Ok(handle) => handle,
                Err(error @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => {
                    return Err(RootsError::Exhausted { path: asked.to_owned(), reason: error.to_string() });
                }
                Err(_) => continue,
            };
            let path =
                std::fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd())).map_err(|_| outside())?;
            return Ok(Project { path, handle, roots: self.clone(), clearance: Clearance::default() });
        }
        Err(outside())
    }

    /// The text of a file beneath a root.
    fn read(&self, file: &Path) -> Option<String> {
        let (root, beneath) =
            self.roots.iter().find_map(|root| Some((root, file.strip_prefix(&root.path).ok()?)))?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let stay = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let file = std::fs::File::from(openat2(&root.handle, beneath, flags, Mode::empty(), stay).ok()?);
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut text = String::new();
        let read = file.take(LONGEST_FILE + 1).read_to_string(&mut text).ok()?;
        (read as u64 <= LONGEST_FILE).then_some(text)
    }

    /// Whether a path, as somebody wrote it, is beneath a root. Good for lists only: opening decides.
    pub fn covers(&self, path: &Path) -> bool {
        let plain = path.components().all(|part| !matches!(part, Component::ParentDir));
        plain && self.roots.iter().any(|root| path.starts_with(&root.path))
    }
}
