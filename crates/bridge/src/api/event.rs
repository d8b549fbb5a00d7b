//! What happens in a session. Every event is in the session's log, at one position, for good.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::{ApprovalId, ClientMessageId, InputId};
use super::rendered::{Diff, Preview, Truncated};
use super::union::union;
use super::values::{Decision, Delivery, Image, Json, Lifecycle, Question, Suggestion};

union! {
    /// One event of a session's log.
    ///
    /// On the wire it carries `sessionId`, `seq` and `at` besides its own members; see [`Logged`](super::Logged).
    pub enum Event {
        /// The session was made, or the CLI says what it is.
        System(SystemEvent) = "system",
        /// The model speaks.
        Assistant(Assistant) = "assistant",
        /// A tool is done.
        ToolResult(ToolResult) = "tool_result",
        /// A turn is over.
        Result(TurnEnd) = "result",
        /// A tool call, a question or a plan waits for a decision.
        PermissionRequest(PermissionRequest) = "permission_request",
        /// The decision, exactly one for each request.
        PermissionResolved(PermissionResolved) = "permission_resolved",
        /// A client said something to the model.
        UserInput(UserInput) = "user_input",
        /// What became of something a client said.
        InputState(InputState) = "input_state",
        /// The session's CLI came or went.
        SessionState(SessionState) = "session_state",
        /// A client ended the running turn.
        InterruptRequested(InterruptRequested) = "interrupt_requested",
        /// What is allowed without asking has changed.
        ModeChanged(ModeChanged) = "mode_changed",
        /// The model has changed.
        ModelChanged(ModelChanged) = "model_changed",
        /// The session has a title.
        SessionRenamed(SessionRenamed) = "session_renamed",
        /// The session was put aside or taken back.
        SessionArchived(SessionArchived) = "session_archived",
        /// What was streamed of a message that never came to its end.
        Partial(Partial) = "partial",
        /// Anything else that the CLI wrote, as it came.
        Frame(Frame) = "frame",
    }
}

/// The session was made (`session_created`), or the CLI says what it is (`init`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SystemEvent {
    /// `session_created` or `init`.
    pub subtype: String,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What Claude Code calls the session. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claude_session_id: Option<String>,
    /// The directory that the session works in. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_path: Option<String>,
    /// What is allowed without asking. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The device that made the session. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The branch that is checked out there. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The slash commands that can be typed. *Extension.*
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slash_commands: Vec<String>,
    /// Whether the session runs without the files of a project that nobody trusts yet. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_restricted: Option<bool>,
}

/// The model speaks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Assistant {
    /// The message as the model's API has it, with its `content` array.
    pub message: Json,
    /// The call that started the subagent which speaks. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_tool_use_id: Option<String>,
    /// Safe HTML of each block of `content` that has words; null for the others. *Extension.*
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rendered: Vec<Option<String>>,
    /// The kind of API error that this message stands for, in the CLI's word, such as `rate_limit`. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The HTTP status of that error; without it the API did not answer. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_status: Option<u64>,
}

/// A tool is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call.
    pub tool_use_id: String,
    /// What it says.
    pub content: String,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Pictures in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Whether the tool failed. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Why the tool did not run, or not to its end, when that is no failure of its own. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<NotRun>,
    /// The call that started the subagent whose tool this is. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_tool_use_id: Option<String>,
    /// What the CLI says of the result for programs, for example the patch of an edit. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Json>,
    /// What the call changed in a file. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<Diff>,
    /// That `content` has only one end of it, and where the rest is. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
    /// That `details` were too long, and where they are. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated_details: Option<Truncated>,
}

/// Why a tool did not run, or not to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotRun {
    /// The user, a rule, a mode or a hook said no.
    Denied,
    /// The turn was interrupted.
    Stopped,
}

/// A turn is over.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnEnd {
    /// `success`, one of the CLI's `error_…`, `stopped` after `stop_session`, `process_ended` when the CLI died, or
    /// `no_result` when it came to rest without saying how the turn ended.
    pub subtype: String,
    /// The final words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The HTTP status of the API error that ended the turn. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_status: Option<u64>,
    /// What the session has cost so far, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// How long the turn took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<u64>,
    /// What Claude Code calls the session. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claude_session_id: Option<String>,
    /// Tokens of the turn as the CLI counts them. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Json>,
    /// How many tokens the model can take in. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// The branch that is checked out now. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The device that stopped the session. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Approvals that were given and of which nobody knows what came of them: the CLI was gone before their calls had a
    /// result. *Extension.*
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indeterminate: Vec<ApprovalId>,
}

