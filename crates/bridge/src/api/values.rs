//! Values that several messages use.

use std::fmt;

use pilothouse::proto::PermissionUpdate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// JSON that passes through unread.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Json(#[schemars(with = "serde_json::Value")] pub Box<RawValue>);

impl Json {
    /// JSON of anything that can be written as such; `null` for what cannot.
    pub fn of(value: &impl Serialize) -> Self {
        Self(serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }

    /// The text.
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

/// What a session does right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProcessStatus {
    /// It waits for the user's words.
    #[default]
    Idle,
    /// A turn runs.
    Running,
    /// A tool call, a question or a plan waits for a decision.
    WaitingApproval,
}

/// Whether a session has a CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    /// Its CLI runs.
    #[default]
    Running,
    /// Its CLI went away without being told to: it crashed, or the bridge did. It can be resumed.
    Interrupted,
    /// It was stopped, or its CLI came to its end. It can be resumed.
    Ended,
}

/// When a message reaches a CLI that is busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// After the running turn.
    #[default]
    Queue,
    /// Into the running turn, at its next step.
    Steer,
    /// At once: the running turn is ended first.
    Interrupt,
}

/// What to do when a Claude session that is to be resumed is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lease {
    /// Join the session that uses it.
    #[default]
    Attach,
    /// Go on from a copy of it.
    Fork,
    /// Stop the session that uses it, then resume.
    TakeOver,
    /// Do nothing and say so.
    Refuse,
}

/// How an approval ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The call runs.
    Allowed,
    /// The call runs, and so will others like it.
    AllowedAlways,
    /// The call does not run.
    Denied,
    /// The user's answers went to the model.
    Answered,
    /// Nobody decided: the CLI took it back, or is gone.
    Withdrawn,
}

/// Whether a client that comes back has missed something that is no longer there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Continuity {
    /// All that was missed follows.
    Ok,
    /// The log does not reach back so far, or never was so long: drop what you have, all that there is follows.
    Gap,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// For example `image/png`.
    pub media_type: String,
    /// The bytes, in base64.
    pub data: String,
}

/// One question of the model to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The question itself, which is also its name in the answers.
    pub question: String,
    /// A word or two for a tab.
    #[serde(default)]
    pub header: String,
    /// What can be chosen; any other text is an answer, too.
    #[serde(default)]
    pub options: Vec<QuestionOption>,
    /// Whether several may be chosen.
    #[serde(default)]
    pub multi_select: bool,
}

/// One thing to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionOption {
    /// What to choose it by.
    pub label: String,
    /// What it means.
    #[serde(default)]
    pub description: String,
    /// What it would look like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

/// The rules, mode or directories that an "always" would store, as the CLI proposes them.
pub(crate) type Suggestion = PermissionUpdate;
