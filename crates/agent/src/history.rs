use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pilothouse_proto::{Content, ContentBlock, MessageParam, Role, ToolResultBlock, ToolUseId};

/// A conversation as the model's API wants it. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct History {
    messages: Arc<Mutex<Vec<MessageParam>>>,
}

impl History {
    /// A conversation that goes on.
    pub fn of(messages: Vec<MessageParam>) -> Self {
        Self { messages: Arc::new(Mutex::new(messages)) }
    }

    /// All messages, oldest first.
    pub fn messages(&self) -> Vec<MessageParam> {
        self.lock().clone()
    }

    /// Whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Replaces the conversation: after a compaction, or to start over.
    pub fn replace(&self, messages: Vec<MessageParam>) {
        *self.lock() = messages;
    }

    /// Adds what the user's side says. The API wants the roles to take turns, so it joins what the user said last.
    pub fn add_user(&self, blocks: Vec<ContentBlock>) {
        self.add(Role::User, blocks);
    }

    /// Adds what the model said.
    pub fn add_assistant(&self, blocks: Vec<ContentBlock>) {
        self.add(Role::Assistant, blocks);
    }

    /// Puts a result in the place of what stood for it.
    pub fn replace_result(&self, result: ToolResultBlock) {
        let mut messages = self.lock();
        let Some(Content::Blocks(blocks)) = messages.last_mut().map(|last| &mut last.content) else { return };
        let stand_in = blocks.iter_mut().find_map(|block| match block {
            ContentBlock::ToolResult(other) if other.tool_use_id == result.tool_use_id => Some(other),
            _ => None,
        });
        if let Some(stand_in) = stand_in {
            *stand_in = result;
        }
    }

    /// Calls in the last answer that have no result.
    pub fn open_calls(&self) -> Vec<ToolUseId> {
        let messages = self.lock();
        match messages.last() {
            Some(last) if last.role == Role::Assistant => last
                .content
                .blocks()
                .iter()
                .filter_map(ContentBlock::as_tool_use)
                .map(|call| call.id.clone())
                .collect(),
            _ => Vec::new(),
        }
    }

    /// All messages but an answer whose calls still run: what can be sent to the model now.
    pub(crate) fn settled(&self) -> Vec<MessageParam> {
        let mut messages = self.messages();
        if !self.open_calls().is_empty() {
            messages.pop();
        }
        messages
    }

    fn add(&self, role: Role, blocks: Vec<ContentBlock>) {
        if blocks.is_empty() {
            return;
        }
        let mut messages = self.lock();
        if let Some(last) = messages.last_mut().filter(|last| last.role == role) {
            let before = match std::mem::take(&mut last.content) {
                Content::Text(text) => vec![ContentBlock::text(text)],
                Content::Blocks(blocks) => blocks,
            };
            last.content = Content::Blocks(before.into_iter().chain(blocks).collect());
            return;
        }
        messages.push(MessageParam { role, content: Content::Blocks(blocks), ..MessageParam::default() });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<MessageParam>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
