use pilothouse_proto::{Content, ContentBlock, MessageParam, Role};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::known::ModelInfo;
use crate::request::{Request, Thinking, ToolOffer};

/// How many of the last user messages end a cacheable prefix: the newest for the next request, the one before for this.
const MARKED_MESSAGES: usize = 2;

/// A request as the API wants it.
#[derive(Debug, Serialize)]
pub(super) struct Body<'a> {
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<ContentBlock>,
    messages: Vec<MessageParam>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Tool<'a> {
    Client { name: &'a str, description: &'a str, input_schema: &'a Value },
    Server(&'a Map<String, Value>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum ThinkingBody<'a> {
    Disabled,
    Adaptive {
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<&'a str>,
    },
    Enabled {
        budget_tokens: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<&'a str>,
    },
}

fn output_config(request: &Request) -> Option<Value> {
    let mut config = Map::new();
    if let Some(effort) = &request.effort {
        config.insert("effort".to_owned(), effort.as_str().into());
    }
    if let Some(total) = request.task_budget {
        config.insert("task_budget".to_owned(), json!({ "type": "tokens", "total": total }));
    }
    (!config.is_empty()).then_some(Value::Object(config))
}

impl<'a> Body<'a> {
    pub(super) fn question(request: &'a Request, streaming: bool, caching: bool) -> Self {
        let model = ModelInfo::of(&request.model);
        Self {
            max_tokens: Some(request.max_tokens.unwrap_or(model.max_output)),
            output_config: output_config(request),
            metadata: request.metadata.as_ref(),
            stream: Some(streaming),
            ..Self::read(request, model.canonical, caching)
        }
    }

    /// What the API counts tokens of: the parts that are read.
    pub(super) fn count(request: &'a Request) -> Self {
        Self::read(request, ModelInfo::of(&request.model).canonical, false)
    }

    fn read(request: &'a Request, model: String, caching: bool) -> Self {
        let mut system: Vec<ContentBlock> = request.system.iter().cloned().map(ContentBlock::Text).collect();
        let mut messages = request.messages.clone();
        if caching {
            if let Some(last) = system.last_mut() {
                mark(last);
            }
            mark_last_messages(&mut messages);
        }
        Self {
            model,
            max_tokens: None,
            system,
            messages,
            tools: request.tools.iter().map(Tool::from).collect(),
            tool_choice: request.tool_choice.as_ref(),
            thinking: thinking(&request.thinking),
            output_config: None,
            metadata: None,
            stream: None,
        }
    }
}

impl<'a> From<&'a ToolOffer> for Tool<'a> {
    fn from(offer: &'a ToolOffer) -> Self {
        match offer {
            ToolOffer::Client { name, description, input_schema } => {
                Self::Client { name, description, input_schema }
            }
            ToolOffer::Server(tool) => Self::Server(tool),
        }
    }
}

fn thinking(thinking: &Thinking) -> Option<ThinkingBody<'_>> {
    Some(match thinking {
        Thinking::Unset => return None,
        Thinking::Off => ThinkingBody::Disabled,
        Thinking::Adaptive { display } => ThinkingBody::Adaptive { display: display.as_deref() },
        Thinking::Budget { tokens, display } => {
            ThinkingBody::Enabled { budget_tokens: *tokens, display: display.as_deref() }
        }
    })
}

fn mark_last_messages(messages: &mut [MessageParam]) {
    let from_user = messages.iter_mut().rev().filter(|message| message.role == Role::User);
    for message in from_user.take(MARKED_MESSAGES) {
        if let Content::Text(text) = &mut message.content {
            message.content = Content::Blocks(vec![ContentBlock::text(std::mem::take(text))]);
        }
        if let Content::Blocks(blocks) = &mut message.content
            && let Some(last) = blocks.last_mut()
        {
            mark(last);
        }
    }
}

/// Says that everything up to this block can be cached. The API refuses the mark on empty text.
fn mark(block: &mut ContentBlock) {
    let place = match block {
        ContentBlock::Text(block) if block.text.is_empty() => return,
        ContentBlock::Text(block) => &mut block.cache_control,
        ContentBlock::ToolResult(block) => &mut block.cache_control,
        ContentBlock::Image(block) => &mut block.cache_control,
        ContentBlock::Document(block) => &mut block.cache_control,
        _ => return,
    };
    if place.is_none() {
        let mut kind = Map::new();
        kind.insert("type".to_owned(), "ephemeral".into());
        *place = kind.into();
    }
}
