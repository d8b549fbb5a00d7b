//! What clients say.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::MessageError;
use super::ids::{ApprovalId, ClientMessageId, InputId, RequestId, Seq, SessionId};
use super::union::{Bare, Flaw, located, union};
use super::values::{Delivery, Image, Lease};

union! {
    /// A message of a client.
    ///
    /// ```
    /// use pilothouse_bridge::api::{ClientMessage, Received};
    ///
    /// let received = Received::decode(r#"{"type":"input","text":"hello","requestId":"7"}"#);
    /// assert!(matches!(received.message, Ok(ClientMessage::Input(input)) if input.text == "hello"));
    /// let received = Received::decode(r#"{"type":"input","text":7}"#);
    /// assert_eq!(received.message.unwrap_err().to_string(),
    ///     "`input` is malformed at `text`, column 24: invalid type: integer `7`, expected a string");
    /// ```
    pub enum ClientMessage {
        /// Starts a session.
        Start(Start) = "start",
        /// Says something to the model.
        Input(Input) = "input",
        /// Lets a tool call run.
        Approve(Approve) = "approve",
        /// Lets a tool call run, and others like it.
        ApproveAlways(ApproveAlways) = "approve_always",
        /// Refuses a tool call.
        Reject(Reject) = "reject",
        /// Answers the model's questions.
        Answer(Answer) = "answer",
        /// Asks for the sessions whose CLI runs.
        ListSessions(ListSessions) = "list_sessions",
        /// Ends a session.
        StopSession(StopSession) = "stop_session",
        /// Asks for what was said.
        GetHistory(GetHistory) = "get_history",
        /// Asks for sessions on disk.
        ListRecentSessions(ListRecentSessions) = "list_recent_sessions",
        /// Goes on with a session on disk.
        ResumeSession(ResumeSession) = "resume_session",
        /// Says that the client knows this protocol's own messages.
        Hello(Hello) = "hello",
        /// Asks for a session's events from a position on.
        Subscribe(Subscribe) = "subscribe",
        /// Asks for no more events of a session.
        Unsubscribe(Unsubscribe) = "unsubscribe",
        /// Asks for what the model is writing, as HTML.
        GetStream(GetStream) = "get_stream",
        /// Ends the running turn.
        Interrupt(Interrupt) = "interrupt",
        /// Changes what is allowed without asking.
        SetMode(SetMode) = "set_mode",
        /// Asks what the files of a project would run and allow.
        ReviewProject(ReviewProject) = "review_project",
        /// Lets the files of a project run and allow what they say.
        TrustProject(TrustProject) = "trust_project",
        /// Changes the model.
        SetModel(SetModel) = "set_model",
        /// Changes a message that still waits.
        EditInput(EditInput) = "edit_input",
        /// Takes back a message that still waits.
        CancelInput(CancelInput) = "cancel_input",
        /// Gives a session a title.
        RenameSession(RenameSession) = "rename_session",
        /// Puts a session aside, or takes it back.
        ArchiveSession(ArchiveSession) = "archive_session",
        /// Says whether somebody looks at the client.
        Visible(Visible) = "visible",
        /// Asks whether the bridge is there.
        Ping(Ping) = "ping",
    }
}

/// A frame of a client: its message, or what is wrong with it, and the name that the reply should carry.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// What the client put on it to recognise the reply.
    pub request_id: Option<RequestId>,
    /// The message.
    pub message: Result<ClientMessage, MessageError>,
}

impl Received {
    /// What the client calls the request in a frame, for who does not carry it out.
    pub(crate) fn request_id(text: &str) -> Option<RequestId> {
        serde_json::from_str::<Head<'_>>(text).ok()?.request_id
    }

    /// Reads one frame.
    pub fn decode(text: &str) -> Self {
        // A list would be read as the members of the message in their order.
        let head = match text.trim_start().starts_with('{') {
            true => located::<Head<'_>>(text),
            false => Err(Flaw { place: "column 1".to_owned(), reason: "it is no JSON object".to_owned() }),
        };
        let head = match head {
            Ok(head) => head,
            Err(Flaw { place, reason }) => {
                return Self { request_id: None, message: Err(MessageError::NotAMessage { place, reason }) };
            }
        };
        Self { request_id: head.request_id, message: ClientMessage::read(&head.tag, text) }
    }
}

/// What every message has.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    tag: Cow<'a, str>,
    #[serde(default)]
    request_id: Option<RequestId>,
}

impl Serialize for ClientMessage {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members(&Bare {}, serializer)
    }
}

/// Starts a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Start {
    /// The directory to work in, beneath an allowed root.
    pub project_path: String,
    /// The Claude session to go on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Whether to go on with the newest session of the project.
    #[serde(default, rename = "continue", skip_serializing_if = "Option::is_none")]
    pub continue_latest: Option<bool>,
    /// What is allowed without asking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The model, by name or alias. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What to do when the Claude session is in use. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// Makes the same start, sent twice, start one session. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_message_id: Option<ClientMessageId>,
}

/// Says something to the model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// The words.
    pub text: String,
    /// The session; without it, the one that this connection last addressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Makes the same message, sent twice, run once. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_message_id: Option<ClientMessageId>,
    /// What to do while a turn runs. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// Pictures to go with it. *Extension.*
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

/// Lets a tool call run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approve {
    /// The approval's `id`, or the `toolUseId` of its request.
    pub id: ApprovalId,
    /// The session; without it, the one that this connection last addressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The `digest` of the request that the user was shown: a request that is not that one is not decided. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// When the decision is too old to count, in milliseconds by the bridge's clock (`now` of `pong`): a network that comes
    /// back must not deliver a decision that the user has given up. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
}

