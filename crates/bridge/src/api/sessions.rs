//! Sessions as lists show them: those of the bridge, and those on disk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::PermissionRequest;
use super::ids::{ApprovalId, InputId, Seq, SessionId};
use super::values::{Lifecycle, ProcessStatus};

/// Sessions of the bridge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionList {
    /// Those that need the user first, then the newest.
    pub sessions: Vec<SessionView>,
}

/// A session of a list that is watched, as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionChanged {
    /// The session.
    pub session: SessionView,
}

/// One session of the bridge: all folds of its log that a list shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// The bridge's name of it.
    #[serde(rename = "id")]
    pub session_id: SessionId,
    /// The directory that it works in.
    pub project_path: String,
    /// What it does.
    pub status: ProcessStatus,
    /// Whether it has a CLI.
    pub state: Lifecycle,
    /// What Claude Code calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claude_session_id: Option<String>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What is allowed without asking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The branch that is checked out in its directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The end of what was said last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_line: Option<String>,
    /// What it has cost, in US dollars.
    pub cost: f64,
    /// How much of the model's context window is used, in percent; absent while the CLI has not said how large it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_percent: Option<u8>,
    /// When it was made, in milliseconds since 1970.
    pub created_at: i64,
    /// When the turn that runs began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_started_at: Option<i64>,
    /// When something last happened in it.
    pub updated_at: i64,
    /// The newest position of its log.
    pub seq: Seq,
    /// Whether it was put aside.
    pub archived: bool,
    /// Whether the last bridge was shut down while it worked, and the next one is to go on with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub handed_over: bool,
    /// What is wrong with its log, and what to do about it. Such a session is not gone on with. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    /// What waits for a decision.
    #[serde(default)]
    pub approvals: Vec<PermissionRequest>,
    /// The messages that wait, oldest first.
    #[serde(default)]
    pub queue: Vec<InputId>,
    /// What each task does that runs in the background, whether a turn runs or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<String>,
}

impl SessionView {
    /// An open approval, by its own name or by that of its tool call; of several, the oldest.
    pub fn approval(&self, id: &ApprovalId) -> Option<&PermissionRequest> {
        let open = &self.approvals;
        open.iter().find(|open| open.id == *id).or_else(|| open.iter().find(|open| open.tool_use_id == id.0))
    }
}

/// Sessions on disk, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecentSessions {
    /// The sessions.
    pub sessions: Vec<RecentSession>,
    /// Whether there are more.
    pub has_more: bool,
}

/// One session on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecentSession {
    /// What Claude Code calls it; `resume_session` takes it.
    pub session_id: String,
    /// Its title, or the user's last words.
    pub summary: String,
    /// The user's first words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_prompt: Option<String>,
    /// The directory that it worked in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_path: Option<String>,
    /// The branch that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// When it was made, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<i64>,
    /// When it last changed.
    pub modified_at: i64,
    /// The session of the bridge that uses it right now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_use_by: Option<SessionId>,
}
