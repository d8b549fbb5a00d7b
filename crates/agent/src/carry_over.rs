//! What a session has spent, from one process to the next: a line of the transcript says it.

use std::collections::HashMap;

use pilothouse_model::Ledger;
use pilothouse_proto::message::Usage;
use pilothouse_store::{ChainKind, Past};
use serde_json::{Map, Value, json};

use crate::session::Session;

/// The kind of line that says what was spent.
const LINE: &str = "cost-state";

/// What earlier processes of a session have spent.
pub(crate) fn spent_before(past: &Past) -> Ledger {
    let (written, counted) = (written(past), counted(past));
    // A process that was killed has written no line, and its answers are in the transcript all the same.
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

/// What the answers of the conversation cost at least: each has several lines, and the last one knows most.
fn counted(past: &Past) -> Ledger {
    let mut answers: Vec<(&str, &str, &Value)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for entry in past.entries.iter().filter(|entry| entry.kind == ChainKind::Assistant) {
        let Some(message) = &entry.message else { continue };
        let text = |name: &str| message.get(name).and_then(Value::as_str);
        let (Some(id), Some(model), Some(usage)) = (text("id"), text("model"), message.get("usage")) else {
            continue;
        };
        match places.get(id).and_then(|at| answers.get_mut(*at)) {
            Some(answer) => *answer = (id, model, usage),
            None => {
                places.insert(id, answers.len());
                answers.push((id, model, usage));
            }
        }
    }
    let mut ledger = Ledger::default();
    // Messages that stand for something else than an answer name no model.
    for (_, model, usage) in answers.into_iter().filter(|(_, model, _)| !model.starts_with('<')) {
        if let Ok(usage) = serde_json::from_value::<Usage>(usage.clone()) {
            ledger.add(model, &usage);
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
        });
        self.recorder().note(LINE, line.as_object().cloned().unwrap_or_default());
    }
}
