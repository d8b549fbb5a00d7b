//! The transcripts of a session's subagents.

use std::path::{Path, PathBuf};

use fs_err as fs;
use serde_json::{Map, Value};

use crate::chain::Sidechains;
use crate::error::{Problem, ProblemKind, StoreError};
use crate::id::SessionId;
use crate::message::{MessageOptions, SessionMessage, read_chain, visible};
use crate::store::Store;
use crate::transcript::is_agent_id;

/// Deeper directories are not searched.
const DEEPEST: usize = 8;

/// A subagent that has a transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Subagent {
    /// Its id.
    pub id: String,
    /// Its transcript.
    pub path: PathBuf,
    /// What is known about it: which tool call started it, of which kind it is, and so on.
    pub meta: Map<String, Value>,
}

impl Subagent {
    /// The tool call that started it.
    pub fn tool_use_id(&self) -> Option<&str> {
        self.meta.get("toolUseId").and_then(Value::as_str)
    }

    /// The subagent that started it, if it was not the main agent.
    pub fn parent_agent_id(&self) -> Option<&str> {
        self.meta.get("parentAgentId").and_then(Value::as_str)
    }
}

impl Store {
    /// The subagents of a session, by id, and what could not be read.
    pub fn subagents(
        &self,
        id: SessionId,
        project: Option<&Path>,
    ) -> Result<(Vec<Subagent>, Vec<Problem>), StoreError> {
        let dir = self.transcript(id, project)?.with_extension("").join("subagents");
        let (mut found, mut problems) = (Vec::new(), Vec::new());
        search(&dir, DEEPEST, &mut found, &mut problems);
        found.sort_by(|a, b| a.id.cmp(&b.id));
        Ok((found, problems))
    }

    /// The conversation of a subagent, oldest message first, and what could not be read.
    pub fn subagent_messages(
        &self,
        id: SessionId,
        agent: &str,
        project: Option<&Path>,
        options: &MessageOptions,
    ) -> Result<(Vec<SessionMessage>, Vec<Problem>), StoreError> {
        if !is_agent_id(agent) {
            return Err(StoreError::BadAgentId(agent.to_owned()));
        }
        let (subagents, mut problems) = self.subagents(id, project)?;
        let subagent = subagents.into_iter().find(|subagent| subagent.id == agent);
        let subagent = subagent.ok_or_else(|| StoreError::NoSubagent { id, agent: agent.to_owned() })?;
        let (entries, unread) = read_chain(&subagent.path)?;
        problems.extend(unread);
        let mut messages = visible(id, entries, Sidechains::Taken, options);
        for message in &mut messages {
            message.parent_tool_use_id = subagent.tool_use_id().map(str::to_owned);
            message.parent_agent_id = subagent.parent_agent_id().map(str::to_owned);
        }
        Ok((messages, problems))
    }
}

fn search(dir: &Path, depth: usize, found: &mut Vec<Subagent>, problems: &mut Vec<Problem>) {
    // Most sessions have no subagents, and so no such directory.
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        // Links are not followed: they could lead out of the session, or round in a circle.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => search(&path, depth - 1, found, problems),
            Ok(kind) if kind.is_file() => {
                let id = name.to_str().and_then(|name| name.strip_prefix("agent-")?.strip_suffix(".jsonl"));
                if let Some(id) = id {
                    let meta = sidecar(&path.with_extension("meta.json"), problems);
                    found.push(Subagent { id: id.to_owned(), path, meta });
                }
            }
            _ => {}
        }
    }
}

fn sidecar(path: &Path, problems: &mut Vec<Problem>) -> Map<String, Value> {
    // Older CLIs write none.
    let Ok(text) = fs::read(path) else { return Map::new() };
    serde_json::from_slice(&text).unwrap_or_else(|error| {
        let kind = ProblemKind::Malformed(error.to_string());
        problems.push(Problem { path: path.to_owned(), line: None, kind });
        Map::new()
    })
}
