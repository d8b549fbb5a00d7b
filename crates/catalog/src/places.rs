//! Where commands, skills and agents are looked for.

use std::path::{Path, PathBuf};

/// The directories that are searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The person's home directory: the search above the project stops there.
    pub home: PathBuf,
    /// The configuration home, which holds the person's own; none leaves them out.
    pub config: Option<PathBuf>,
    /// The project's directory; none leaves the project out.
    pub project: Option<PathBuf>,
    /// Plugins, one directory each.
    pub plugins: Vec<PathBuf>,
}

impl Places {
    /// The usual places for a home directory and a project directory.
    pub fn new(home: impl Into<PathBuf>, project: impl Into<PathBuf>) -> Self {
        let home = home.into();
        Places {
            config: Some(home.join(".claude")),
            home,
            project: Some(project.into()),
            plugins: Vec::new(),
        }
    }

    /// The `.claude` directories of the project, nearest first: its own, then those above it up to the top of the
    /// repository, or up to the home directory when there is no repository.
    pub(crate) fn project_directories(&self) -> Vec<PathBuf> {
        let Some(project) = &self.project else { return Vec::new() };
        let top = project
            .ancestors()
            .find(|above| above.join(".git").exists())
            .or_else(|| project.ancestors().find(|above| *above == self.home))
            .unwrap_or(project);
        project
            .ancestors()
            .take_while(|above| above.starts_with(top))
            .filter(|above| !above.as_os_str().is_empty())
            .map(|above| above.join(".claude"))
            .filter(|directory| !self.is_config(directory))
            .collect()
    }

    /// A session that runs in the home directory would otherwise find the person's own twice.
    fn is_config(&self, directory: &Path) -> bool {
        self.config.as_deref().is_some_and(|config| {
            config == directory
                || matches!((config.canonicalize(), directory.canonicalize()), (Ok(a), Ok(b)) if a == b)
        })
    }
}
