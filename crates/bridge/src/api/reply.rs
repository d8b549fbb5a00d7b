//! What the bridge says besides events: replies, and what is only true for the moment. None of it is in the log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ErrorCode;
use super::ids::{ApprovalId, ClientMessageId, InputId, RequestId, Seq, SessionId};
use super::sessions::{RecentSessions, SessionChanged, SessionList, SessionView};
use super::union::{Bare, union};
use super::values::{Continuity, Decision, Json, ProcessStatus};

union! {
    /// A message of the bridge that has no place in a log.
    pub enum Reply {
        /// Something could not be done.
        Error(ErrorReply) = "error",
        /// What a session does has changed.
        Status(Status) = "status",
        /// What was said.
        History(History) = "history",
        /// Words of the model, as they come.
        StreamDelta(StreamDelta) = "stream_delta",
        /// Thoughts of the model, as they come.
        ThinkingDelta(ThinkingDelta) = "thinking_delta",
        /// The reply to `start` and `resume_session`.
        SessionCreated(SessionCreated) = "system",
        /// The reply to `list_sessions`.
        SessionList(SessionList) = "session_list",
        /// A session is new, or different from what the list had of it.
        SessionChanged(SessionChanged) = "session_changed",
        /// The reply to `list_recent_sessions`.
        RecentSessions(RecentSessions) = "recent_sessions",
        /// The reply to `hello`.
        Welcome(Welcome) = "welcome",
        /// The reply to `subscribe`; what was missed follows.
        Subscribed(Subscribed) = "subscribed",
        /// What was streamed so far of the message that the model writes.
        StreamSnapshot(StreamSnapshot) = "stream_snapshot",
        /// The reply to `get_stream`.
        StreamRendered(StreamRendered) = "stream_rendered",
        /// A command is in the log.
        Ack(Ack) = "ack",
        /// What became of a decision.
        ApprovalReply(ApprovalReply) = "approval_reply",
        /// The reply to `review_project` and `trust_project`.
        ProjectReview(ProjectReview) = "project_review",
        /// Who else is there.
        Presence(Presence) = "presence",
        /// The reply to `ping`.
        Pong(Pong) = "pong",
    }
}

impl Reply {
    /// The reply as it is sent.
    pub fn encode(&self, request_id: Option<&RequestId>) -> String {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Named<'a> {
            request_id: &'a RequestId,
        }
        struct Whole<'a>(&'a Reply, Option<&'a RequestId>);
        impl Serialize for Whole<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.1 {
                    Some(request_id) => self.0.members(&Named { request_id }, serializer),
                    None => self.0.members(&Bare {}, serializer),
                }
            }
        }
        serde_json::to_string(&Whole(self, request_id)).unwrap_or_default()
    }

    /// Reads a message of the bridge that is no event.
    ///
    /// # Errors
    /// When it is something else.
    pub fn decode(text: &str) -> Result<Self, super::MessageError> {
        Self::read(&super::logged::tag_of(text), text)
    }

    /// The reply in the words of the original client, which knows no reply to a decision: it hears of one that does not hold.
    pub(crate) fn for_the_original_client(self) -> Self {
        let Self::ApprovalReply(reply) = &self else { return self };
        let Some(message) = reply.problem() else { return self };
        let session_id = Some(reply.session_id.clone());
        ErrorReply { message, error_code: ErrorCode::Refused, session_id, client_message_id: None }.into()
    }

    /// Whether the original client knows this message.
    pub fn is_original(&self) -> bool {
        !matches!(
            self,
            Self::SessionChanged(_)
                | Self::Welcome(_)
                | Self::Subscribed(_)
                | Self::StreamSnapshot(_)
                | Self::StreamRendered(_)
                | Self::Ack(_)
                | Self::ApprovalReply(_)
                | Self::ProjectReview(_)
                | Self::Presence(_)
                | Self::Pong(_)
        )
    }
}

impl ApprovalReply {
    /// Why the decision does not hold, in words; nothing when it does.
    fn problem(&self) -> Option<String> {
        match self.status {
            ApprovalStatus::Accepted => None,
            ApprovalStatus::AlreadyResolved => {
                let by = self.by.as_deref().unwrap_or("somebody else");
                Some(format!("this was decided already, by {by}"))
            }
            ApprovalStatus::Gone => {
                let why = self.why.as_deref().unwrap_or("it is gone");
                Some(format!("there is nothing to decide: {why}"))
            }
        }
    }
}

/// Something could not be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorReply {
    /// What, and what to do about it.
    pub message: String,
    /// The kind, for programs. *Extension.*
    pub error_code: ErrorCode,
    /// The session that it is about. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The command that it is about. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_message_id: Option<ClientMessageId>,
}

/// What a session does has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// What it does.
    pub status: ProcessStatus,
    /// The session. *Extension.*
    pub session_id: SessionId,
}

/// What was said, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// Events in the order of the log.
    pub messages: Vec<Json>,
    /// The session. *Extension.*
    pub session_id: SessionId,
    /// The position of the first event of this page; ask `before` it for older ones. *Extension.*
    pub first_seq: Seq,
    /// The position of the last event of this page. *Extension.*
    pub last_seq: Seq,
    /// Whether there are older events. *Extension.*
    pub has_more: bool,
}

