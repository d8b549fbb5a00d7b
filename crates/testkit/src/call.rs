//! What reached the scripted API.

use std::collections::BTreeMap;

use serde_json::Value;

/// One request that the API received.
#[derive(Debug, Clone)]
pub struct Call {
    /// Path of the request, without its query.
    pub path: String,
    /// What the request was for.
    pub kind: CallKind,
    /// Its headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// Its JSON body; null when it was no JSON.
    pub body: Value,
}

/// What a request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// A step of the conversation: it offers tools, and takes the next turn of the script.
    Main,
    /// A call beside it, such as for a title: it gets a short text.
    Side,
    /// A count of tokens.
    Count,
    /// A path that the Messages API does not have; answered with 404.
    Unexpected,
}

impl Call {
    pub(crate) fn new(path: &str, headers: BTreeMap<String, String>, body: Value) -> Call {
        let offers_tools = body["tools"]
            .as_array()
            .is_some_and(|tools| tools.iter().any(|tool| tool.get("input_schema").is_some()));
        let kind = if path.ends_with("/count_tokens") {
            CallKind::Count
        } else if !path.ends_with("/v1/messages") {
            CallKind::Unexpected
        } else if offers_tools {
            CallKind::Main
        } else {
            CallKind::Side
        };
        Call { path: path.to_owned(), kind, headers, body }
    }

    /// The call as JSON, for tests in other languages.
    pub(crate) fn shown(&self) -> Value {
        let kind = match self.kind {
            CallKind::Main => "main",
            CallKind::Side => "side",
            CallKind::Count => "count",
            CallKind::Unexpected => "unexpected",
        };
        serde_json::json!({"path": self.path, "kind": kind, "body": self.body})
    }

    /// The model that was asked.
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    /// Names of the tools that were offered.
    pub fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
    }

    /// The content of the last user message, as JSON text.
    pub fn last_user(&self) -> String {
        let messages = self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let last = messages.iter().rev().find(|message| message["role"] == "user");
        last.map(|message| message["content"].to_string()).unwrap_or_default()
    }

    /// All messages of the conversation, as JSON text: for asking whether something was ever said.
    pub fn conversation(&self) -> String {
        self.body["messages"].to_string()
    }

    /// The `tool_result` blocks of the conversation, oldest first.
    pub fn tool_results(&self) -> Vec<&Value> {
        let messages = self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        messages
            .iter()
            .filter_map(|message| message["content"].as_array())
            .flatten()
            .filter(|block| block["type"] == "tool_result")
            .collect()
    }
}
