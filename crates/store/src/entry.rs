//! The lines of a transcript, typed; what is not known is kept.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::id::EntryId;

/// One line of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A link of the conversation.
    Chain(Box<ChainEntry>),
    /// The title that a person gave.
    CustomTitle(String),
    /// The tag that a person gave; empty takes it away.
    Tag(String),
    /// Any other entry, whole.
    Other(Map<String, Value>),
}

/// An entry that hangs on another one: together they are the conversation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainEntry {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: ChainKind,
    /// Its id.
    pub uuid: EntryId,
    /// The entry it hangs on; none at the root.
    #[serde(default)]
    pub parent_uuid: Option<EntryId>,
    /// Where a compacted conversation went on from.
    #[serde(default)]
    pub logical_parent_uuid: Option<EntryId>,
    /// The session that it was written for.
    #[serde(default)]
    pub session_id: Option<String>,
    /// When, in ISO 8601.
    #[serde(default)]
    pub timestamp: Option<String>,
    /// The message, as the model's API has it.
    #[serde(default)]
    pub message: Option<Value>,
    /// The working directory at that time.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The branch at that time.
    #[serde(default)]
    pub git_branch: Option<String>,
    /// Whether it belongs to a subagent.
    #[serde(default)]
    pub is_sidechain: bool,
    /// Whether the CLI wrote it on its own.
    #[serde(default)]
    pub is_meta: bool,
    /// Whether it sums up what was compacted.
    #[serde(default)]
    pub is_compact_summary: bool,
    /// The team, in a session of several agents.
    #[serde(default)]
    pub team_name: Option<String>,
    /// The agent's name in its team.
    #[serde(default)]
    pub agent_name: Option<String>,
    /// A name made up for the session.
    #[serde(default)]
    pub slug: Option<String>,
    /// The subagent that it belongs to.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// For a tool result: the entry with its call.
    #[serde(default, rename = "sourceToolAssistantUUID")]
    pub source_tool_assistant_uuid: Option<EntryId>,
    /// The entry that this one is a copy of, in a forked session.
    #[serde(default)]
    pub forked_from: Option<ForkedFrom>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The kinds of entries that make up the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChainKind {
    /// A prompt or a tool result.
    User,
    /// A block of the model's answer.
    Assistant,
    /// Something the CLI says.
    System,
    /// Something the CLI adds to a prompt.
    Attachment,
    /// Progress of a tool.
    Progress,
}

/// Where a forked entry comes from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkedFrom {
    /// The session.
    pub session_id: String,
    /// The entry.
    pub message_uuid: EntryId,
}

impl Entry {
    /// Decodes one line. An unknown `type` is no error; a known one with a broken member is.
    pub fn decode(line: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Head<'a> {
            #[serde(borrow, rename = "type", default)]
            kind: Option<std::borrow::Cow<'a, str>>,
            #[serde(default)]
            uuid: Option<serde::de::IgnoredAny>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct CustomTitle {
            custom_title: String,
        }
        #[derive(Deserialize)]
        struct Tag {
            tag: String,
        }
        let head: Head<'_> = serde_json::from_str(line)?;
        match head.kind.as_deref() {
            // Without an id it cannot be part of the chain; some CLIs write such progress entries.
            Some("user" | "assistant" | "system" | "attachment" | "progress") if head.uuid.is_some() => {
                serde_json::from_str(line).map(|entry| Self::Chain(Box::new(entry)))
            }
            Some("custom-title") => {
                serde_json::from_str(line).map(|CustomTitle { custom_title }| Self::CustomTitle(custom_title))
            }
            Some("tag") => serde_json::from_str(line).map(|Tag { tag }| Self::Tag(tag)),
            _ => serde_json::from_str(line).map(Self::Other),
        }
    }
}
