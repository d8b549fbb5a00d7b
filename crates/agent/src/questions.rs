//! The tool by which a model asks the user; the answers come with the host's approval.

use std::sync::Arc;

use pilothouse_tools::{Done, Input, Outcome};
use serde_json::{Map, Value, json};

use crate::session::Session;
use crate::tool::{AgentTool, ToolCall, Working};

/// `AskUserQuestion`.
#[derive(Clone, Copy, Debug)]
pub struct AskUserQuestion;

const QUESTIONS: std::ops::RangeInclusive<usize> = 1..=4;
const OPTIONS: std::ops::RangeInclusive<usize> = 2..=4;

impl AgentTool for AskUserQuestion {
    fn name(&self) -> &str {
        "AskUserQuestion"
    }

    fn description(&self) -> String {
        "Asks the user to choose: one to four questions, each with two to four options. The user can always answer in \
         words of their own. Use it for decisions that are theirs, not for what you can find out."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        let option = json!({
            "type": "object",
            "properties": {
                "label": {"type": "string", "description": "What the user chooses, in a few words"},
                "description": {"type": "string", "description": "What choosing it means"},
                "preview": {"type": "string", "description": "Something to look at before choosing"},
            },
            "required": ["label", "description"],
        });
        let question = json!({
            "type": "object",
            "properties": {
                "question": {"type": "string", "description": "The whole question"},
                "header": {"type": "string", "description": "A word or two to show above it"},
                "options": {"type": "array", "items": option, "minItems": 2, "maxItems": 4},
                "multiSelect": {"type": "boolean", "description": "Whether several may be chosen"},
            },
            "required": ["question", "header", "options"],
        });
        json!({
            "type": "object",
            "properties": {
                "questions": {"type": "array", "items": question, "minItems": 1, "maxItems": 4},
                "answers": {"type": "object", "description": "Filled in by the user"},
            },
            "required": ["questions"],
        })
    }

    fn runs_in_parallel(&self, _: &Input) -> bool {
        false
    }

    fn refuses(&self, input: &Input, _: &Session) -> Option<String> {
        problem(input).map(|problem| format!("InputValidationError: {problem}"))
    }

    fn run<'a>(&'a self, call: &'a ToolCall, _: &'a Arc<Session>) -> Working<'a> {
        // The host may have sent other questions back than it was asked.
        let outcome = match problem(&call.input) {
            Some(problem) => {
                Outcome::Failed { message: format!("InputValidationError: {problem}"), misuse: true }
            }
            None => answered(&call.input),
        };
        Box::pin(std::future::ready(outcome.into()))
    }
}

/// What is wrong with the questions, if anything is.
fn problem(input: &Input) -> Option<String> {
    let Some(questions) = input.get("questions").and_then(Value::as_array) else {
        return Some("`questions` must be an array of questions".to_owned());
    };
    if !QUESTIONS.contains(&questions.len()) {
        return Some(format!("ask one to four questions, not {}", questions.len()));
    }
    if !are_unique(questions, "question") {
        return Some("no question may be asked twice".to_owned());
    }
    questions.iter().enumerate().find_map(|(index, question)| {
        let at = |what: &str| Some(format!("question {}: {what}", index + 1));
        let text = |value: &Value, field: &str| value.get(field).is_some_and(Value::is_string);
        for field in ["question", "header"] {
            if !text(question, field) {
                return at(&format!("`{field}` must be a text"));
            }
        }
        if question.get("multiSelect").is_some_and(|several| !several.is_boolean()) {
            return at("`multiSelect` must be true or false");
        }
        let Some(options) = question.get("options").and_then(Value::as_array) else {
            return at("`options` must be an array");
        };
        if !OPTIONS.contains(&options.len()) {
            return at(&format!("offer two to four options, not {}", options.len()));
        }
        for field in ["label", "description"] {
            if !options.iter().all(|option| text(option, field)) {
                return at(&format!("every option needs a `{field}`"));
            }
        }
        if !are_unique(options, "label") {
            return at("every option needs a `label` of its own");
        }
        None
    })
}

fn are_unique(all: &[Value], field: &str) -> bool {
    let mut seen = std::collections::HashSet::new();
    all.iter().filter_map(|one| one.get(field)?.as_str()).all(|text| seen.insert(text))
}

fn answered(input: &Input) -> Outcome {
    let questions = input.get("questions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let answers = input.get("answers").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut given = Vec::new();
    let mut all_offered = true;
    for (question, answer) in &answers {
        let (text, offered) = said(questions, question, answer);
        all_offered &= offered;
        given.push(format!("\"{question}\"=\"{text}\""));
    }
    let given = given.join(", ");
    let content = if answers.is_empty() {
        "The user did not answer the questions.".to_owned()
    } else if all_offered {
        format!(
            "Your questions have been answered: {given}. You can now continue with these answers in mind."
        )
    } else {
        format!(
            "The user answered: {given}. Not all of this was among the options, so read it with care: it may ask for \
             something else, or ask back, or say no."
        )
    };
    let mut structured = Map::new();
    structured.insert("questions".to_owned(), questions.into());
    structured.insert("answers".to_owned(), answers.into());
    Outcome::Done(Box::new(Done { content: Value::String(content), structured: structured.into() }))
}

/// An answer as text, and whether it was among the options. Several are joined by commas, or come so.
fn said(questions: &[Value], question: &str, answer: &Value) -> (String, bool) {
    let text = match answer {
        Value::String(text) => text.clone(),
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    };
    let asked =
        questions.iter().find(|asked| asked.get("question").and_then(Value::as_str) == Some(question));
    let Some(asked) = asked else { return (text, false) };
    let options = asked.get("options").and_then(Value::as_array).into_iter().flatten();
    let labels: Vec<&str> = options.filter_map(|option| option.get("label")?.as_str()).collect();
    let several = asked.get("multiSelect").and_then(Value::as_bool) == Some(true);
    let offered = labels.contains(&text.as_str())
        || (several && text.split(',').all(|part| labels.contains(&part.trim())));
    (text, offered)
}

#[cfg(test)]
#[path = "questions_tests.rs"]
mod tests;
