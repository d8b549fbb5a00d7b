//! What the events of a session add up to: where it runs, what it cost.

use std::collections::BTreeMap;

use bytes::Bytes;
use pilothouse_proto::system::Init;
use pilothouse_proto::{AgentFrame, ModelUsage, System, TurnResult};

use crate::error::Error;
use crate::version;

/// Kept as raw lines and decoded when somebody asks, so that folding costs a copy per turn and nothing per event.
#[derive(Debug, Default)]
pub(crate) struct Fold {
    init: Vec<u8>,
    result: Vec<u8>,
    /// What was spent before the conversation was cleared, which makes the CLI count from zero again.
    before_reset: Usage,
    results: u64,
    too_old: Option<Error>,
}

/// What a session has used up so far, subagents included.
#[derive(Debug, Default, Clone, PartialEq)]
#[non_exhaustive]
pub struct Usage {
    /// Estimated cost in US dollars.
    pub cost_usd: f64,
    /// The turns that have ended.
    pub turns: u64,
    /// The same per model.
    pub models: BTreeMap<String, ModelTotal>,
}

/// What one model was used for.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ModelTotal {
    /// Tokens read that no cache held.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens read from the cache.
    pub cache_read_input_tokens: u64,
    /// Tokens put into the cache.
    pub cache_creation_input_tokens: u64,
    /// Web searches.
    pub web_search_requests: u64,
    /// Estimated cost in US dollars.
    pub cost_usd: f64,
}

impl Fold {
    pub(crate) fn observe(&mut self, frame: &AgentFrame, raw: &[u8]) {
        match frame {
            AgentFrame::Result(_) => {
                self.results += 1;
                keep(&mut self.result, raw);
            }
            AgentFrame::System(System::Init(init)) => {
                if self.too_old.is_none() {
                    let version = init.claude_code_version.as_deref().unwrap_or_default();
                    self.too_old = version::refused(version);
                }
                keep(&mut self.init, raw);
            }
            AgentFrame::ConversationReset(_) => {
                self.before_reset = self.usage();
                self.result.clear();
            }
            _ => {}
        }
    }

    /// Why the CLI is not worked with: its version, which those that are too old say only now.
    pub(crate) fn too_old(&self) -> Option<&Error> {
        self.too_old.as_ref()
    }

    /// The raw line of the last result.
    pub(crate) fn last_result(&self) -> Option<Bytes> {
        (!self.result.is_empty()).then(|| Bytes::copy_from_slice(&self.result))
    }

    pub(crate) fn init(&self) -> Option<Init> {
        match pilothouse_proto::decode(&self.init) {
            Ok(AgentFrame::System(System::Init(init))) => Some(*init),
            _ => None,
        }
    }

    pub(crate) fn usage(&self) -> Usage {
        let mut usage = Usage { turns: self.results, ..self.before_reset.clone() };
        if let Ok(AgentFrame::Result(result)) = pilothouse_proto::decode(&self.result) {
            usage.add(&result);
        }
        usage
    }
}

/// Copies a line over the last of its kind: the original shares the memory of everything that was read with it.
fn keep(line: &mut Vec<u8>, raw: &[u8]) {
    if line.capacity() > LARGE {
        *line = Vec::new();
    }
    line.clear();
    line.extend_from_slice(raw);
}

/// Memory for a line beyond this is not kept for the next one.
const LARGE: usize = 64 << 10;

impl Usage {
    /// A result counts everything since the conversation began, so only the last one of each is added.
    fn add(&mut self, result: &TurnResult) {
        self.cost_usd +=
            result.total_cost_usd.as_ref().and_then(serde_json::Number::as_f64).unwrap_or_default();
        for (model, usage) in result.model_usage.as_deref().into_iter().flatten() {
            self.models.entry(model.clone()).or_default().add(usage);
        }
    }
}

impl ModelTotal {
    fn add(&mut self, usage: &ModelUsage) {
        self.input_tokens += usage.input_tokens;
        self.output_tokens += usage.output_tokens;
        self.cache_read_input_tokens += usage.cache_read_input_tokens;
        self.cache_creation_input_tokens += usage.cache_creation_input_tokens;
        self.web_search_requests += usage.web_search_requests;
        self.cost_usd += usage.cost_usd.as_f64().unwrap_or_default();
    }
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
