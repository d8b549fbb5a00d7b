use pilothouse_proto::{CostBasis, Extra, ModelUsage, Opt, Usage};
use serde_json::json;

use crate::known::{ModelInfo, web_search_price};
use crate::money::Cost;

/// What a session has spent, model by model.
///
/// ```
/// use pilothouse_model::Ledger;
/// use pilothouse_proto::Usage;
///
/// let mut ledger = Ledger::default();
/// let usage = Usage { input_tokens: 100_000.into(), output_tokens: 5_000.into(), ..Usage::default() };
/// ledger.add("claude-opus-5-5", &usage);
/// assert_eq!(ledger.total_cost().to_number().as_f64(), Some(0.5));
/// assert_eq!(ledger.by_model()[0].1.output_tokens, 5_000);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger(Vec<Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    model: ModelInfo,
    cost: Cost,
    tokens: Tokens,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tokens {
    input: u64,
    output: u64,
    thinking: u64,
    cache_read: u64,
    cache_write: u64,
    cache_write_5m: u64,
    cache_write_1h: u64,
    searches: u64,
}

impl Ledger {
    /// Books the usage of one answer. Models are listed in the order in which they first answered.
    pub fn add(&mut self, model: &str, usage: &Usage) {
        let model = ModelInfo::of(model);
        let tokens = Tokens::of(usage);
        let cost = tokens.cost(&model);
        match self.0.iter_mut().find(|entry| entry.model.id == model.id) {
            Some(entry) => {
                entry.tokens.add(&tokens);
                entry.cost = entry.cost.plus(cost);
            }
            None => self.0.push(Entry { model, cost, tokens }),
        }
    }

    /// Books everything that another ledger holds, such as a subagent's.
    pub fn merge(&mut self, other: &Ledger) {
        for entry in &other.0 {
            match self.0.iter_mut().find(|mine| mine.model.id == entry.model.id) {
                Some(mine) => {
                    mine.tokens.add(&entry.tokens);
                    mine.cost = mine.cost.plus(entry.cost);
                }
                None => self.0.push(entry.clone()),
            }
        }
    }

    /// The cost of everything.
    pub fn total_cost(&self) -> Cost {
        self.0.iter().map(|entry| entry.cost).sum()
    }

    /// Tokens and cost of each model, by its id.
    pub fn by_model(&self) -> Vec<(String, ModelUsage)> {
        self.0.iter().map(|entry| (entry.model.id.clone(), entry.usage())).collect()
    }

    /// Whether nothing was spent.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Entry {
    fn usage(&self) -> ModelUsage {
        let Tokens {
            input,
            output,
            thinking,
            cache_read,
            cache_write,
            cache_write_5m,
            cache_write_1h,
            searches,
        } = self.tokens;
        ModelUsage {
            input_tokens: input,
            output_tokens: output,
            thinking_tokens: thinking.into(),
            cache_read_input_tokens: cache_read,
            cache_creation_input_tokens: cache_write,
            cache_creation_ephemeral_5m_input_tokens: cache_write_5m.into(),
            cache_creation_ephemeral_1h_input_tokens: cache_write_1h.into(),
            web_search_requests: searches,
            cost_usd: self.cost.to_number(),
            context_window: self.model.context_window,
            max_output_tokens: self.model.max_output,
            canonical_model: self.model.canonical.clone().into(),
            provider: "firstParty".into(),
            cost_basis: if self.model.is_known { CostBasis::List } else { CostBasis::Unknown }.into(),
            extra: Extra::new(),
        }
    }
}

impl Tokens {
    fn of(usage: &Usage) -> Self {
        let count = |tokens: &Opt<u64>| tokens.as_ref().copied().unwrap_or_default();
        let cache_write = count(&usage.cache_creation_input_tokens);
        let by_life = usage.cache_creation.as_ref();
        let (cache_write_5m, cache_write_1h) =
            by_life.map_or((0, 0), |life| (life.ephemeral_5m_input_tokens, life.ephemeral_1h_input_tokens));
        Self {
            input: count(&usage.input_tokens),
            output: count(&usage.output_tokens),
            thinking: usage
                .output_tokens_details
                .as_ref()
                .map_or(0, |details| count(&details.thinking_tokens)),
            cache_read: count(&usage.cache_read_input_tokens),
            cache_write,
            cache_write_5m,
            cache_write_1h,
            searches: usage.server_tool_use.as_ref().map_or(0, |tools| count(&tools.web_search_requests)),
        }
    }

