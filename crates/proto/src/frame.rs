//! One line of the wire, in either direction.

use serde_json::{Map, Value};

use crate::control::{
    AgentRequest, ControlCancelRequest, ControlRequest, ControlResponse, HostRequest, KeepAlive,
};
use crate::message::{Assistant, StreamEvent, TurnResult, User};
use crate::notice::{
    ActiveGoal, AuthStatus, CommandLifecycle, ConversationReset, RateLimitEvent, ToolProgress,
    ToolUseSummary, TranscriptMirror,
};
use crate::system::System;
use crate::wire::{Opt, SessionId, Uuid, record, union};

union! {
    /// What a CLI writes on its stdout.
    pub enum AgentFrame by "type" {
        /// A piece of an answer while it is written.
        "stream_event" => StreamEvent(Box<StreamEvent>),
        /// A finished piece of an answer.
        "assistant" => Assistant(Box<Assistant>),
        /// Tool results and other messages in the user's role.
        "user" => User(Box<User>),
        /// The end of a turn.
        "result" => Result(Box<TurnResult>),
        /// Everything that is not conversation.
        "system" => System(System),
        /// The CLI asks its host.
        "control_request" | "sdk_control_request" => ControlRequest(Box<ControlRequest<AgentRequest>>),
        /// The CLI answers its host.
        "control_response" => ControlResponse(Box<ControlResponse>),
        /// The CLI withdraws a request.
        "control_cancel_request" => ControlCancelRequest(Box<ControlCancelRequest>),
        /// The CLI is alive.
        "keep_alive" => KeepAlive(KeepAlive),
        /// A tool is still running.
        "tool_progress" => ToolProgress(Box<ToolProgress>),
        /// What the last tool calls did.
        "tool_use_summary" => ToolUseSummary(Box<ToolUseSummary>),
        /// How a login is going.
        "auth_status" => AuthStatus(Box<AuthStatus>),
        /// A limit of the plan changed.
        "rate_limit_event" => RateLimitEvent(Box<RateLimitEvent>),
        /// What the user might say next.
        "prompt_suggestion" => PromptSuggestion(Box<PromptSuggestion>),
        /// The conversation starts over.
        "conversation_reset" => ConversationReset(Box<ConversationReset>),
        /// What the session works towards.
        "active_goal" => ActiveGoal(Box<ActiveGoal>),
        /// What became of a message.
        "command_lifecycle" => CommandLifecycle(Box<CommandLifecycle>),
        /// Transcript lines that were just written.
        "transcript_mirror" => TranscriptMirror(Box<TranscriptMirror>),
        /// An error outside any turn; only old CLIs send it.
        "error" => Error(Box<ErrorFrame>),
    }

    /// What a host writes on a CLI's stdin.
    pub enum HostFrame by "type" {
        /// A message for the model.
        "user" => User(Box<User>),
        /// The host asks the CLI.
        "control_request" => ControlRequest(Box<ControlRequest<HostRequest>>),
        /// The host answers the CLI.
        "control_response" => ControlResponse(Box<ControlResponse>),
        /// The host withdraws a request.
        "control_cancel_request" => ControlCancelRequest(Box<ControlCancelRequest>),
        /// The host is alive.
        "keep_alive" => KeepAlive(KeepAlive),
    }
}

record! {
    /// What the user might say next; at most one per turn, after its result.
    #[derive(Default)]
    pub struct PromptSuggestion {
        /// The text.
        suggestion: String,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// An error outside any turn; only old CLIs send it.
    #[derive(Default)]
    pub struct ErrorFrame {
        /// What went wrong, as it came.
        error: Opt<Map<String, Value>>,
    }
}
