//! Transcripts on a real file system, written here as a CLI writes them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod checkpoints;
mod edits;
mod hostile;
mod listing;
mod reading;
mod resuming;
mod writing;

use std::fs;
use std::path::{Path, PathBuf};

use pilothouse_store::{SessionId, Store, project_key};
use serde_json::{Value, json};

/// A configuration directory, a project, and sessions in it.
struct Home {
    dir: tempfile::TempDir,
    store: Store,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("project")).unwrap();
        let store = Store::at(dir.path().join("config"));
        Self { dir, store }
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn project_dir(&self, project: &Path) -> PathBuf {
        self.store.projects().join(project_key(project))
    }

    /// Writes a session of the project and gives its transcript.
    fn session(&self, id: SessionId, text: impl AsRef<[u8]>) -> PathBuf {
        self.session_in(&self.project(), id, text)
    }

    fn session_in(&self, project: &Path, id: SessionId, text: impl AsRef<[u8]>) -> PathBuf {
        let dir = self.project_dir(project);
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join(format!("{id}.jsonl"));
        fs::write(&path, text).unwrap();
        path
    }
}

/// A session id that is easy to tell.
fn id(number: u32) -> SessionId {
    format!("00000000-0000-4000-8000-{number:012}").parse().unwrap()
}

fn lines(entries: &[Value]) -> String {
    entries.iter().map(|entry| format!("{entry}\n")).collect()
}

/// An entry of the conversation; members of `more` come on top.
fn entry(kind: &str, uuid: &str, parent: &str, message: Value, more: Value) -> Value {
    let mut entry = json!({
        "parentUuid": (!parent.is_empty()).then_some(parent), "isSidechain": false, "type": kind, "message": message,
        "uuid": uuid, "timestamp": "2026-11-15T10:00:00.000Z", "cwd": "/work", "sessionId": id(1), "gitBranch": "main",
        "entrypoint": "cli",
    });
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    entry
}

fn user(uuid: &str, parent: &str, text: &str) -> Value {
    entry("user", uuid, parent, json!({ "role": "user", "content": text }), json!({}))
}

fn assistant(uuid: &str, parent: &str, text: &str) -> Value {
    let message = json!({ "id": format!("msg_{uuid}"), "role": "assistant", "content": [{ "type": "text", "text": text }] });
    entry("assistant", uuid, parent, message, json!({}))
}
