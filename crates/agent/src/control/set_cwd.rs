//! `set_cwd`: the host moves the session to another folder, if the user trusts it.

use std::path::Path;

use pilothouse_settings::{Locations, Trust};
use serde_json::{Value, json};

use crate::session::Session;

/// Moves there, and says what came of it. A folder that nobody has said to trust is for the host to ask about.
pub(super) fn set_cwd(session: &Session, path: &str) -> Value {
    let path = session.workspace().resolve(path);
    let rejected = |reason: &str, what: &str| {
        let message = format!("{} {what}.", path.display());
        json!({ "status": "rejected", "reason": reason, "message": message })
    };
    if !path.exists() {
        return rejected("not_found", "does not exist");
    }
    if !path.is_dir() {
        return rejected("not_a_directory", "is not a directory");
    }
    let here = session.workspace().cwd() == path;
    if !here && !is_trusted(session, &path) {
        return json!({ "status": "needs_trust", "directory": path });
    }
    session.workspace().set_cwd(&path);
    // The transcript stays with the project in which the session began.
    json!({ "status": "ok", "cwd": path, "changed": !here, "transcript_relocated": false })
}

/// Whether the user trusts this folder, or one around it.
fn is_trusted(session: &Session, folder: &Path) -> bool {
    let locations = session.launch().locations();
    let trusts = |folder: &Path| {
        let there = Locations { project: folder.to_owned(), ..locations.clone() };
        Trust::look_up(&there) == Trust::Trusted
    };
    folder.ancestors().any(trusts)
}
