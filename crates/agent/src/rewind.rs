//! Taking file edits back.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pilothouse_store::{Checkpoints, EntryId};
use pilothouse_tools::Journal;
use serde_json::{Map, Value, json};

use crate::record::Recorder;
use crate::resume;
use crate::session::Session;

/// Whether a session keeps copies of the files it edits.
const SWITCH: &str = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING";

/// Keeps a copy of each file before it is edited.
pub(crate) struct Copies {
    checkpoints: Mutex<Checkpoints>,
    recorder: Recorder,
}

impl Copies {
    /// The copies of a session, when it is to keep any.
    pub(crate) fn new(
        launch: &crate::launch::Launch,
        id: &pilothouse_proto::SessionId,
        recorder: Recorder,
    ) -> Option<Arc<Self>> {
        if !launch.env.is_on(SWITCH) {
            return None;
        }
        let store = resume::store(launch);
        let checkpoints = Checkpoints::new(&store, resume::stored(id), &launch.cwd, &[]);
        Some(Arc::new(Self { checkpoints: Mutex::new(checkpoints), recorder }))
    }

    /// Goes on with the copies of a session that is taken up again.
    pub(crate) fn take_up(&self, checkpoints: Checkpoints) {
        *self.lock() = checkpoints;
    }

    /// A prompt came: it can be gone back to from now on.
    pub(crate) fn prompt(&self, id: &str) {
        let noted = self.lock().prompt(&EntryId(id.to_owned()));
        self.note("file-history-snapshot", noted.map(Some));
    }

    fn note(&self, kind: &str, members: std::io::Result<Option<Map<String, Value>>>) {
        match members {
            Ok(Some(members)) => self.recorder.note(kind, members),
            Ok(None) => {}
            Err(error) => tracing::error!(%error, "a file was not copied before its edit"),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Checkpoints> {
        self.checkpoints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for Copies {
    fn before_change(&self, path: &Path) {
        let noted = self.lock().before_change(path);
        self.note("file-history-delta", noted);
    }
}

impl std::fmt::Debug for Copies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Copies").finish_non_exhaustive()
    }
}

impl Session {
    /// Takes edits back to where they were before a prompt, or says what would change.
    pub(crate) fn rewind(&self, prompt: &str, dry_run: bool) -> Result<Value, String> {
        let Some(copies) = self.copies() else { return Err("File rewinding is not enabled.".to_owned()) };
        let rewound = copies.lock().rewind(&EntryId(prompt.to_owned()), dry_run);
        match rewound {
            Err(error) => Err(error.to_string()),
            Ok(rewound) if dry_run => Ok(json!({
                "canRewind": true,
                "filesChanged": rewound.files_changed,
                "insertions": rewound.insertions,
                "deletions": rewound.deletions,
            })),
            Ok(rewound) => Ok(json!({"canRewind": true, "skippedLinks": rewound.skipped_links})),
        }
    }
}
