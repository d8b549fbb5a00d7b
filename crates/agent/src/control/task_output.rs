//! `get_task_output`: the end of what a task in the background has said.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use pilothouse_link::{Agent, Responder};
use serde_json::json;

use crate::session::Session;

/// The end of a task's output that is shown.
const LARGEST_TAIL: u64 = 8 << 10;

pub(super) fn answer(session: &Session, id: &str, responder: Responder<Agent>) {
    let Some(file) = file_of(session, id) else {
        return responder.error(format!("No task found with ID: {id}"));
    };
    match tail(&file) {
        Ok((tail, total)) => responder.success(&json!({
            "output": String::from_utf8_lossy(&tail),
            "total_bytes": total,
            "truncated": (tail.len() as u64) < total,
        })),
        // A subagent has nothing to show before it is done.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            responder.success(&json!({"output": "", "total_bytes": 0, "truncated": false}));
        }
        Err(error) => responder.error(format!("get_task_output: {error}")),
    }
}

/// Where a task that runs or has run writes to. Commands write beside the folder of the subagents.
fn file_of(session: &Session, id: &str) -> Option<PathBuf> {
    // Ids have only these, and anything else could lead to other files.
    if id.is_empty() || !id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) {
        return None;
    }
    let folder = session.workspace().output_dir();
    let name = format!("{id}.output");
    let (of_command, of_agent) = (folder.join(&name), folder.join("tasks").join(&name));
    let runs = session.tasks(|tasks| tasks.iter().any(|note| note.id.as_str() == id));
    if of_command.is_file() {
        return Some(of_command);
    }
    (runs || of_agent.is_file()).then_some(of_agent)
}

/// The last bytes, and how many there are altogether.
fn tail(file: &Path) -> std::io::Result<(Vec<u8>, u64)> {
    let mut file = fs_err::File::open(file)?;
    let total = file.metadata()?.len();
    file.seek(SeekFrom::Start(total.saturating_sub(LARGEST_TAIL)))?;
    let mut bytes = Vec::new();
    file.take(LARGEST_TAIL).read_to_end(&mut bytes)?;
    Ok((bytes, total))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_session::TestSession;

    #[tokio::test]
    async fn the_report_of_a_subagent_is_found_and_only_its_end_is_read() {
        let test = TestSession::new(&[], &[], Box::new(|_| None));
        let folder = test.session.workspace().output_dir().join("tasks");
        fs_err::create_dir_all(&folder).unwrap();
        fs_err::write(folder.join("a1.output"), format!("{}END", "x".repeat(10_000))).unwrap();
        let file = file_of(&test.session, "a1").unwrap();
        let (tail, total) = tail(&file).unwrap();
        assert!(tail.len() == 8 << 10 && tail.ends_with(b"END"));
        assert_eq!(total, 10_003);
        assert_eq!(file_of(&test.session, "a2"), None);
        fs_err::remove_dir_all(folder).unwrap();
    }
}
