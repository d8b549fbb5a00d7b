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
    /// Repositories inside of the project that have their own.
    pub roots: Vec<PathBuf>,
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
            roots: Vec::new(),
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
        let above = project
            .ancestors()
            .take_while(|above| above.starts_with(top))
            .filter(|above| !above.as_os_str().is_empty())
            .map(|above| above.join(".claude"))
            .filter(|directory| !self.is_config(directory));
        above.chain(self.roots.iter().map(|root| root.join(".claude"))).collect()
    }

    /// A session that runs below the home directory would otherwise find the person's own twice, or find them although
    /// they are left out.
    fn is_config(&self, directory: &Path) -> bool {
        let config = self.config.clone().unwrap_or_else(|| self.home.join(".claude"));
        config == directory
            || matches!((config.canonicalize(), directory.canonicalize()), (Ok(a), Ok(b)) if a == b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_person_s_own_are_none_of_the_project_s_even_when_they_are_left_out() {
        let mut places = Places::new("/home/ann", "/home/ann/work/project");
        let expected = ["/home/ann/work/project/.claude", "/home/ann/work/.claude"].map(PathBuf::from);
        assert_eq!(places.project_directories(), expected);
        places.config = None;
        assert_eq!(places.project_directories(), expected);
        places.config = Some("/elsewhere".into());
        assert_eq!(places.project_directories().len(), 3);
    }
}
