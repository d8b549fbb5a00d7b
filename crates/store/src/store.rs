//! Where transcripts are.

use std::path::{Path, PathBuf};

use fs_err as fs;
use unicode_normalization::UnicodeNormalization;

use crate::error::StoreError;
use crate::id::SessionId;
use crate::known::Known;
use crate::project::project_dirs;

/// The transcripts under one configuration directory. Clones know what was read for each other's lists.
#[derive(Clone, Debug)]
pub struct Store {
    config_home: PathBuf,
    pub(crate) known: Known,
}

impl Store {
    /// The transcripts under this configuration directory.
    pub fn at(config_home: impl Into<PathBuf>) -> Self {
        Self { config_home: config_home.into(), known: Known::default() }
    }

    /// The transcripts of this user: under `$CLAUDE_CONFIG_DIR`, else under `~/.claude`.
    pub fn of_user() -> Result<Self, StoreError> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let chosen = set("CLAUDE_CONFIG_DIR").map(|dir| match dir.to_str() {
            Some(dir) => PathBuf::from(dir.nfc().collect::<String>()),
            None => PathBuf::from(dir),
        });
        let config_home = chosen.or_else(|| set("HOME").map(|home| Path::new(&home).join(".claude")));
        config_home.map(Self::at).ok_or(StoreError::NoConfigHome)
    }

    /// The configuration directory.
    pub fn config_home(&self) -> &Path {
        &self.config_home
    }

    /// The directory that has one directory for each project.
    pub fn projects(&self) -> PathBuf {
        self.config_home.join("projects")
    }

    /// The transcript of a session: in the directories of `project`, or of any project.
    pub fn transcript(&self, id: SessionId, project: Option<&Path>) -> Result<PathBuf, StoreError> {
        let projects = self.projects();
        let name = format!("{id}.jsonl");
        let dirs = match project {
            Some(project) => project_dirs(&projects, project),
            None => subdirectories(&projects),
        };
        let found = dirs.into_iter().map(|dir| dir.join(&name)).find(|path| {
            // An empty file is one whose session never began.
            fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > 0)
        });
        found.ok_or(StoreError::NotFound { id, searched: projects })
    }
}

pub(crate) fn subdirectories(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}
