//! A repository that came to lie in the working directory while the session runs.

use std::path::PathBuf;
use std::sync::Arc;

use pilothouse_link::{Agent, Responder};
use pilothouse_proto::control::RegisterRepoRoot;
use pilothouse_rules::{Directory, Source};
use serde_json::json;

use crate::session::Session;
use crate::{offers, prompt};

/// Makes a directory one of those that the session works in, and looks there for skills and for notes to the
/// model if that is wanted.
pub(super) fn register(session: &Arc<Session>, wanted: &RegisterRepoRoot, responder: Responder<Agent>) {
    let directory = match find(session, &wanted.directory) {
        Ok(directory) => directory,
        Err(problem) => return responder.error(format!("register_repo_root: {problem}")),
    };
    let path = directory.display().to_string();
    session.rules(|engine| {
        engine.change(|context| {
            context.directories.push(Directory { path: path.clone(), source: Source::Session });
        });
    });
    let is_set = |reload: &pilothouse_proto::Opt<bool>| reload.as_ref() == Some(&true);
    if is_set(&wanted.reload_skills) || is_set(&wanted.reload_plugins) {
        session.look_in(directory.clone());
        offers::tell_changes(session);
    }
    if is_set(&wanted.reload_claude_md)
        && let Some(notes) = prompt::notes_of_repository(session, &directory)
    {
        session.keep_contexts(vec![notes]);
    }
    session.tell_of_directory(directory);
    responder.success(&json!({"directory": path}));
}

fn find(session: &Session, named: &str) -> Result<PathBuf, String> {
    let cwd = &session.launch().cwd;
    let resolved = cwd.join(named);
    if named.is_empty() || !resolved.is_dir() {
        return Err("target path could not be resolved".to_owned());
    }
    let directory = session.workspace().resolve(&resolved.display().to_string());
    let shown = directory.display();
    if directory == *cwd {
        return Err(format!(
            "{shown} is the session's working directory, which is already registered; name the repository's own directory"
        ));
    }
    let registered = session
        .rules(|engine| engine.context().directories.iter().any(|known| known.path == shown.to_string()));
    if registered {
        return Err(format!("{shown} is already a registered working directory"));
    }
    // What was added later does not count: it may have come from the model's own doing.
    let roots = std::iter::once(cwd.clone()).chain(session.launch().add_dirs.iter().map(|dir| cwd.join(dir)));
    let real = fs_err::canonicalize(&directory).map_err(|error| error.to_string())?;
    let is_inside = |root: PathBuf| fs_err::canonicalize(root).is_ok_and(|root| real.starts_with(root));
    if !roots.into_iter().any(is_inside) {
        return Err(format!(
            "{shown} is not a subdirectory of the session's working directory or of a launch-time --add-dir root"
        ));
    }
    Ok(directory)
}
