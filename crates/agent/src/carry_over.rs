//! What a session has spent, from one process to the next: a line of the transcript says it.

use std::collections::HashMap;

use pilothouse_model::Ledger;
use pilothouse_proto::message::Usage;
use pilothouse_store::{ChainKind, Past};
use serde_json::{Map, Value, json};

use crate::session::Session;

/// The kind of line that says what was spent.
const LINE: &str = "cost-state";
/// Its field for the last answer that it counts.
const LAST_ANSWER: &str = "lastAnswerId";

/// What earlier processes of a session have spent.
pub(crate) fn spent_before(past: &Past) -> Ledger {
    let answers = answers(past);
    let mut written = written(past);
    // A process that was killed has written no line, and its answers are in the transcript all the same: what they cost
    // comes on top of what was written down before them.
    let last = past.notes.get(LINE).and_then(|line| line.get(LAST_ANSWER)).and_then(Value::as_str);
    if let Some(at) = last.and_then(|last| answers.iter().position(|answer| answer.id == last)) {
        written.merge(&sum(answers.get(at + 1..).unwrap_or_default()));
        return written;
    }
    // Others do not say how far their line goes.
    let counted = sum(&answers);
    if counted.total_cost().to_f64() > written.total_cost().to_f64() { counted } else { written }
}

/// What the last process that ended in peace wrote down.
fn written(past: &Past) -> Ledger {
    let mut ledger = Ledger::default();
    let models = past.notes.get(LINE).and_then(|line| line.get("modelUsage")).and_then(Value::as_object);
    for (model, tokens) in models.into_iter().flatten() {
        let count = |name: &str| tokens.get(name).and_then(Value::as_u64);
        let usage = Usage {
            input_tokens: count("inputTokens").into(),
            output_tokens: count("outputTokens").into(),
            cache_read_input_tokens: count("cacheReadInputTokens").into(),
            cache_creation_input_tokens: count("cacheCreationInputTokens").into(),
            ..Usage::default()
        };
        ledger.add(model, &usage);
    }
    ledger
}

/// One answer of the conversation.
struct Answer<'a> {
    id: &'a str,
    model: &'a str,
    usage: &'a Value,
}

/// The answers of the conversation, in their order: each has several lines, and the last one knows most.
fn answers(past: &Past) -> Vec<Answer<'_>> {
    let mut answers: Vec<Answer<'_>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for entry in past.entries.iter().filter(|entry| entry.kind == ChainKind::Assistant) {
        let Some(message) = &entry.message else { continue };
        let text = |name: &str| message.get(name).and_then(Value::as_str);
        let (Some(id), Some(model), Some(usage)) = (text("id"), text("model"), message.get("usage")) else {
            continue;
        };
        match places.get(id).and_then(|at| answers.get_mut(*at)) {
            Some(answer) => *answer = Answer { id, model, usage },
            None => {
                places.insert(id, answers.len());
                answers.push(Answer { id, model, usage });
            }
        }
    }
    answers
}

/// What these answers cost at least.
fn sum(answers: &[Answer<'_>]) -> Ledger {
    let mut ledger = Ledger::default();
    // Messages that stand for something else than an answer name no model.
    for answer in answers.iter().filter(|answer| !answer.model.starts_with('<')) {
        if let Ok(usage) = serde_json::from_value::<Usage>(answer.usage.clone()) {
            ledger.add(answer.model, &usage);
        }
    }
    ledger
}

impl Session {
    /// Writes down what was spent, for whoever takes the session up again.
    pub(crate) fn write_down_cost(&self) {
        let ledger = self.ledger();
        if ledger.is_empty() || !self.has_answered() {
            return;
        }
        let (added, removed) = self.lines();
        let models: Map<String, Value> = ledger
            .by_model()
            .into_iter()
            .filter_map(|(model, usage)| Some((model, serde_json::to_value(usage).ok()?)))
            .collect();
        let line = json!({
            "totalCostUSD": ledger.total_cost().to_number(),
            "totalAPIDuration": self.api_time().as_millis() as u64,
            "totalLinesAdded": added,
            "totalLinesRemoved": removed,
            "totalDuration": self.age().as_millis() as u64,
            "modelUsage": models,
            LAST_ANSWER: self.last_answer(),
        });
        self.recorder().note(LINE, line.as_object().cloned().unwrap_or_default());
    }
}
