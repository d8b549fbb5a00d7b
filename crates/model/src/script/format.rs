use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::fault::Fault;

/// A script: what the model says, and what the agent does wrong on purpose.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Pins ids, times and chance: the same script with the same seed gives the same bytes.
    pub seed: Option<u64>,
    /// How fast answers come, unless a turn says otherwise.
    #[serde(default)]
    pub pace: Pace,
    /// The answers, tried from the top.
    #[serde(default, rename = "turn")]
    pub turns: Vec<Turn>,
    /// What goes wrong between the agent and its host.
    #[serde(default, rename = "fault")]
    pub faults: Vec<Fault>,
}

/// How fast answers come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// Milliseconds before the first byte.
    pub delay_ms: Option<u64>,
    /// Into how many pieces a block is cut; 2 if not given.
    pub chunks: Option<u32>,
    /// Milliseconds before each piece.
    pub chunk_delay_ms: Option<u64>,
    /// Milliseconds to wait between retries, instead of the time that hosts are told.
    pub retry_delay_ms: Option<u64>,
}

/// One answer, and when to give it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// A name, for messages about the script.
    pub name: Option<String>,
    /// When this turn is taken; without it, always.
    #[serde(default)]
    pub when: When,
    /// How often it can be taken: a number, or `"always"`. Once if not given.
    #[serde(default)]
    pub times: Times,
    /// Taken only when no other turn fits; then as often as needed, unless `times` says otherwise.
    #[serde(default, rename = "else")]
    pub otherwise: bool,
    /// The model thinks this first.
    pub think: Option<String>,
    /// The model says this.
    pub say: Option<String>,
    /// The model then calls these tools, side by side.
    #[serde(default)]
    pub calls: Vec<Call>,
    /// The blocks of the answer in any order, instead of `think`, `say` and `calls`.
    #[serde(default)]
    pub blocks: Vec<Block>,
    /// Why the model stops; `tool_use` after a call and `end_turn` otherwise.
    pub stop_reason: Option<String>,
    /// What the answer cost; estimated if not given.
    #[serde(default)]
    pub usage: TurnUsage,
    /// The model that claims to have answered.
    pub model: Option<String>,
    /// Milliseconds before the first byte.
    pub delay_ms: Option<u64>,
    /// Into how many pieces a block is cut.
    pub chunks: Option<u32>,
    /// Milliseconds before each piece.
    pub chunk_delay_ms: Option<u64>,
    /// The API answers with an error instead.
    pub error: Option<ApiError>,
    /// The API closes the connection without an answer.
    #[serde(default)]
    pub drop: bool,
    /// The API breaks off inside the first block with this error, such as `overloaded_error`.
    pub break_off: Option<String>,
    /// The answer never ends after its first block.
    #[serde(default)]
    pub hang: bool,
}

/// When a turn is taken: all conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The user's message contains this text.
    pub user: Option<String>,
    /// The user's message is exactly this text.
    pub user_is: Option<String>,
    /// The user's message matches this regular expression; its groups can be used in templates.
    pub user_matches: Option<String>,
    /// A result of this tool has just come.
    pub tool: Option<String>,
    /// A tool result that has just come contains this text.
    pub result: Option<String>,
    /// A tool result that has just come matches this regular expression; its groups can be used in templates.
    pub result_matches: Option<String>,
    /// Whether a tool has just failed.
    pub failed: Option<bool>,
    /// The system prompt contains this text; tells subagents from the main conversation.
    pub system: Option<String>,
    /// A call beside the conversation: `web_search`, `web_fetch`, `compaction`, `title`, `question`, `suggestion`, `recap`.
    pub side: Option<String>,
}

/// How often a turn can be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Times {
    /// As often as is usual: once, or always for an `else` turn.
    #[default]
    Usual,
    /// This often.
    Count(u32),
    /// Without end.
    Always(Always),
}

/// The word for "without end".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Always {
    /// Without end.
    Always,
}

/// A tool call.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// Its arguments; strings in them are templates.
    #[serde(default)]
    pub input: Map<String, Value>,
    /// The id of the call, if it matters.
    pub id: Option<String>,
}

/// One block of an answer: exactly one of `say`, `think`, `tool` and `raw`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Text.
    pub say: Option<String>,
    /// Thinking.
    pub think: Option<String>,
    /// A call of this tool.
    pub tool: Option<String>,
    /// The arguments of that call.
    #[serde(default)]
    pub input: Map<String, Value>,
    /// The id of that call, if it matters.
    pub id: Option<String>,
    /// Any block as the API would send it, known or not.
    pub raw: Option<Map<String, Value>>,
}

/// What an answer cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnUsage {
    /// Tokens read.
    pub input_tokens: Option<u64>,
    /// Tokens written.
    pub output_tokens: Option<u64>,
    /// Tokens read from the cache.
    pub cache_read_input_tokens: Option<u64>,
    /// Tokens put into the cache.
    pub cache_creation_input_tokens: Option<u64>,
}

/// An error of the API.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApiError {
    /// The HTTP status.
    pub status: u16,
    /// The API's name for it; chosen by the status if not given.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The API's words.
    pub message: Option<String>,
    /// Seconds the API asks to wait.
    pub retry_after: Option<u64>,
}

impl Script {
    /// The JSON Schema of the format.
    pub fn schema() -> Value {
        schemars::schema_for!(Script).to_value()
    }

    /// The tools that the script calls, each once; an agent that lacks one can say so before it starts.
    pub fn tools(&self) -> Vec<&str> {
        let called = self.turns.iter().flat_map(|turn| {
            let calls = turn.calls.iter().map(|call| call.tool.as_str());
            calls.chain(turn.blocks.iter().filter_map(|block| block.tool.as_deref()))
        });
        let unique: BTreeSet<&str> = called.collect();
        unique.into_iter().collect()
    }
}

impl Turn {
    /// The blocks in order, however they were written.
    pub(crate) fn all_blocks(&self) -> Vec<Block> {
        if !self.blocks.is_empty() {
            return self.blocks.clone();
        }
        let think = self.think.clone().map(|text| Block { think: Some(text), ..Block::default() });
        let say = self.say.clone().map(|text| Block { say: Some(text), ..Block::default() });
        let calls = self.calls.iter().cloned().map(|Call { tool, input, id }| Block {
            tool: Some(tool),
            input,
            id,
            ..Block::default()
        });
        think.into_iter().chain(say).chain(calls).collect()
    }

    /// How often it can be taken; none means without end.
    pub(crate) fn most_times(&self) -> Option<u32> {
        match self.times {
            Times::Usual if self.otherwise => None,
            Times::Usual => Some(1),
            Times::Count(count) => Some(count),
            Times::Always(_) => None,
        }
    }
}
