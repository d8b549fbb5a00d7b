//! Which turn fits a request.

use std::sync::OnceLock;

use pilothouse_proto::{Content, ContentBlock, MessageParam, Role, ToolResultBlock};
use regex::{Captures, Regex};

use super::format::{Turn, When};
use crate::request::{Purpose, Request};

/// What agents put around the words of a user, and no user says.
const REMINDER: &str = "<system-reminder>";

/// What a script can see of a request.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    /// The words of the newest message, if it is the user's.
    new_words: Option<String>,
    /// The words that began the work.
    pub(super) prompt: String,
    /// The tool results of the newest message, with their tools.
    results: Vec<ToolOutcome<'a>>,
    system: String,
    side: Option<&'a str>,
}

#[derive(Debug)]
struct ToolOutcome<'a> {
    name: &'a str,
    id: &'a str,
    text: String,
    failed: bool,
}

/// What a template can ask for once a turn was chosen.
#[derive(Debug, Default)]
pub(super) struct Found {
    groups: Vec<(String, String)>,
    tool: Option<(String, String, String)>,
    prompt: String,
}

/// The conditions of a turn, ready to use.
#[derive(Debug)]
pub(super) struct Conditions {
    when: When,
    user: OnceLock<Option<Regex>>,
    result: OnceLock<Option<Regex>>,
}

impl Conditions {
    pub(super) fn of(turn: &Turn) -> Self {
        Self { when: turn.when.clone(), user: OnceLock::new(), result: OnceLock::new() }
    }

    /// What the turn's templates can use, if the turn fits.
    pub(super) fn fit(&self, seen: &Seen<'_>) -> Option<Found> {
        if seen.side != self.when.side.as_deref() {
            return None;
        }
        if let Some(part) = &self.when.system
            && !seen.system.contains(part.as_str())
        {
            return None;
        }
        let mut found = Found { prompt: seen.prompt.clone(), ..Found::default() };
        let about_result = self.about_result();
        if about_result {
            let outcome = seen.results.iter().find(|outcome| self.fits_result(outcome))?;
            if let Some(regex) = self.result() {
                found.take_groups(regex, &regex.captures(&outcome.text)?);
            }
            found.tool = Some((outcome.name.to_owned(), outcome.id.to_owned(), outcome.text.clone()));
        } else if let Some(outcome) = seen.results.last() {
            found.tool = Some((outcome.name.to_owned(), outcome.id.to_owned(), outcome.text.clone()));
        }
        if self.about_user() {
            // Beside a condition on a result, the user's words are those that began the work.
            let words = if about_result { &seen.prompt } else { seen.new_words.as_ref()? };
            self.fits_user(words, &mut found)?;
        }
        Some(found)
    }

    fn user(&self) -> Option<&Regex> {
        self.user.get_or_init(|| expression(&self.when.user_matches)).as_ref()
    }

    fn result(&self) -> Option<&Regex> {
        self.result.get_or_init(|| expression(&self.when.result_matches)).as_ref()
    }

    fn about_user(&self) -> bool {
        self.when.user.is_some() || self.when.user_is.is_some() || self.when.user_matches.is_some()
    }

    fn about_result(&self) -> bool {
        let when = &self.when;
        when.tool.is_some() || when.result.is_some() || when.result_matches.is_some() || when.failed.is_some()
    }

    fn fits_user(&self, words: &str, found: &mut Found) -> Option<()> {
        let contains = self.when.user.as_ref().is_none_or(|part| words.contains(part.as_str()));
        let is = self.when.user_is.as_ref().is_none_or(|whole| words.trim() == whole.trim());
        if let Some(regex) = self.user() {
            found.take_groups(regex, &regex.captures(words)?);
        } else if self.when.user_matches.is_some() {
            return None;
        }
        (contains && is).then_some(())
    }