/// Words of the model, as they come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamDelta {
    /// The words.
    pub text: String,
    /// The session. *Extension.*
    pub session_id: SessionId,
    /// How many UTF-16 units of this message's text came before: a reader that has another number has missed some,
    /// and gets a `stream_snapshot`. *Extension.*
    pub offset: u64,
}

/// Thoughts of the model, as they come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThinkingDelta {
    /// The thoughts.
    pub text: String,
    /// The session. *Extension.*
    pub session_id: SessionId,
    /// How many UTF-16 units of this message's thinking came before. *Extension.*
    pub offset: u64,
}

/// The session is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionCreated {
    /// `session_created`.
    pub subtype: String,
    /// The bridge's name of the session.
    pub session_id: SessionId,
    /// Whether it was there already. *Extension.*
    pub attached: bool,
    /// The model, when it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// The bridge greets a client that knows its own messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Welcome {
    /// The protocol's version.
    pub protocol: u32,
    /// The bridge's version.
    pub version: String,
    /// What the device is called.
    pub device: String,
    /// What the device may do.
    pub scopes: Vec<String>,
    /// Which agent runs in sessions that are started now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentInfo>,
    /// The directories beneath which sessions may work.
    #[serde(default)]
    pub roots: Vec<String>,
    /// The longest message that the bridge takes, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_bytes: Option<usize>,
}

/// Which agent runs, and why this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentInfo {
    /// What it is.
    pub kind: AgentKind,
    /// Its version.
    pub version: String,
    /// Why it was chosen, for people.
    pub note: String,
    /// What its sessions are kept from; absent if that is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxInfo>,
}

/// What sessions are kept from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SandboxInfo {
    /// How much.
    pub mode: SandboxMode,
    /// What this system lacks of it, for people; the bridge goes on without because somebody said so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// How much sessions are kept from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SandboxMode {
    /// The bridge's state directory, keys and passwords, and other processes.
    Hide,
    /// Also writing outside of the project, and system calls that builds and tests do not need.
    Strict,
}

/// What an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AgentKind {
    /// Claude Code.
    Claude,
    /// The bridge's own agent, with a real model.
    Embedded,
    /// The bridge's own agent, with a script for a model.
    Demo,
}

/// Events follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Subscribed {
    /// The session.
    pub session_id: SessionId,
    /// Whether all that was missed is still there.
    pub continuity: Continuity,
    /// The position after which events follow.
    pub since: Seq,
    /// What its log adds up to: status, open approvals, queue, title, model, cost.
    pub session: SessionView,
}

/// What was streamed so far of the message that the model writes: take it instead of what you have of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamSnapshot {
    /// The session.
    pub session_id: SessionId,
    /// Its text.
    pub text: String,
    /// Its thinking.
    pub thinking: String,
}

/// What was streamed so far of the text that the model writes, as HTML; empty when it writes none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamRendered {
    /// The session.
    pub session_id: SessionId,
    /// How much of the text this is, counted as the `offset` of deltas is.
    pub length: u64,
    /// That much of it as HTML.
    pub rendered: String,
}

/// A command is in the log, and will be there after any crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ack {
    /// The session.
    pub session_id: SessionId,
    /// Its position.
    pub seq: Seq,
    /// What the client called it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_message_id: Option<ClientMessageId>,
    /// The message's name, for `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_id: Option<InputId>,
    /// Whether it was there already and nothing was done.
    pub duplicate: bool,
}

/// What became of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalReply {
    /// The session.
    pub session_id: SessionId,
    /// The approval.
    pub id: ApprovalId,
    /// What became of it.
    pub status: ApprovalStatus,
    /// The decision that holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// The device that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Whether others like it will run, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<bool>,
    /// Why there is nothing to decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What became of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// It holds.
    Accepted,
    /// Somebody was faster.
    AlreadyResolved,
    /// There is nothing to decide any more.
    Gone,
}

/// What the files of a project would run and allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectReview {
    /// The directory, without symbolic links.
    pub project_path: String,
    /// Whether somebody has agreed to all of it. Until then sessions start without these files, but for what they deny; with
    /// files that are broken they do not start.
    pub is_trusted: bool,
    /// Everything that runs a program or allows something.
    pub parts: Vec<ProjectPart>,
    /// Settings files that cannot be read, so that what they deny would not be denied.
    pub broken: Vec<ProjectPart>,
    /// Names all of it, for `trust_project`.
    pub digest: String,
}

/// One thing that a file of a project would do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectPart {
    /// `hook`, `mcp`, `allow`, `directory`, `mode`, `env`, `setting`, `skill`, `agent` or `broken`.
    pub kind: String,
    /// What it says, or what is wrong with it.
    pub text: String,
    /// The file that says so.
    pub file: String,
    /// Whether nobody has agreed to it.
    pub is_new: bool,
}

/// Who follows a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Presence {
    /// The session.
    pub session_id: SessionId,
    /// The devices, one entry for each connection.
    pub devices: Vec<String>,
}

/// The bridge is there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Pong {
    /// The bridge's clock, in milliseconds since 1970.
    pub now: i64,
}
