//! A restricted session: the tools for files stay in the working directories, whatever rules and people say.

use pilothouse_tools::{Glob, Tool as _, Touch};

use super::refuse::{meta, note, refused, tell};
use crate::hooks::ToolUse;
use crate::scene::Scene;
use crate::session::Session;
use crate::tool::Verdict;

const REASON: &str = "--restricted: path outside the working directory";

/// Refuses a call that would leave the working directories of a restricted session.
pub(super) fn refusal(session: &Session, scene: &Scene, tool: &ToolUse) -> Option<Verdict> {
    let named = |member| {
        let path = tool.input.get(member).and_then(serde_json::Value::as_str)?;
        Some(session.workspace().resolve(path))
    };
    let path = match tool.name.as_str() {
        "Read" | "Write" | "Edit" => named("file_path"),
        "NotebookEdit" => named("notebook_path"),
        "Grep" => named("path"),
        // Its pattern may lead elsewhere than its path.
        "Glob" => Glob.touches(&tool.input, session.workspace()).into_iter().next().map(Touch::into_path),
        _ => None,
    };
    let path = path?.display().to_string();
    if !session.launch().restricted || session.engine().context().is_working_path(&path) {
        return None;
    }
    let message = format!(
        "{path} is outside {}; --restricted confines the file tools to the working directory.",
        session.launch().cwd.display()
    );
    tell(session, scene, tool, Some("other"), Some(REASON.to_owned()), &message);
    note(session, tool);
    Some(refused(message, Some(meta("reject", "config", Some("other"))), Some("permission-rule")))
}

#[cfg(test)]
#[path = "confined_tests.rs"]
mod tests;