/// Lets a tool call run, and others like it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApproveAlways {
    /// The approval's `id`, or the `toolUseId` of its request.
    pub id: ApprovalId,
    /// The session; without it, the one that this connection last addressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Which of the request's `suggestions` the user picked, by index, to be stored where each says. Without it the
    /// first that adds rules, for this session only. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Vec<usize>>,
    /// Whether the picked suggestions are to hold for this session only. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_session: Option<bool>,
    /// The `digest` of the request that the user was shown: a request that is not that one is not decided. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// When the decision is too old to count, in milliseconds by the bridge's clock (`now` of `pong`): a network that comes
    /// back must not deliver a decision that the user has given up. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
}

/// Refuses a tool call, or keeps planning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reject {
    /// The approval's `id`, or the `toolUseId` of its request.
    pub id: ApprovalId,
    /// What the model is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The session; without it, the one that this connection last addressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Whether the turn ends, too. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<bool>,
    /// The `digest` of the request that the user was shown: a request that is not that one is not decided. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// When the decision is too old to count, in milliseconds by the bridge's clock (`now` of `pong`): a network that comes
    /// back must not deliver a decision that the user has given up. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
}

/// Answers the model's questions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The `toolUseId` of the request, or its `id`.
    pub tool_use_id: ApprovalId,
    /// A label, labels joined by `, `, or any text; for several questions JSON `{"questions": …, "answers": {question: answer}}`.
    pub result: String,
    /// The session; without it, the one that this connection last addressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The `digest` of the request that the user was shown: a request that is not that one is not decided. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// When the decision is too old to count, in milliseconds by the bridge's clock (`now` of `pong`): a network that comes
    /// back must not deliver a decision that the user has given up. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
}

/// Asks for sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListSessions {
    /// Whether interrupted and ended sessions are listed, too. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_ended: Option<bool>,
    /// Whether the client is told from now on what is different in the list. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<bool>,
}

/// Ends a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StopSession {
    /// The session.
    pub session_id: SessionId,
}

/// Asks for what was said; also subscribes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GetHistory {
    /// The session.
    pub session_id: SessionId,
    /// Only events before this position: the `firstSeq` of the page that is there already. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Seq>,
    /// At most so many events, the newest. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Asks for sessions on disk, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListRecentSessions {
    /// At most so many; 50 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// So many of the newest are left out. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    /// Only those whose title, first words or project have this text. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// Only those of this project. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_path: Option<String>,
}

/// Goes on with a session on disk, or with one of the bridge's whose CLI is gone.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResumeSession {
    /// The id that `recent_sessions` or `session_list` has.
    pub session_id: String,
    /// The directory to work in, beneath an allowed root.
    pub project_path: String,
    /// What is allowed without asking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// What to do when the Claude session is in use. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// Makes the same request, sent twice, fork or take over once. *Extension.*
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_message_id: Option<ClientMessageId>,
}

/// Says that the client knows this protocol's own messages. Without it a connection gets only those of the original
/// client. *Extension.*
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The newest version of the protocol that the client knows.
    pub protocol: u32,
    /// What the client calls itself, for the list of who is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

/// Asks for a session's events. *Extension.*
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Subscribe {
    /// The session.
    pub session_id: SessionId,
    /// The newest position that the client has; without it only new events come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Seq>,
}

/// Asks for no more events of a session. *Extension.*
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unsubscribe {
    /// The session.
    pub session_id: SessionId,
}

/// Asks for what the model is writing, as HTML: a page that shows it may ask as often as it can draw. *Extension.*
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GetStream {
    /// The session.
    pub session_id: SessionId,
}

/// Ends the running turn. *Extension.*
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Interrupt {
    /// The session; without it, the one that this connection last addressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// Changes what is allowed without asking. *Extension.*
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetMode {
    /// For example `plan` or `acceptEdits`.
    pub mode: String,
    /// The session; without it, the one that this connection last addressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// Changes the model. *Extension.*
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetModel {
    /// A name or alias; without it the CLI's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The session; without it, the one that this connection last addressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// Asks what the files of a project would run and allow. *Extension.*
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewProject {
    /// The directory, beneath an allowed root.
    pub project_path: String,
}

/// Lets the files of a project run and allow what they say, from the next start of a session on. *Extension.*
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrustProject {
    /// The directory, beneath an allowed root.
    pub project_path: String,
    /// The `digest` of the `project_review` that the user was shown: other files are not trusted.
    pub digest: String,
}

/// Changes a message that still waits. *Extension.*
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditInput {
    /// The message.
    pub input_id: InputId,
    /// Its new words.
    pub text: String,
    /// The session; without it, the one that this connection last addressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// Takes back a message that still waits. *Extension.*
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelInput {
    /// The message.
    pub input_id: InputId,
    /// The session; without it, the one that this connection last addressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// Gives a session a title. *Extension.*
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RenameSession {
    /// The session.
    pub session_id: SessionId,
    /// The title.
    pub title: String,
}

/// Puts a session aside, or takes it back. *Extension.*
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveSession {
    /// The session.
    pub session_id: SessionId,
    /// Whether it is put aside.
    pub archived: bool,
}

/// Says whether somebody looks at the client: who does is not told the news by Web Push. *Extension.*
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Visible {
    /// Whether somebody does.
    pub visible: bool,
}

/// Asks whether the bridge is there: a page cannot send the WebSocket's own ping. *Extension.*
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Ping {}