    fn fits_result(&self, outcome: &ToolOutcome<'_>) -> bool {
        let when = &self.when;
        when.tool.as_ref().is_none_or(|name| name == outcome.name)
            && when.result.as_ref().is_none_or(|part| outcome.text.contains(part.as_str()))
            && when.failed.is_none_or(|failed| failed == outcome.failed)
            && (when.result_matches.is_none()
                || self.result().is_some_and(|regex| regex.is_match(&outcome.text)))
    }
}

impl Found {
    /// The meaning of a name in a template.
    pub(super) fn lookup(&self, name: &str) -> Option<String> {
        let tool = self.tool.as_ref();
        match name {
            "user" => Some(self.prompt.clone()),
            "tool.name" => Some(tool.map_or(String::new(), |(name, _, _)| name.clone())),
            "tool.id" => Some(tool.map_or(String::new(), |(_, id, _)| id.clone())),
            "tool.result" => Some(tool.map_or(String::new(), |(_, _, result)| result.clone())),
            _ => self.groups.iter().find(|(group, _)| group == name).map(|(_, text)| text.clone()),
        }
    }

    fn take_groups(&mut self, regex: &Regex, captures: &Captures<'_>) {
        for (index, name) in regex.capture_names().enumerate() {
            let text = captures.get(index).map_or("", |group| group.as_str()).to_owned();
            self.groups.extend(name.map(|name| (name.to_owned(), text.clone())));
            self.groups.push((index.to_string(), text));
        }
    }
}

impl<'a> Seen<'a> {
    pub(super) fn of(request: &'a Request) -> Self {
        let newest = request.messages.iter().rev().find(|message| message.role == Role::User);
        let results = newest.map(|message| outcomes(message, &request.messages)).unwrap_or_default();
        let prompt = request.messages.iter().rev().find_map(words).unwrap_or_default();
        Self {
            new_words: newest.and_then(words),
            prompt,
            results,
            system: request.system.iter().map(|block| block.text.as_str()).collect(),
            side: match &request.purpose {
                Purpose::Conversation => None,
                Purpose::Compaction => Some("compaction"),
                Purpose::Side(name) => Some(name),
            },
        }
    }
}

/// Made when it is first needed, because that takes longer than all the rest of a script. It was checked when the script
/// was read; one that fails now fits nothing.
fn expression(pattern: &Option<String>) -> Option<Regex> {
    pattern.as_ref().and_then(|pattern| Regex::new(pattern).ok())
}

/// What the user says in a message, without what the agent added.
fn words(message: &MessageParam) -> Option<String> {
    if message.role != Role::User {
        return None;
    }
    let text = match &message.content {
        Content::Text(text) => text.clone(),
        Content::Blocks(blocks) => {
            let said = blocks.iter().filter_map(ContentBlock::as_text);
            said.filter(|text| !text.trim_start().starts_with(REMINDER)).collect::<Vec<_>>().join("\n")
        }
    };
    (!text.is_empty()).then_some(text)
}

fn outcomes<'a>(message: &'a MessageParam, all: &'a [MessageParam]) -> Vec<ToolOutcome<'a>> {
    let results = message.content.blocks().iter().filter_map(|block| match block {
        ContentBlock::ToolResult(result) => Some(result),
        _ => None,
    });
    results
        .map(|result| ToolOutcome {
            name: tool_name(result, all),
            id: result.tool_use_id.as_str(),
            text: result.content.as_ref().map(|content| content.text().into_owned()).unwrap_or_default(),
            failed: result.is_error.as_ref().copied().unwrap_or(false),
        })
        .collect()
}

fn tool_name<'a>(result: &ToolResultBlock, all: &'a [MessageParam]) -> &'a str {
    let calls =
        all.iter().rev().flat_map(|message| message.content.blocks()).filter_map(ContentBlock::as_tool_use);
    calls.into_iter().find(|call| call.id == result.tool_use_id).map_or("", |call| call.name.as_str())
}
