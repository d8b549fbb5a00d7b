//! The question: may this tool run with this input?

use pilothouse_proto::PermissionBehavior;
use serde_json::{Map, Value};

use crate::behavior::Behavior;

/// A tool call to be judged.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The tool's name.
    pub tool_name: String,
    /// Its input.
    pub input: Map<String, Value>,
}

impl ToolCall {
    /// A call of any tool.
    #[must_use]
    pub fn new(tool_name: impl Into<String>, input: Map<String, Value>) -> Self {
        Self { tool_name: tool_name.into(), input }
    }

    /// A call of `Bash`.
    #[must_use]
    pub fn bash(command: impl Into<String>) -> Self {
        let input = Map::from_iter([("command".to_owned(), Value::String(command.into()))]);
        Self::new("Bash", input)
    }

    /// A text field of the input.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&str> {
        self.input.get(field).and_then(Value::as_str)
    }
}

/// What a `PreToolUse` hook said about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookOpinion {
    /// Allow, ask or deny.
    pub behavior: Behavior,
    /// The hook's reason.
    pub reason: Option<String>,
}

impl HookOpinion {
    /// Reads a hook's `permissionDecision`; anything unknown is no opinion.
    #[must_use]
    pub fn new(decision: &PermissionBehavior, reason: Option<String>) -> Option<Self> {
        Behavior::try_from(decision).ok().map(|behavior| Self { behavior, reason })
    }
}
