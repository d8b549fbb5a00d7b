//! What a session has spent, and what that leaves.

use std::time::Duration;

use pilothouse_model::Ledger;
use pilothouse_proto::Opt;
use pilothouse_proto::message::{SubagentStats, Usage};

use serde_json::Value;

use super::{LastAnswer, Session};

impl Session {
    /// Books what an answer cost.
    pub fn book(&self, model: &str, usage: &Usage) {
        let mut state = self.state();
        state.ledger.add(model, usage);
        state.since_result.add(model, usage);
        let count = |tokens: &Opt<u64>| tokens.as_ref().copied().unwrap_or_default();
        let cached = count(&usage.cache_read_input_tokens);
        let input = count(&usage.input_tokens);
        state.first_request.get_or_insert((input, cached));
        state.context_tokens =
            input + cached + count(&usage.cache_creation_input_tokens) + count(&usage.output_tokens);
    }

    /// The last answer that was booked is this one.
    pub(crate) fn note_answer(&self, id: &str, usage: Option<&Usage>) {
        self.state().last_answer = Some(LastAnswer { id: id.to_owned(), usage: usage.cloned() });
    }

    pub(crate) fn last_answer(&self) -> Option<String> {
        self.state().last_answer.as_ref().map(|answer| answer.id.clone())
    }

    /// What the last answer used.
    pub(crate) fn last_usage(&self) -> Option<Usage> {
        self.state().last_answer.as_ref().and_then(|answer| answer.usage.clone())
    }

    /// Books what a question beside the conversation cost.
    pub(crate) fn book_aside(&self, model: &str, usage: &Usage) {
        let mut state = self.state();
        state.ledger.add(model, usage);
        state.since_result.add(model, usage);
    }

    /// Takes over what an earlier process of this session has spent.
    pub(crate) fn carry_over(&self, spent: &Ledger) {
        self.state().ledger.merge(spent);
    }

    /// Counts the time that the API took for an answer.
    pub(crate) fn count_api_time(&self, time: Duration) {
        self.state().api_time += time;
    }

    /// How long the API has worked since the process began.
    pub(crate) fn api_time(&self) -> Duration {
        self.state().api_time
    }

    /// Counts the lines that a tool has changed, from what it tells programs.
    pub(crate) fn count_lines(&self, structured: &Value) {
        let hunks =
            structured.get("structuredPatch").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let lines = hunks.iter().filter_map(|hunk| hunk.get("lines")?.as_array()).flatten();
        let (mut added, mut removed) = (0, 0);
        for line in lines.filter_map(Value::as_str) {
            added += u64::from(line.starts_with('+'));
            removed += u64::from(line.starts_with('-'));
        }
        if structured.get("type").and_then(Value::as_str) == Some("create") {
            let content = structured.get("content").and_then(Value::as_str).unwrap_or_default();
            added += content.lines().count() as u64;
        }
        let mut state = self.state();
        state.lines_added += added;
        state.lines_removed += removed;
    }

    /// Lines that were added and removed since the process began.
    pub(crate) fn lines(&self) -> (u64, u64) {
        let state = self.state();
        (state.lines_added, state.lines_removed)
    }

    /// What was spent in this session, in earlier processes too.
    pub fn ledger(&self) -> Ledger {
        self.state().ledger.clone()
    }

    pub(crate) fn take_spent(&self) -> Ledger {
        std::mem::take(&mut self.state().since_result)
    }

    /// How full the context is, in tokens, as of the last answer.
    pub fn context_tokens(&self) -> u64 {
        self.state().context_tokens
    }

    pub(crate) fn set_context_tokens(&self, tokens: u64) {
        self.state().context_tokens = tokens;
    }

    pub(crate) fn first_request_usage(&self) -> Option<(u64, u64)> {
        self.state().first_request
    }

    /// Whether the money is spent.
    pub fn is_over_budget(&self) -> bool {
        let most = self.launch.max_budget.as_ref().map(|(_, most)| *most);
        most.is_some_and(|most| self.state().ledger.total_cost().to_f64() >= most)
    }

    /// Counts the results of this process.
    pub(crate) fn next_result(&self) -> u64 {
        let mut state = self.state();
        state.results += 1;
        state.results - 1
    }

    /// Whether a turn has ended in this process.
    pub(crate) fn has_answered(&self) -> bool {
        self.state().results > 0
    }

    /// What subagents have done in this turn.
    pub fn subagent_stats(&self) -> SubagentStats {
        self.state().subagents.clone()
    }

    /// Counts what a subagent does.
    pub fn count_subagents(&self, count: impl FnOnce(&mut SubagentStats)) {
        count(&mut self.state().subagents);
    }
}
