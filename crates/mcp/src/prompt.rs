//! Prompts made of closures.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;

use rmcp::model::{JsonObject, PromptArgument, PromptMessage, Role};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A value that a prompt may return: the text of one user message, or messages; or a `Result` of those.
pub trait IntoPromptMessages: Send {
    /// Makes the messages.
    fn into_messages(self) -> Result<Vec<PromptMessage>, String>;
}

impl IntoPromptMessages for String {
    fn into_messages(self) -> Result<Vec<PromptMessage>, String> {
        Ok(vec![PromptMessage::new_text(Role::User, self)])
    }
}

impl IntoPromptMessages for &'static str {
    fn into_messages(self) -> Result<Vec<PromptMessage>, String> {
        self.to_owned().into_messages()
    }
}

impl IntoPromptMessages for Vec<PromptMessage> {
    fn into_messages(self) -> Result<Vec<PromptMessage>, String> {
        Ok(self)
    }
}

impl<T: IntoPromptMessages, E: Display + Send> IntoPromptMessages for Result<T, E> {
    fn into_messages(self) -> Result<Vec<PromptMessage>, String> {
        self.map_err(|error| error.to_string())?.into_messages()
    }
}

/// A closure that writes a prompt, its types no longer known.
pub(crate) type Writer = Box<dyn Fn(Value) -> Result<Writing, serde_json::Error> + Send + Sync>;
pub(crate) type Writing = Pin<Box<dyn Future<Output = Result<Vec<PromptMessage>, String>> + Send>>;

pub(crate) fn writer<F, Input, Fut>(write: F) -> Writer
where
    F: Fn(Input) -> Fut + Send + Sync + 'static,
    Input: DeserializeOwned,
    Fut: Future<Output: IntoPromptMessages> + Send + 'static,
{
    Box::new(move |arguments| {
        let writing = write(serde_json::from_value(arguments)?);
        Ok(Box::pin(async move { writing.await.into_messages() }))
    })
}

/// The arguments of a prompt, as the properties of its input type: MCP has no schema here, only names and texts.
pub(crate) fn arguments<Input: JsonSchema>() -> Vec<PromptArgument> {
    let schema = schemars::schema_for!(Input);
    let required = |name: &str| {
        let list = schema.get("required").and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|entry| entry.as_str() == Some(name)))
    };
    let nothing = JsonObject::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    let argument = |(name, property): (&String, &Value)| {
        let argument = PromptArgument::new(name.as_str()).with_required(required(name));
        match property.get("description").and_then(Value::as_str) {
            Some(description) => argument.with_description(description),
            None => argument,
        }
    };
    properties.iter().map(argument).collect()
}
