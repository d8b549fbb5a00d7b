//! `get_workspace_diff`: what changed in the repository since the last commit.

use std::path::Path;

use pilothouse_link::{Agent, Responder};
use pilothouse_proc::{Finished, Limits, Spawn};
use serde_json::json;

use crate::session::Session;

pub(super) async fn answer(session: &Session, responder: Responder<Agent>) {
    let cwd = session.cwd();
    if !cwd.ancestors().any(|directory| directory.join(".git").exists()) {
        responder.success(&json!({"diff": null, "noDiffReason": "no-repository"}));
        return;
    }
    match diff(&cwd).await {
        Ok(text) => responder.success(&json!({"diff": text})),
        Err(problem) => responder.error(format!("get_workspace_diff: {problem}")),
    }
}

/// The repository may be a stranger's, so nothing runs that its own configuration names.
async fn diff(cwd: &Path) -> Result<String, String> {
    let filters = own_filters(cwd).await?;
    let switched_off = filters.iter().flat_map(|name| ["-c".to_owned(), format!("{name}=")]);
    let base = base(cwd).await?;
    let diff = ["diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", &base];
    let args = switched_off.chain(diff.map(str::to_owned));
    let ran = git(cwd, args).await?;
    if !ran.success() {
        return Err(format!("git failed: {}", ran.stderr_tail));
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// The programs through which the repository itself, and not the user, wants files to be read.
async fn own_filters(cwd: &Path) -> Result<Vec<String>, String> {
    let pattern = r"^filter\..*\.(clean|smudge|process)$";
    let ran = git(cwd, ["config", "--show-scope", "--name-only", "--get-regexp", pattern]).await?;
    let listed = String::from_utf8_lossy(&ran.stdout).into_owned();
    let own = |line: &str| {
        let (scope, name) = line.split_once('\t')?;
        matches!(scope, "local" | "worktree").then(|| name.to_owned())
    };
    Ok(listed.lines().filter_map(own).collect())
}

/// What to compare with: the last commit, or nothing at all before the first one.
async fn base(cwd: &Path) -> Result<String, String> {
    if git(cwd, ["rev-parse", "--verify", "--quiet", "HEAD"]).await?.success() {
        return Ok("HEAD".to_owned());
    }
    let nothing = git(cwd, ["hash-object", "-t", "tree", "--stdin"]).await?;
    Ok(String::from_utf8_lossy(&nothing.stdout).trim().to_owned())
}

async fn git(cwd: &Path, args: impl IntoIterator<Item = impl Into<String>>) -> Result<Finished, String> {
    let spawn = Spawn::new("git").args(["-c", "core.fsmonitor=false"]).args(args.into_iter().map(Into::into));
    // Looking must not write, not even what git has found out on the way.
    let ran = spawn.env("GIT_OPTIONAL_LOCKS", "0").cwd(cwd).run(&[], Limits::default()).await;
    ran.map_err(|error| error.to_string())
}