/// A tool call, a question or a plan waits for a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest {
    /// The tool call.
    pub tool_use_id: String,
    /// The tool; `AskUserQuestion` for questions, `ExitPlanMode` for a plan.
    pub tool_name: String,
    /// Its input.
    pub input: Json,
    /// The approval's own name, unique in the session. *Extension.*
    pub id: ApprovalId,
    /// What "always" would store, word for word, and where. *Extension.*
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<serde_json::Value>")]
    pub suggestions: Vec<Suggestion>,
    /// Why it is asked. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The questions of `AskUserQuestion`. *Extension.*
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// What it is about, for a page to show. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// The SHA-256 of all other members, which a decision sends back to say what its user was shown. *Extension.*
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

impl PermissionRequest {
    /// The request with its digest filled in.
    #[must_use]
    pub fn sealed(mut self) -> Self {
        self.digest = self.computed_digest();
        self
    }

    /// The SHA-256, in lower-case hexadecimal, of the request without `digest`, written as compact JSON with its members in
    /// the order of this type.
    ///
    /// It is computed from the request and not read from `digest`, so that a decision is compared with what would run.
    pub fn computed_digest(&self) -> String {
        let shown = Self { digest: String::new(), ..self.clone() };
        // Every member is text or JSON already, so there is nothing that could not be written.
        let text = serde_json::to_vec(&shown).unwrap_or_default();
        let hash = ring::digest::digest(&ring::digest::SHA256, &text);
        hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// How an approval ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionResolved {
    /// The approval.
    pub id: ApprovalId,
    /// The tool call.
    pub tool_use_id: String,
    /// How.
    pub decision: Decision,
    /// The device that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What the model was told, or why nobody decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What was stored, in the notation of settings files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
}

/// A client said something to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserInput {
    /// The message's name.
    pub input_id: InputId,
    /// The words.
    pub text: String,
    /// The pictures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// When it was to be delivered.
    pub delivery: Delivery,
    /// What became of it at once: `queued`, or `sending` when the CLI was free.
    pub state: InputStateChange,
    /// What the client called it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_message_id: Option<ClientMessageId>,
    /// The device that it came from.
    pub by: String,
    /// The words as safe HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<String>,
}

/// What became of something a client said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InputState {
    /// The message.
    pub input_id: InputId,
    /// What became of it.
    pub state: InputStateChange,
    /// Its new words, when it was edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The new words as safe HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<String>,
    /// The device that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// What became of a message to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputStateChange {
    /// It waits for its turn.
    Queued,
    /// Its words were changed while it waited.
    Edited,
    /// It is being written to the CLI. If the bridge dies now, it may or may not have arrived.
    Sending,
    /// The CLI has it.
    Delivered,
    /// It was taken back.
    Cancelled,
    /// Nobody knows whether the CLI got it. It is not sent again by itself.
    Indeterminate,
}

/// The session's CLI came or went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionState {
    /// What it is now.
    pub state: Lifecycle,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The device that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Whether it was cut off at its work by a bridge that shut down: the next bridge goes on with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub handed_over: bool,
}

/// A client ended the running turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InterruptRequested {
    /// The device that did.
    pub by: String,
}

/// What is allowed without asking has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModeChanged {
    /// The mode.
    pub mode: String,
    /// The device that changed it.
    pub by: String,
}

/// The model has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelChanged {
    /// The model; without one the CLI's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The device that changed it.
    pub by: String,
}

/// The session has a title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionRenamed {
    /// The title.
    pub title: String,
    /// The device that gave it.
    pub by: String,
}

/// The session was put aside or taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionArchived {
    /// Whether it is put aside.
    pub archived: bool,
    /// The device that did it.
    pub by: String,
}

/// What was streamed of a message that never came to its end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Partial {
    /// Its text.
    pub text: String,
    /// Its thinking.
    pub thinking: String,
    /// Its text as HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<String>,
}

/// Anything else that the CLI wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    /// Its `type`, or `noise` for a line that is no JSON.
    pub kind: String,
    /// The frame as it came.
    pub frame: Json,
}
