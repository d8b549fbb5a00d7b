use pilothouse_proto::{MessageParam, TextBlock};
use serde_json::{Map, Value};

/// One question to a model: everything that it may know, and what it may do.
///
/// ```
/// use pilothouse_model::Request;
/// use pilothouse_proto::User;
///
/// let mut request = Request::new("haiku");
/// request.messages.push(User::prompt("What is a tape?").message);
/// assert!(request.tools.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The model: an id or an alias such as `opus`.
    pub model: String,
    /// Asked instead when `model` is overloaded again and again.
    pub fallback_models: Vec<String>,
    /// The system prompt, in blocks.
    pub system: Vec<TextBlock>,
    /// The conversation, oldest first.
    pub messages: Vec<MessageParam>,
    /// What the model may call.
    pub tools: Vec<ToolOffer>,
    /// Which tool it must call, as the API spells it; none leaves the choice to the model.
    pub tool_choice: Option<Value>,
    /// The most it may write; none means as much as the model can.
    pub max_tokens: Option<u64>,
    /// Whether and how it thinks before it answers.
    pub thinking: Thinking,
    /// How hard it tries, such as `low` or `high`; none leaves it to the model.
    pub effort: Option<String>,
    /// How many tokens the whole task may take, which the model is told; none says nothing about it.
    pub task_budget: Option<u64>,
    /// Features of the API that are not on by default. On a refused request they are given up one by one.
    pub betas: Vec<String>,
    /// What the API is told about the caller.
    pub metadata: Option<Map<String, Value>>,
    /// What the question is for; scripts answer only [`Purpose::Conversation`] with their turns.
    pub purpose: Purpose,
}

/// A tool as it is offered to the model.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolOffer {
    /// The agent runs it.
    Client {
        /// The name that the model calls.
        name: String,
        /// What it does and when to use it.
        description: String,
        /// JSON Schema of its arguments.
        input_schema: Value,
    },
    /// The API runs it: sent as it is, such as `{"type": "web_search_20250305", "name": "web_search"}`.
    Server(Map<String, Value>),
}

/// Whether and how a model thinks before it answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Thinking {
    /// The request says nothing about it.
    #[default]
    Unset,
    /// It does not think.
    Off,
    /// It decides itself.
    Adaptive {
        /// How the API shows the thoughts, such as `summarized` or `omitted`.
        display: Option<String>,
    },
    /// It thinks, with at most so many tokens.
    Budget {
        /// Tokens to think with.
        tokens: u64,
        /// How the API shows the thoughts.
        display: Option<String>,
    },
}

/// What a question is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// A step of a conversation, be it the main one or a subagent's.
    #[default]
    Conversation,
    /// The summary that replaces a long conversation.
    Compaction,
    /// Something beside the conversation, by name: `web_search`, `title`.
    Side(String),
}

impl Request {
    /// A question without content yet.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            fallback_models: Vec::new(),
            system: Vec::new(),
            messages: Vec::new(),
            tools: Vec::new(),
            tool_choice: None,
            max_tokens: None,
            thinking: Thinking::default(),
            effort: None,
            task_budget: None,
            betas: Vec::new(),
            metadata: None,
            purpose: Purpose::default(),
        }
    }
}

impl ToolOffer {
    /// The name that the model calls.
    pub fn name(&self) -> &str {
        match self {
            Self::Client { name, .. } => name,
            Self::Server(tool) => tool.get("name").and_then(Value::as_str).unwrap_or_default(),
        }
    }
}
