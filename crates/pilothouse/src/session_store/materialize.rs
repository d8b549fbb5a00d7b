//! From a store back to files, so that a CLI can go on with a session.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use pilothouse_store::{SessionId, project_key};
use serde_json::{Map, Value};
use tempfile::TempDir;

use super::{Entry, SessionKey, SessionStoreError, StoreOptions};
use crate::error::Error;
use crate::options::Options;
use crate::options::long::private_folder;

/// The kind of entry that holds what the CLI keeps in a file beside a subagent's transcript.
pub(crate) const METADATA: &str = "agent_metadata";
/// Chooses the directory in which a CLI keeps everything.
pub(crate) const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// The configuration directory that a child with this environment uses.
pub(crate) fn config_home(env: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    let set = |name: &str| env.get(OsStr::new(name)).filter(|value| !value.is_empty());
    set(CONFIG_DIR).map(PathBuf::from).or_else(|| set("HOME").map(|home| Path::new(home).join(".claude")))
}

/// Writes the session that is to be resumed into a directory of its own, and changes the options so that the CLI finds
/// it there. Nothing is written if no session is resumed, or if the store does not have it: then the CLI looks itself.
pub(crate) async fn materialize(
    options: &mut Options,
    env: &mut BTreeMap<OsString, OsString>,
) -> Result<Option<TempDir>, Error> {
    let Some(store) = options.store.clone() else { return Ok(None) };
    let refused = |error: SessionStoreError| Error::SessionStore(error.to_string());
    let here = options.process.cwd.clone().map_or_else(std::env::current_dir, Ok);
    let here = here.map_err(|error| Error::SessionStore(format!("no current directory: {error}")))?;
    let project = project_key(&here);
    let id = match &options.flags.resume {
        Some(id) => Some(id.clone()),
        None if options.flags.continue_latest => newest(&store, &project).await.map_err(refused)?,
        None => None,
    };
    let Some(id) = id else { return Ok(None) };
    // It becomes a file name.
    id.parse::<SessionId>().map_err(|error| Error::SessionStore(error.to_string()))?;
    let key = SessionKey::main(&project, &id);
    let Some(entries) = store.in_time(store.store.load(&key)).await.map_err(refused)? else {
        return Ok(None);
    };
    if entries.is_empty() {
        return Ok(None);
    }
    let parts = parts(&store, &key).await.map_err(refused)?;
    let from = config_home(env);
    let home = env.get(OsStr::new(CONFIG_DIR)).is_none().then(|| from.as_deref()?.parent()).flatten();
    let written = write_all(&key, &entries, &parts, from.as_deref(), home);
    let folder =
        written.map_err(|error| Error::SessionStore(format!("cannot write the session: {error}")))?;
    env.insert(CONFIG_DIR.into(), folder.path().into());
    options.flags.resume = Some(id);
    options.flags.continue_latest = false;
    Ok(Some(folder))
}

/// The session that was appended to last; those of subagents do not count.
async fn newest(store: &StoreOptions, project: &str) -> Result<Option<String>, SessionStoreError> {
    let mut sessions = store.in_time(store.store.list_sessions(project)).await?;
    sessions.sort_by_key(|session| std::cmp::Reverse(session.modified));
    for session in sessions {
        let key = SessionKey::main(project, &session.session_id);
        let entries = store.in_time(store.store.load(&key)).await?.unwrap_or_default();
        let side = entries.first().and_then(|entry| entry.get("isSidechain")).and_then(Value::as_bool);
        if !entries.is_empty() && side != Some(true) {
            return Ok(Some(session.session_id));
        }
    }
    Ok(None)
}

pub(crate) async fn parts(
    store: &StoreOptions,
    key: &SessionKey,
) -> Result<Vec<(PathBuf, Vec<Entry>)>, SessionStoreError> {
    let subpaths = match store.in_time(store.store.list_parts(key)).await {
        Err(SessionStoreError::Unsupported(_)) => return Ok(Vec::new()),
        listed => listed?,
    };
    let mut parts = Vec::new();
    for subpath in subpaths.into_iter().collect::<BTreeSet<_>>() {
        let Some(path) = safe(&subpath) else {
            tracing::warn!(subpath, "a part of a stored session would be written elsewhere; it is left out");
            continue;
        };
        if let Some(entries) = store.in_time(store.store.load(&key.part(&subpath))).await? {
            parts.push((path, entries));
        }
    }
    Ok(parts)
}

