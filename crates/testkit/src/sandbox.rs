//! A throw-away place for one test: nothing of the machine's owner is read or changed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::leaks::{MarkedProcess, processes_marked};

/// The environment variable that marks the processes of one sandbox.
pub const MARKER_VARIABLE: &str = "PILOTHOUSE_TEST_MARKER";

/// A home, a configuration folder, a project and a folder outside the project, all removed on drop.
#[derive(Debug)]
pub struct Sandbox {
    root: TempDir,
}

impl Sandbox {
    /// Makes the folders.
    ///
    /// # Errors
    /// When the folder for temporary files cannot be written.
    pub fn new() -> io::Result<Sandbox> {
        let root = TempDir::with_prefix("pilothouse-test-")?;
        let sandbox = Sandbox { root };
        for folder in [sandbox.config(), sandbox.project(), sandbox.outside()] {
            fs::create_dir_all(folder)?;
        }
        Ok(sandbox)
    }

    /// The home folder.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The configuration folder, `CLAUDE_CONFIG_DIR`.
    pub fn config(&self) -> PathBuf {
        self.home().join(".claude")
    }

    /// The project: the working directory of the CLI.
    pub fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    /// A folder outside the project.
    pub fn outside(&self) -> PathBuf {
        self.root.path().join("outside")
    }

    /// The text that marks this sandbox's processes, in [`MARKER_VARIABLE`].
    pub fn marker(&self) -> String {
        self.root.path().to_string_lossy().into_owned()
    }

    /// Writes a file of the project, with the folders on its way.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: impl AsRef<Path>, text: &str) -> io::Result<PathBuf> {
        let path = self.project().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text)?;
        Ok(path)
    }

    /// Reads a file of the project; `None` when there is none.
    pub fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        fs::read_to_string(self.project().join(path)).ok()
    }

    /// The whole environment for a CLI in this sandbox: a dummy key, `api_url`, and nothing that would call home.
    pub fn env(&self, api_url: &str) -> Vec<(String, String)> {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        [
            ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("HOME", text(self.home())),
            ("CLAUDE_CONFIG_DIR", text(self.config())),
            ("ANTHROPIC_API_KEY", "dummy".to_owned()),
            ("ANTHROPIC_BASE_URL", api_url.to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("DISABLE_TELEMETRY", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("IS_SANDBOX", "1".to_owned()),
            (MARKER_VARIABLE, self.marker()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// The processes of this sandbox that are still there after `patience`; empty as soon as all are gone.
    pub async fn leftovers(&self, patience: Duration) -> Vec<MarkedProcess> {
        let deadline = tokio::time::Instant::now() + patience;
        loop {
            let found = processes_marked(&self.marker());
            if found.is_empty() || tokio::time::Instant::now() >= deadline {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
