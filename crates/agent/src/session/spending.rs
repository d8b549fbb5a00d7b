//! What a session has spent, and what that leaves.

use pilothouse_model::Ledger;
use pilothouse_proto::Opt;
use pilothouse_proto::message::{SubagentStats, Usage};

use super::Session;

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

    /// Books what a question beside the conversation cost.
    pub(crate) fn book_aside(&self, model: &str, usage: &Usage) {
        let mut state = self.state();
        state.ledger.add(model, usage);
        state.since_result.add(model, usage);
    }

    /// What was spent since the process began.
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