/// The path if it stays inside the folder that it is joined to.
pub(crate) fn safe(subpath: &str) -> Option<PathBuf> {
    let odd = |part: &str| part.is_empty() || matches!(part, "." | "..") || part.contains(['\0', '\\', ':']);
    let path = PathBuf::from(subpath);
    let stays = path.components().all(|part| matches!(part, Component::Normal(_)));
    (stays && !subpath.split('/').any(odd)).then_some(path)
}

pub(crate) fn write_all(
    key: &SessionKey,
    entries: &[Entry],
    parts: &[(PathBuf, Vec<Entry>)],
    from: Option<&Path>,
    home: Option<&Path>,
) -> io::Result<TempDir> {
    let folder = private_folder()?;
    let project = folder.path().join("projects").join(&key.project_key);
    write_transcript(&project.join(format!("{}.jsonl", key.session_id)), entries)?;
    for (subpath, entries) in parts {
        let mut path = project.join(&key.session_id).join(subpath).into_os_string();
        let is_metadata = |entry: &&Entry| entry.get("type").and_then(Value::as_str) == Some(METADATA);
        let lines: Vec<Entry> = entries.iter().filter(|entry| !is_metadata(entry)).cloned().collect();
        let mut beside = path.clone();
        path.push(".jsonl");
        write_transcript(Path::new(&path), &lines)?;
        // The newest says all.
        if let Some(mut metadata) = entries.iter().rev().find(is_metadata).cloned() {
            metadata.shift_remove("type");
            beside.push(".meta.json");
            write_private(Path::new(&beside), Value::Object(metadata).to_string().as_bytes())?;
        }
    }
    if let Some(from) = from {
        copy_edited(
            &from.join(".credentials.json"),
            &folder.path().join(".credentials.json"),
            forget_refreshing,
        )?;
        copy_edited(&from.join("settings.json"), &folder.path().join("settings.json"), forget_folders)?;
        let global = home.unwrap_or(from).join(".claude.json");
        copy_edited(&global, &folder.path().join(".claude.json"), |_| {})?;
    }
    Ok(folder)
}

fn write_transcript(path: &Path, entries: &[Entry]) -> io::Result<()> {
    let mut text = Vec::new();
    for entry in entries {
        // Readers look for lines that begin with their type, and a store may have changed the order.
        let mut line = Map::new();
        line.extend(entry.get("type").map(|kind| ("type".to_owned(), kind.clone())));
        line.extend(
            entry
                .iter()
                .filter(|(name, _)| *name != "type")
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        serde_json::to_writer(&mut text, &line)?;
        text.push(b'\n');
    }
    write_private(path, &text)
}

fn write_private(path: &Path, text: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text)
}

/// Copies a JSON file with some of it changed. A file that is missing or broken is left out: the CLI can do without.
fn copy_edited(from: &Path, to: &Path, edit: impl FnOnce(&mut Map<String, Value>)) -> io::Result<()> {
    let Ok(text) = fs::read(from) else { return Ok(()) };
    let Ok(Value::Object(mut object)) = serde_json::from_slice(&text) else { return Ok(()) };
    edit(&mut object);
    write_private(to, Value::Object(object).to_string().as_bytes())
}

/// Two holders of one refresh token would log each other out.
fn forget_refreshing(credentials: &mut Map<String, Value>) {
    for account in credentials.values_mut().filter_map(Value::as_object_mut) {
        account.shift_remove("refreshToken");
    }
}

/// Plugins are installed in the configuration directory itself, which is now another one.
fn forget_folders(settings: &mut Map<String, Value>) {
    settings.retain(|name, _| {
        let name = name.to_ascii_lowercase();
        !name.contains("plugin") && !name.contains("marketplace")
    });
    if let Some(env) = settings.get_mut("env").and_then(Value::as_object_mut) {
        env.shift_remove(CONFIG_DIR);
    }
}
