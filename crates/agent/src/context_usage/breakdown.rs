//! What the messages of a conversation consist of.

use std::collections::{BTreeMap, HashMap};

use pilothouse_proto::{Content, ContentBlock, MessageParam, Role};
use serde_json::{Value, json};

use super::tokens;
use crate::compact::letters;

/// How a text begins that the agent has put beside the user's words.
const REMINDER: &str = "<system-reminder>";

#[derive(Default)]
struct Breakdown {
    calls: u64,
    results: u64,
    attachments: u64,
    assistant: u64,
    user: u64,
    other: u64,
    /// Tokens of calls and of results, by tool.
    tools: BTreeMap<String, (u64, u64)>,
}

/// About how many tokens are of which kind.
pub(super) fn of(messages: &[MessageParam]) -> Value {
    let mut breakdown = Breakdown::default();
    let mut names: HashMap<String, String> = HashMap::new();
    for message in messages {
        match &message.content {
            Content::Text(text) => breakdown.text(&message.role, text),
            Content::Blocks(blocks) => {
                for block in blocks {
                    breakdown.block(&message.role, block, &mut names);
                }
            }
        }
    }
    breakdown.to_json()
}

impl Breakdown {
    fn block(&mut self, role: &Role, block: &ContentBlock, names: &mut HashMap<String, String>) {
        match block {
            ContentBlock::Text(text) => self.text(role, &text.text),
            ContentBlock::ToolUse(call) => {
                let size = tokens(&call.name) + tokens(&call.input.to_string());
                self.calls += size;
                self.tools.entry(call.name.clone()).or_default().0 += size;
                names.insert(call.id.to_string(), call.name.clone());
            }
            ContentBlock::ToolResult(result) => {
                let size = result.content.as_ref().map_or(0, |content| tokens(&content.text()));
                self.results += size;
                if let Some(name) = names.get(result.tool_use_id.as_str()) {
                    self.tools.entry(name.clone()).or_default().1 += size;
                }
            }
            ContentBlock::Thinking(thinking) => self.assistant += tokens(&thinking.thinking),
            other => self.other += serde_json::to_value(other).map_or(0, |json| letters(&json) / 4),
        }
    }

    fn text(&mut self, role: &Role, text: &str) {
        let size = tokens(text);
        match role {
            Role::Assistant => self.assistant += size,
            _ if text.starts_with(REMINDER) => self.attachments += size,
            _ => self.user += size,
        }
    }

    fn to_json(&self) -> Value {
        let tool = |(name, (call, result)): (&String, &(u64, u64))| json!({"name": name, "callTokens": call, "resultTokens": result});
        let reminders =
            (self.attachments > 0).then(|| json!({"name": "reminder", "tokens": self.attachments}));
        json!({
            "toolCallTokens": self.calls,
            "toolResultTokens": self.results,
            "attachmentTokens": self.attachments,
            "assistantMessageTokens": self.assistant,
            "userMessageTokens": self.user,
            "redirectedContextTokens": 0,
            "unattributedTokens": self.other,
            "toolCallsByType": self.tools.iter().map(tool).collect::<Vec<_>>(),
            "attachmentsByType": Vec::from_iter(reminders),
        })
    }
}
