//! An entry of a conversation before it is written.

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::entry::ChainKind;
use crate::id::{EntryId, SessionId};
use crate::transcript::{Line, Stamp};

/// An entry that a running session adds to its conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEntry {
    kind: ChainKind,
    id: EntryId,
    place: Place,
    timestamp: String,
    message: Option<Value>,
    members: Map<String, Value>,
}

/// Where in the conversation an entry goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    AfterLast,
    On(EntryId),
    NewRoot,
}

impl NewEntry {
    /// A prompt, a tool result, or what the agent says in the user's name; `message` is as the model's API has it.
    pub fn user(message: Value) -> Self {
        Self::new(ChainKind::User, Some(message))
    }

    /// One block of the model's answer; `message` is the whole message with this block alone.
    pub fn assistant(message: Value) -> Self {
        Self::new(ChainKind::Assistant, Some(message))
    }

    /// Something the agent says.
    pub fn system(subtype: &str) -> Self {
        Self::new(ChainKind::System, None).with("subtype", subtype)
    }

    /// Something the agent adds to a prompt.
    pub fn attachment(attachment: Value) -> Self {
        Self::new(ChainKind::Attachment, None).with("attachment", attachment)
    }

    fn new(kind: ChainKind, message: Option<Value>) -> Self {
        let id = EntryId(Uuid::new_v4().to_string());
        Self { kind, id, place: Place::AfterLast, timestamp: now(), message, members: Map::new() }
    }

    /// The id; a new one if not set. The frame that tells the host of this entry has the same.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = EntryId(id.into());
        self
    }

    /// The time, in ISO 8601; now if not set.
    pub fn at(mut self, timestamp: impl Into<String>) -> Self {
        self.timestamp = timestamp.into();
        self
    }

    /// A member of the line that only some entries have, for example `toolUseResult` or `isMeta`.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    /// A tool result hangs on the entry of its call, wherever the conversation is by now.
    pub fn result_of(mut self, call: EntryId) -> Self {
        self.members.insert("sourceToolAssistantUUID".to_owned(), call.0.clone().into());
        self.place = Place::On(call);
        self
    }

    /// The conversation begins anew here: what was before is not sent to the model any more.
    pub fn as_new_root(mut self) -> Self {
        self.place = Place::NewRoot;
        self
    }

    pub(crate) fn id(&self) -> &EntryId {
        &self.id
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// The members in the order that CLIs write them.
    pub(crate) fn into_line(
        self,
        parent: Option<EntryId>,
        logical_parent: Option<EntryId>,
        session: SessionId,
        agent: Option<&str>,
        stamp: &Stamp,
    ) -> Line {
        let kind = match self.kind {
            ChainKind::User => "user",
            ChainKind::Assistant => "assistant",
            ChainKind::System => "system",
            ChainKind::Attachment => "attachment",
            ChainKind::Progress => "progress",
        };
        let mut line = Line::new();
        let mut put = |name: &str, value: Value| line.insert(name.to_owned(), value);
        put("parentUuid", parent.map(|id| id.0).into());
        if let Some(logical_parent) = logical_parent {
            put("logicalParentUuid", logical_parent.0.into());
        }
        put("isSidechain", agent.is_some().into());
        if let Some(agent) = agent {
            put("agentId", agent.into());
        }
        put("type", kind.into());
        if let Some(message) = self.message {
            put("message", message);
        }
        put("uuid", self.id.0.into());
        put("timestamp", self.timestamp.into());
        for (name, value) in self.members {
            put(&name, value);
        }
        put("userType", "external".into());
        put("entrypoint", stamp.entrypoint.clone().into());
        put("cwd", stamp.cwd.to_string_lossy().into_owned().into());
        put("sessionId", session.to_string().into());
        put("version", stamp.version.clone().into());
        put("gitBranch", stamp.git_branch.clone().into());
        line
    }
}

pub(crate) fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}
