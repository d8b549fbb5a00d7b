//! Lists sessions, newest first.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::error::{Problem, ProblemKind};
use crate::id::SessionId;
use crate::info::SessionInfo;
use crate::known::FileState;
use crate::project::project_dirs;
use crate::store::{Store, subdirectories};
use crate::worktree;

/// Which sessions to list.
#[derive(Clone, Debug)]
pub struct ListOptions {
    /// Only those of this project; of all projects if not set.
    pub project: Option<PathBuf>,
    /// Whether the other git working trees of the project count as the project.
    pub worktrees: bool,
    /// Whether sessions count that a program started.
    pub programmatic: bool,
    /// So many of the newest are left out.
    pub offset: usize,
    /// At most so many.
    pub limit: Option<usize>,
}

impl Default for ListOptions {
    fn default() -> Self {
        Self { project: None, worktrees: true, programmatic: true, offset: 0, limit: None }
    }
}

impl Store {
    /// Sessions, newest first, and what could not be read.
    ///
    /// Every transcript is looked at, but only the ones that are shown are opened, and of those only both ends are read, once
    /// as long as they stay as they are.
    pub fn list(&self, options: &ListOptions) -> (Vec<SessionInfo>, Vec<Problem>) {
        let mut sessions = Vec::new();
        let mut skipped = 0;
        let enough = |found: usize| options.limit.is_some_and(|limit| found >= limit);
        if enough(0) {
            return (sessions, Vec::new());
        }
        let problems = self.visit(options, |info| {
            if skipped < options.offset {
                skipped += 1;
            } else {
                sessions.push(info);
            }
            if enough(sessions.len()) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (sessions, problems)
    }

    /// Shows sessions, newest first, until `visit` has seen enough; tells what could not be read. `offset` and `limit` do
    /// not count here.
    ///
    /// Each transcript is opened only when it is shown, so that looking for one among thousands stops at it.
    pub fn visit(
        &self,
        options: &ListOptions,
        mut visit: impl FnMut(SessionInfo) -> ControlFlow<()>,
    ) -> Vec<Problem> {
        let projects = self.projects();
        let dirs = match &options.project {
            None => subdirectories(&projects),
            Some(project) => {
                let siblings = if options.worktrees { worktree::siblings(project) } else { Vec::new() };
                let trees = std::iter::once(project.clone()).chain(siblings);
                trees.flat_map(|tree| project_dirs(&projects, &tree)).collect()
            }
        };
        let mut problems = Vec::new();
        let mut candidates: Vec<Candidate> =
            dirs.iter().flat_map(|dir| transcripts(dir, &mut problems)).collect();
        candidates.sort_by(|a, b| b.state.modified.cmp(&a.state.modified).then_with(|| a.path.cmp(&b.path)));

        let mut seen = HashSet::new();
        for Candidate { id, path, state } in candidates {
            match self.known.info(id, &path, state) {
                Err(error) => problems.push(unreadable(&path, &error)),
                Ok(Some(info)) if (options.programmatic || !info.is_programmatic()) && seen.insert(id) => {
                    if visit(info).is_break() {
                        break;
                    }
                }
                Ok(_) => {}
            }
        }
        problems
    }
}

struct Candidate {
    id: SessionId,
    path: PathBuf,
    state: FileState,
}

fn transcripts(dir: &Path, problems: &mut Vec<Problem>) -> Vec<Candidate> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => {
            problems.push(unreadable(dir, &error));
            return Vec::new();
        }
    };
    let candidate = |path: PathBuf| {
        let id = path.file_name()?.to_str()?.strip_suffix(".jsonl")?.parse().ok()?;
        // Links are followed; what is at their end must be a file, not a pipe or a device, before it is opened.
        let file = fs::metadata(&path).ok().filter(|file| file.is_file() && file.len() > 0)?;
        Some(Candidate { id, state: FileState::from(&file), path })
    };
    entries.flatten().filter_map(|entry| candidate(entry.path())).collect()
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    Problem { path: path.to_owned(), line: None, kind: ProblemKind::Unreadable(error.to_string()) }
}
