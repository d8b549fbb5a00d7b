use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::seen::Seen;

/// Told before a tool changes a file, so that the change can be taken back later.
pub trait Journal: Send + Sync {
    /// The file is about to be created, changed or removed; its present content is still on disk.
    fn before_change(&self, path: &Path);
}

/// What the tools of one session share: where they are, what they have read, where they may put large output.
pub struct Workspace {
    cwd: Mutex<PathBuf>,
    home: Option<PathBuf>,
    output_dir: PathBuf,
    env: Vec<(String, String)>,
    seen: Mutex<Seen>,
    journal: Option<Arc<dyn Journal>>,
}

impl Workspace {
    /// A workspace at `cwd`; output too large for the model is kept in files below `output_dir`.
    pub fn new(cwd: impl Into<PathBuf>, output_dir: impl Into<PathBuf>) -> Self {
        Self {
            cwd: Mutex::new(cwd.into()),
            home: None,
            output_dir: output_dir.into(),
            env: Vec::new(),
            seen: Mutex::default(),
            journal: None,
        }
    }

    /// Sets the directory that `~` stands for.
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Gives commands these variables, besides those of this process.
    pub fn with_env(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.env.extend(variables);
        self
    }

    /// Has every change announced to `journal` first.
    pub fn with_journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// The directory that relative paths start from; Bash moves it with `cd`.
    pub fn cwd(&self) -> PathBuf {
        locked(&self.cwd).clone()
    }

    /// Moves to another directory.
    pub fn set_cwd(&self, cwd: impl Into<PathBuf>) {
        *locked(&self.cwd) = cwd.into();
    }

    /// Where output too large for the model is kept.
    pub fn output_dir(&self) -> &Path {
        &self.output_dir
    }

    /// The variables that commands get besides those of this process.
    pub(crate) fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// The absolute path that a tool argument means, without touching the disk.
    pub fn resolve(&self, path: &str) -> PathBuf {
        let tilde = path.strip_prefix("~/").or_else(|| (path == "~").then_some(""));
        match (tilde, &self.home) {
            (Some(rest), Some(home)) => normal(&home.join(rest)),
            _ => normal(&self.cwd().join(path)),
        }
    }

    /// A path as a person would write it: relative to the working directory where it lies below it.
    pub(crate) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(self.cwd()).unwrap_or(path).display().to_string()
    }

    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        locked(&self.seen)
    }

    pub(crate) fn announce_change(&self, path: &Path) {
        if let Some(journal) = &self.journal {
            journal.before_change(path);
        }
    }
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace").field("cwd", &self.cwd()).finish_non_exhaustive()
    }
}

/// A panic while the lock was held leaves paths and times: worth going on with.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes `.` and `..` out of an absolute path by its letters alone.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
