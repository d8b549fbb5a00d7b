//! What was read of transcripts before: a list of thousands is asked for again and again, and hardly one has changed since.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::id::SessionId;
use crate::info::{SessionInfo, read_info};

/// More transcripts than people have; past it everything is read anew.
const MOST: usize = 20_000;

/// A file system's clock is coarse: what was written this lately may be written to again and look the same.
const SETTLED: Duration = Duration::from_secs(1);

/// Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(Arc<Mutex<Read>>);

/// By path, with the state of the file that was read.
type Read = HashMap<PathBuf, (FileState, Option<SessionInfo>)>;

/// A transcript that was written to is longer or newer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileState {
    pub(crate) modified: SystemTime,
    size: u64,
}

impl From<&Metadata> for FileState {
    fn from(file: &Metadata) -> Self {
        Self { modified: file.modified().unwrap_or(SystemTime::UNIX_EPOCH), size: file.len() }
    }
}

impl Known {
    /// What a list shows of this transcript; it is opened only if it is not in the state that it was read in before.
    pub(crate) fn info(
        &self,
        id: SessionId,
        path: &Path,
        state: FileState,
    ) -> io::Result<Option<SessionInfo>> {
        if let Some((read, info)) = self.lock().get(path)
            && *read == state
        {
            return Ok(info.clone());
        }
        // If it is written to meanwhile its state will be another one, and it is read again.
        let info = read_info(id, path)?;
        if !state.modified.elapsed().is_ok_and(|age| age > SETTLED) {
            return Ok(info);
        }
        let mut known = self.lock();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(path.to_owned(), (state, info.clone()));
        Ok(info)
    }

    fn lock(&self) -> MutexGuard<'_, Read> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
