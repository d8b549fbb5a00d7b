//! From the CLI's own files into a store.

use std::path::Path;

use pilothouse_store::{SessionId, Store};
use serde_json::Value;

use super::{Entry, SessionKey, SessionStore};
use crate::error::Error;

/// So many entries go to the store at once.
const AT_ONCE: usize = 500;

/// Copies a session with its subagents from disk into a store. Gives the key of the session, and the lines that could
/// not be read: they are left out.
///
/// # Errors
/// When there is no such session, a file cannot be read, or the store refuses.
pub async fn import_session(
    local: &Store,
    id: SessionId,
    project: Option<&Path>,
    store: &dyn SessionStore,
) -> Result<(SessionKey, Vec<String>), Error> {
    let failed = |error: &dyn std::fmt::Display| Error::SessionStore(error.to_string());
    let path = local.transcript(id, project).map_err(|error| failed(&error))?;
    let project = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let main = SessionKey::main(project.unwrap_or_default(), id.to_string());
    let own = path.with_extension("");
    let mut problems = Vec::new();
    let mut parts = vec![(main.clone(), path, None)];
    let (subagents, odd) = local.subagents(id, None).map_err(|error| failed(&error))?;
    problems.extend(odd.iter().map(ToString::to_string));
    for agent in subagents {
        if let Ok(relative) = agent.path.strip_prefix(&own) {
            let subpath = relative.with_extension("").to_string_lossy().into_owned();
            parts.push((main.part(subpath), agent.path, Some(agent.meta)));
        }
    }
    for (key, path, meta) in parts {
        let text = tokio::fs::read_to_string(&path).await;
        let text = text.map_err(|error| failed(&format_args!("{}: {error}", path.display())))?;
        let mut entries: Vec<Entry> = Vec::new();
        if let Some(mut meta) = meta.filter(|meta| !meta.is_empty()) {
            meta.insert("type".to_owned(), super::materialize::METADATA.into());
            entries.push(meta);
        }
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            match serde_json::from_str::<Value>(line) {
                Ok(Value::Object(entry)) => entries.push(entry),
                _ => problems.push(format!("{}:{}: not a JSON object", path.display(), index + 1)),
            }
        }
        for entries in entries.chunks(AT_ONCE) {
            store.append(&key, entries).await.map_err(|error| failed(&error))?;
        }
    }
    Ok((main, problems))
}
