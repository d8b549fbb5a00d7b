//! Paths that lead elsewhere: a change is made where its path says, or not at all.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::refuse::Refusal;
use crate::hooks::ToolUse;
use crate::session::Session;

/// Why a call is refused for where its path leads. A file that is a link is not written through: whoever approved the path
/// has not approved what it leads to.
pub(super) fn refusal(session: &Session, tool: &ToolUse) -> Option<Refusal> {
    let (field, writes) = match tool.name.as_str() {
        "Write" | "Edit" => ("file_path", true),
        "NotebookEdit" => ("notebook_path", true),
        "Read" => ("file_path", false),
        _ => return None,
    };
    let path = session.workspace().resolve(tool.input.get(field).and_then(Value::as_str)?);
    let is_link = std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink());
    if !is_link {
        return None;
    }
    let endless = std::fs::metadata(&path).is_err_and(|error| error.raw_os_error() == Some(ELOOP));
    if endless {
        let reason = format!("{} is a link that leads nowhere", path.display());
        let message = format!("{} was not opened: its links lead in a circle.", path.display());
        return Some(Refusal { reason, message });
    }
    writes.then(|| Refusal {
        reason: "The file to write is a symbolic link".to_owned(),
        message: format!(
            "{} is a symbolic link and was not written. Write to what it leads to instead: {}",
            path.display(),
            target(&path).display()
        ),
    })
}

/// Too many links: its kind has no stable name in the standard library.
const ELOOP: i32 = 40;

/// What a link leads to, whether or not that exists.
fn target(link: &Path) -> PathBuf {
    let followed = link.canonicalize().ok();
    let named = || Some(link.parent()?.join(std::fs::read_link(link).ok()?));
    followed.or_else(named).unwrap_or_else(|| link.to_owned())
}