    fn cost(&self, model: &ModelInfo) -> Cost {
        let prices = &model.prices;
        // What the API does not split by lifetime was cached for five minutes.
        let unsplit =
            self.cache_write.saturating_sub(self.cache_write_5m.saturating_add(self.cache_write_1h));
        [
            prices.input.of_tokens(self.input),
            prices.output.of_tokens(self.output),
            prices.cache_read.of_tokens(self.cache_read),
            prices.cache_write_5m.of_tokens(self.cache_write_5m.saturating_add(unsplit)),
            prices.cache_write_1h.of_tokens(self.cache_write_1h),
            web_search_price().of_pieces(self.searches),
        ]
        .into_iter()
        .sum()
    }

    fn add(&mut self, other: &Self) {
        for (mine, theirs) in [
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.thinking, other.thinking),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
            (&mut self.cache_write_5m, other.cache_write_5m),
            (&mut self.cache_write_1h, other.cache_write_1h),
            (&mut self.searches, other.searches),
        ] {
            *mine = mine.saturating_add(theirs);
        }
    }
}

/// The usage with every field that reports carry, zero where nothing is known; for answers that came in one piece and for
/// the totals of a turn.
pub fn full_usage(usage: &Usage) -> Usage {
    let number = |tokens: &Opt<u64>| Opt::Some(tokens.as_ref().copied().unwrap_or_default());
    let thinking =
        usage.output_tokens_details.as_ref().map_or(Opt::Absent, |details| details.thinking_tokens);
    let tools = usage.server_tool_use.clone().unwrap_or_default();
    let text = |given: &Opt<String>, default: &str| Opt::Some(given.as_deref().unwrap_or(default).to_owned());
    Usage {
        input_tokens: number(&usage.input_tokens),
        cache_creation_input_tokens: number(&usage.cache_creation_input_tokens),
        cache_read_input_tokens: number(&usage.cache_read_input_tokens),
        output_tokens: number(&usage.output_tokens),
        output_tokens_details: Opt::Some(pilothouse_proto::OutputTokensDetails {
            thinking_tokens: number(&thinking),
            extra: Extra::new(),
        }),
        server_tool_use: Opt::Some(pilothouse_proto::ServerToolUsage {
            web_search_requests: number(&tools.web_search_requests),
            web_fetch_requests: number(&tools.web_fetch_requests),
            extra: Extra::new(),
        }),
        service_tier: text(&usage.service_tier, "standard"),
        cache_creation: Opt::Some(usage.cache_creation.clone().unwrap_or_default()),
        inference_geo: text(&usage.inference_geo, ""),
        iterations: Opt::Some(usage.iterations.as_ref().cloned().unwrap_or_else(|| json!([]))),
        speed: text(&usage.speed, "standard"),
        fallback_credit: usage.fallback_credit.as_ref().cloned().map_or(Opt::Null, Opt::Some),
        extra: usage.extra.clone(),
    }
}

/// The sum of two usages, for the totals of a turn.
pub fn add_usage(total: &mut Usage, more: &Usage) {
    let (mine, theirs) = (Tokens::of(total), Tokens::of(more));
    let mut sum = mine;
    sum.add(&theirs);
    let fetches = |usage: &Usage| {
        usage
            .server_tool_use
            .as_ref()
            .and_then(|tools| tools.web_fetch_requests.as_ref().copied())
            .unwrap_or(0)
    };
    let fetched = fetches(total).saturating_add(fetches(more));
    *total = full_usage(total);
    total.input_tokens = sum.input.into();
    total.output_tokens = sum.output.into();
    total.cache_creation_input_tokens = sum.cache_write.into();
    total.cache_read_input_tokens = sum.cache_read.into();
    if let Some(details) = total.output_tokens_details.as_mut() {
        details.thinking_tokens = sum.thinking.into();
    }
    if let Some(tools) = total.server_tool_use.as_mut() {
        tools.web_search_requests = sum.searches.into();
        tools.web_fetch_requests = fetched.into();
    }
    if let Some(life) = total.cache_creation.as_mut() {
        life.ephemeral_5m_input_tokens = sum.cache_write_5m;
        life.ephemeral_1h_input_tokens = sum.cache_write_1h;
    }
}
