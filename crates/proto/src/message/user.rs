use std::borrow::Cow;

use serde_json::Value;

use super::{Content, Role};
use crate::origin::MessageOrigin;
use crate::wire::{AgentId, Opt, SessionId, ToolUseId, Uuid, open_enum, record};

record! {
    /// A message in the user's role, in either direction.
    ///
    /// From a host it starts or queues a turn. From a CLI it carries tool results, injected text, or the echo of a
    /// host's message (`isReplay`).
    #[derive(Default)]
    pub struct User {
        /// The message.
        message: MessageParam,
        /// The tool call whose subagent this belongs to. Hosts send null.
        parent_tool_use_id: Opt<ToolUseId>,
        /// Set when nobody typed it.
        is_synthetic as "isSynthetic": Opt<bool>,
        /// The tool's structured output. [`crate::tool::ToolOutput`] types those of well-known tools.
        tool_use_result: Opt<Value>,
        /// Where a host wants it in the queue.
        priority: Opt<Priority>,
        /// Who it comes from.
        origin: Opt<MessageOrigin>,
        /// False appends to the conversation without starting a turn.
        should_query as "shouldQuery": Opt<bool>,
        /// When it was made.
        timestamp: Opt<String>,
        /// True delivers the text as it is: no file mentions, no slash commands.
        client_composed: Opt<bool>,
        /// Names the message. A host chooses it to be able to cancel or rewind.
        uuid: Opt<Uuid>,
        /// Pasted parts, to be appended after the typed text.
        pasted_content: Opt<Vec<Content>>,
        /// Which parts of the text were pasted.
        inline_pastes: Opt<Vec<String>>,
        /// The session. What a host sends here does not matter.
        session_id: Opt<SessionId>,
        /// The subagent this belongs to.
        agent_id: Opt<AgentId>,
        /// Its type.
        subagent_type: Opt<String>,
        /// What it was asked to do.
        task_description: Opt<String>,
        /// Set on the echo of a host's message and on replayed history.
        is_replay as "isReplay": Opt<bool>,
        /// Files attached to a replayed message; shape undeclared.
        file_attachments: Opt<Vec<Value>>,
        /// How each tool result in here came about.
        tool_result_meta: Opt<Vec<ToolResultMeta>>,
        /// The refused message that this one replaces.
        refused_message_id: Opt<String>,
    }

    /// What a user message holds.
    pub struct MessageParam {
        /// Always the user, but a CLI says so itself.
        role: Role,
        /// Text or blocks.
        content: Content,
    }

    /// How a tool result came about.
    #[derive(Default)]
    pub struct ToolResultMeta {
        /// The call.
        id: ToolUseId,
        /// Who let it run or refused it.
        permission_decision: Opt<PermissionDecisionMeta>,
        /// Why it did not run.
        non_execution_kind: Opt<String>,
    }

    /// Who let a tool run or refused it.
    #[derive(Default)]
    pub struct PermissionDecisionMeta {
        /// Such as `accept` or `reject`.
        decision: String,
        /// Such as `config` or `user_temporary`.
        source: String,
        /// The kind of rule or mode behind it.
        reason_type: Opt<String>,
    }
}

open_enum! {
    /// Where a message goes in the queue.
    pub enum Priority {
        /// Before everything, also into the running turn.
        Now = "now",
        /// At the next step of the running turn.
        Next = "next",
        /// After what is queued.
        Later = "later",
    }
}

impl User {
    /// A plain prompt, as a host sends it.
    ///
    /// ```
    /// let prompt = pilothouse_proto::User::prompt("hello");
    /// assert_eq!(
    ///     serde_json::to_string(&pilothouse_proto::HostFrame::User(prompt.into()))?,
    ///     r#"{"type":"user","message":{"role":"user","content":"hello"},"parent_tool_use_id":null}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn prompt(content: impl Into<Content>) -> Self {
        Self {
            message: MessageParam { role: Role::User, content: content.into(), ..MessageParam::default() },
            parent_tool_use_id: Opt::Null,
            ..Self::default()
        }
    }

    /// All text of the message, joined.
    pub fn text(&self) -> Cow<'_, str> {
        self.message.content.text()
    }
}

impl Default for MessageParam {
    fn default() -> Self {
        Self { role: Role::User, content: Content::default(), extra: crate::wire::Extra::new() }
    }
}
