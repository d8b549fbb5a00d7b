//! Prompts of servers, which are slash commands here.

use std::sync::Arc;

use pilothouse_mcp::rmcp::model::{GetPromptRequestParams, Prompt};
use pilothouse_proto::SlashCommand;
use serde_json::{Map, Value};

use crate::mcp::connect::Connection;
use crate::mcp::names::full_name;
use crate::mcp::servers::Servers;

/// A prompt that a connected server offers.
#[derive(Debug)]
pub(crate) struct McpPrompt {
    /// The command that calls it.
    pub(crate) command: String,
    prompt: Prompt,
    connection: Arc<Connection>,
}

impl Servers {
    /// The prompts of all connected servers.
    pub(crate) fn prompts(&self) -> Vec<McpPrompt> {
        let table = self.table();
        let connected = table.iter().filter_map(|server| Some((server, server.connection()?)));
        connected
            .flat_map(|(server, connection)| {
                connection.offer.prompts.iter().map(|prompt| McpPrompt {
                    command: full_name(&server.configured.name, &prompt.name),
                    prompt: prompt.clone(),
                    connection: connection.clone(),
                })
            })
            .collect()
    }
}

impl McpPrompt {
    /// As hosts list it.
    pub(crate) fn offered(&self) -> SlashCommand {
        let hint =
            |(name, required): (&str, bool)| if required { format!("<{name}>") } else { format!("[{name}]") };
        SlashCommand {
            name: self.command.clone(),
            description: self.prompt.description.clone().unwrap_or_default(),
            argument_hint: self.arguments().map(hint).collect::<Vec<_>>().join(" "),
            ..SlashCommand::default()
        }
    }

    /// Has the server write the prompt. Words fill its arguments in their order, and the last one takes what is left.
    ///
    /// # Errors
    /// What to tell the user.
    pub(crate) async fn text(&self, words: &str) -> Result<String, String> {
        let names: Vec<(&str, bool)> = self.arguments().collect();
        let mut arguments = Map::new();
        let mut rest = words.trim();
        for (at, (name, required)) in names.iter().enumerate() {
            let (word, left) = match rest.split_once(char::is_whitespace) {
                Some((word, left)) if at + 1 < names.len() => (word, left.trim_start()),
                _ => (rest, ""),
            };
            if word.is_empty() && *required {
                return Err(format!("/{} needs {name}", self.command));
            }
            if !word.is_empty() {
                arguments.insert((*name).to_owned(), word.into());
            }
            rest = left;
        }
        let asked = GetPromptRequestParams::new(self.prompt.name.clone()).with_arguments(arguments);
        let got = self.connection.peer.get_prompt(asked).await;
        let got = got.map_err(|error| format!("/{} was not run: {error}", self.command))?;
        let texts = got
            .messages
            .iter()
            .map(|message| words_of(&serde_json::to_value(&message.content).unwrap_or_default()));
        Ok(texts.collect::<Vec<_>>().join("\n\n"))
    }

    fn arguments(&self) -> impl Iterator<Item = (&str, bool)> {
        let arguments = self.prompt.arguments.iter().flatten();
        arguments.map(|argument| (argument.name.as_str(), argument.required == Some(true)))
    }
}

/// The words of a part of a prompt; what has none is named.
fn words_of(part: &Value) -> String {
    let text = part.get("text").or_else(|| part.pointer("/resource/text")).and_then(Value::as_str);
    match (text, part.get("type").and_then(Value::as_str)) {
        (Some(text), _) => text.to_owned(),
        (None, kind) => format!("({} that cannot be shown as text)", kind.unwrap_or("a part")),
    }
}
