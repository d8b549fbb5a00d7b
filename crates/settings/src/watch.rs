//! Tells when a settings file changed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::{Layer, Locations, Sources};

/// Editors touch a file several times in a row; what happens within this time is one change.
const QUIET: Duration = Duration::from_millis(60);

/// A settings file that is not what it was: written, made or deleted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Changed {
    /// Its layer.
    pub layer: Layer,
    /// The file.
    pub path: PathBuf,
}

/// The operating system refused to watch.
#[derive(Debug, thiserror::Error)]
#[error("cannot watch the settings files")]
pub struct WatchError(#[from] notify::Error);

/// A running watch. Changes come out of [`Watch::changes`]; dropping it ends the watch.
#[derive(Debug)]
pub struct Watch {
    changes: Receiver<Changed>,
    /// Its end wakes the thread, which then ends.
    _watcher: SharedWatcher,
}

type SharedWatcher = std::sync::Arc<std::sync::Mutex<RecommendedWatcher>>;

impl Watch {
    /// Starts to watch the files of the chosen sources, whether they exist yet or not. What counts is their content: a
    /// file that is written again with the same bytes did not change.
    ///
    /// # Errors
    /// When the operating system refuses, for example because there are too many watches.
    pub fn start(locations: &Locations, sources: Sources) -> Result<Watch, WatchError> {
        let mut files: Vec<Watched> = [Layer::User, Layer::Project, Layer::Local]
            .into_iter()
            .filter(|layer| sources.contains(*layer))
            .filter_map(|layer| Some((layer, locations.file(layer)?)))
            .chain(locations.policy_files().0.into_iter().map(|path| (Layer::Policy, path)))
            .map(|(layer, path)| Watched::new(layer, path))
            .collect();
        let (wake, woken) = mpsc::channel();
        let watcher = notify::recommended_watcher(move |_| {
            // The thread looks at the files themselves, so any event is just a reason to look. After the watch was
            // dropped nobody listens, which is fine.
            let _ = wake.send(());
        })?;
        let watcher: SharedWatcher = std::sync::Arc::new(std::sync::Mutex::new(watcher));
        let mut armed = HashSet::new();
        arm(&watcher, &files, &mut armed)?;
        // Between the first reading and arming a file may have changed.
        for file in &mut files {
            file.content = content(&file.path);
        }
        let (report, changes) = mpsc::channel();
        let weak = std::sync::Arc::downgrade(&watcher);
        std::thread::Builder::new()
            .name("settings-watch".to_owned())
            .spawn(move || look(&woken, &report, files, armed, &weak))
            .map_err(notify::Error::io)?;
        Ok(Watch { changes, _watcher: watcher })
    }

    /// Where changes arrive, one by one.
    pub fn changes(&self) -> &Receiver<Changed> {
        &self.changes
    }
}

#[derive(Debug)]
struct Watched {
    layer: Layer,
    path: PathBuf,
    content: Option<Vec<u8>>,
}

impl Watched {
    fn new(layer: Layer, path: PathBuf) -> Self {
        Watched { content: content(&path), layer, path }
    }
}

/// Settings files are small, so the bytes themselves are the surest fingerprint.
fn content(path: &Path) -> Option<Vec<u8>> {
    path.is_file().then(|| std::fs::read(path).ok()).flatten()
}

/// Watches directories, not files: files are replaced by renames and may not exist yet. For a directory that does not
/// exist the nearest one above it is watched, until it does.
fn arm(
    watcher: &SharedWatcher,
    files: &[Watched],
    armed: &mut HashSet<PathBuf>,
) -> Result<(), notify::Error> {
    for file in files {
        // A link may lead out of the directory, and its target changes there.
        let real = std::fs::canonicalize(&file.path).ok();
        for path in [Some(file.path.clone()), real].into_iter().flatten() {
            let Some(directory) = path.ancestors().skip(1).find(|above| above.is_dir()) else {
                continue;
            };
            if armed.insert(directory.to_owned())
                && let Ok(mut watcher) = watcher.lock()
            {
                watcher.watch(directory, RecursiveMode::NonRecursive)?;
            }
        }
    }
    Ok(())
}

fn look(
    woken: &Receiver<()>,
    report: &Sender<Changed>,
    mut files: Vec<Watched>,
    mut armed: HashSet<PathBuf>,
    watcher: &std::sync::Weak<std::sync::Mutex<RecommendedWatcher>>,
) {
    // The channel closes when the watcher, which holds its other end, is dropped.
    while woken.recv().is_ok() {
        loop {
            match woken.recv_timeout(QUIET) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        {
            let Some(watcher) = watcher.upgrade() else {
                return;
            };
            // A directory may have been removed and made again, which ends its watch: forget those that are gone.
            armed.retain(|directory| directory.is_dir());
            // A directory that cannot be watched now is tried again at the next event.
            let _ = arm(&watcher, &files, &mut armed);
        }
        // All files are read before anyone hears of a change, so that a reader's reaction is not mixed into it.
        let mut changed = Vec::new();
        for file in &mut files {
            let now = content(&file.path);
            if now != file.content {
                file.content = now;
                changed.push(Changed { layer: file.layer, path: file.path.clone() });
            }
        }
        if changed.into_iter().any(|one| report.send(one).is_err()) {
            return;
        }
    }
}
