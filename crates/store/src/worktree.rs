//! The working trees of a git repository, read from its files.

use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::project::real_path;
use crate::store::subdirectories;

/// The roots of all working trees of the repository that `project` is in, without the one that has it; empty outside
/// of a repository.
pub(crate) fn siblings(project: &Path) -> Vec<PathBuf> {
    let project = real_path(project);
    let Some(root) = project.ancestors().find(|dir| dir.join(".git").exists()) else { return Vec::new() };
    let Some(common) = common_dir(&root.join(".git")) else { return Vec::new() };
    let main = common.parent().filter(|_| common.ends_with(".git")).map(Path::to_owned);
    let linked = subdirectories(&common.join("worktrees")).into_iter().filter_map(|dir| {
        // The file names the `.git` file of the working tree.
        let link = read_short(&dir.join("gitdir"))?;
        Some(dir.join(link).parent()?.to_owned())
    });
    let mut found: Vec<PathBuf> = main.into_iter().chain(linked).map(|dir| real_path(&dir)).collect();
    found.retain(|dir| dir != root);
    found.sort();
    found.dedup();
    found
}

/// The directory that the working trees share, from the `.git` of one of them.
fn common_dir(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git.to_owned());
    }
    let link = read_short(dot_git)?;
    let git_dir = dot_git.parent()?.join(link.strip_prefix("gitdir:")?.trim());
    let common = read_short(&git_dir.join("commondir"))?;
    Some(real_path(&git_dir.join(common)))
}

/// A file of one path; anything longer is not one.
fn read_short(path: &Path) -> Option<String> {
    let is_short = fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() < 16 * 1024);
    is_short.then(|| fs::read_to_string(path).ok())?.map(|text| text.trim().to_owned())
}

/// The branch that is checked out where `project` is; `None` outside of a repository or at a bare commit.
pub(crate) fn current_branch(project: &Path) -> Option<String> {
    let project = real_path(project);
    let dot_git = project.ancestors().map(|dir| dir.join(".git")).find(|dot_git| dot_git.exists())?;
    let git_dir = match dot_git.is_dir() {
        true => dot_git,
        false => dot_git.parent()?.join(read_short(&dot_git)?.strip_prefix("gitdir:")?.trim()),
    };
    let head = read_short(&git_dir.join("HEAD"))?;
    head.strip_prefix("ref: refs/heads/").map(str::to_owned)
}
