use serde_json::{Number, Value};

use crate::wire::{Opt, open_enum, record};

record! {
    /// Tokens of one API response, or of a turn.
    #[derive(Default)]
    pub struct Usage {
        /// Tokens read that no cache held.
        input_tokens: Opt<u64>,
        /// Tokens written.
        output_tokens: Opt<u64>,
        /// Tokens put into the cache.
        cache_creation_input_tokens: Opt<u64>,
        /// Tokens read from the cache.
        cache_read_input_tokens: Opt<u64>,
        /// The cached tokens by how long they live.
        cache_creation: Opt<CacheCreation>,
        /// Tools that the API ran.
        server_tool_use: Opt<ServerToolUsage>,
        /// The tier the request ran in.
        service_tier: Opt<String>,
        /// The speed the request ran at.
        speed: Opt<String>,
        /// Where inference took place.
        inference_geo: Opt<String>,
        /// Usage of each sampling pass; shape undeclared.
        iterations: Opt<Value>,
        /// What the output consists of.
        output_tokens_details: Opt<OutputTokensDetails>,
        /// Credit for a switched model; shape undeclared.
        fallback_credit: Opt<Value>,
    }

    /// Cached tokens by lifetime.
    #[derive(Default)]
    pub struct CacheCreation {
        /// Kept for five minutes.
        ephemeral_5m_input_tokens: u64,
        /// Kept for an hour.
        ephemeral_1h_input_tokens: u64,
    }

    /// Tools that the API ran.
    #[derive(Default)]
    pub struct ServerToolUsage {
        /// Web searches.
        web_search_requests: Opt<u64>,
        /// Page fetches.
        web_fetch_requests: Opt<u64>,
    }

    /// What output tokens were spent on.
    #[derive(Default)]
    pub struct OutputTokensDetails {
        /// Reasoning.
        thinking_tokens: Opt<u64>,
    }

    /// Tokens and cost of one model in this session, subagents included. Use this for accounting.
    pub struct ModelUsage {
        /// Tokens read that no cache held.
        input_tokens as "inputTokens": u64,
        /// Tokens written.
        output_tokens as "outputTokens": u64,
        /// Of these, reasoning.
        thinking_tokens as "thinkingTokens": Opt<u64>,
        /// Tokens read from the cache.
        cache_read_input_tokens as "cacheReadInputTokens": u64,
        /// Tokens put into the cache.
        cache_creation_input_tokens as "cacheCreationInputTokens": u64,
        /// Of these, kept for five minutes.
        cache_creation_ephemeral_5m_input_tokens as "cacheCreationEphemeral5mInputTokens": Opt<u64>,
        /// Of these, kept for an hour.
        cache_creation_ephemeral_1h_input_tokens as "cacheCreationEphemeral1hInputTokens": Opt<u64>,
        /// Web searches.
        web_search_requests as "webSearchRequests": u64,
        /// Estimated cost in US dollars.
        cost_usd as "costUSD": Number,
        /// The model's context window.
        context_window as "contextWindow": u64,
        /// The most it writes in one answer.
        max_output_tokens as "maxOutputTokens": u64,
        /// The model behind an alias or deployment name.
        canonical_model as "canonicalModel": Opt<String>,
        /// Who serves it.
        provider: Opt<String>,
        /// What the cost is based on.
        cost_basis as "costBasis": Opt<CostBasis>,
    }
}

open_enum! {
    /// What an estimated cost is based on.
    pub enum CostBasis {
        /// List prices.
        List = "list",
        /// Prices set by the organisation.
        Managed = "managed",
        /// No price is known.
        Unknown = "unknown",
    }
}
